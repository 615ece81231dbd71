#include "io/encode/nearest_format.h"

#include <algorithm>
#include <vector>

namespace lull::io {
namespace {

bool is_colour(const PixelTraits& traits) { return traits.format.layout != Layout::gray; }

/// Returns whether lull may convert samples to `format`. The function rejects palettes and 1-bit
/// formats, because a conversion to them needs dithering.
bool is_target(AVPixelFormat format) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  const std::optional<PixelTraits> traits = traits_of(format);
  return d && traits && packable(format, *traits) == format &&
         traits->format.sample != SampleType::f32 && sws_isSupportedOutput(format) > 0;
}

}  // namespace

int FormatLoss::weight() const {
  return ((((colour ? 1 : 0) * 2 + (alpha ? 1 : 0)) * 32 + bits) * 2 + (chroma ? 1 : 0)) * 256 +
         (rounding ? 128 : 0) + std::min(excess, 127);
}

FormatLoss loss_of(const PixelTraits& from, const PixelTraits& to) {
  const FrameFormat &a = from.format, &b = to.format;
  FormatLoss loss;
  loss.colour = is_colour(from) && !is_colour(to);
  loss.alpha = from.alpha && !to.alpha;
  loss.bits = std::max(a.bits - b.bits, 0);
  if (is_colour(from) && is_colour(to)) {
    loss.chroma = b.chroma_shift_x > a.chroma_shift_x || b.chroma_shift_y > a.chroma_shift_y;
    loss.rounding = a.layout != b.layout;
    loss.excess += std::max(a.chroma_shift_x - b.chroma_shift_x, 0) +
                   std::max(a.chroma_shift_y - b.chroma_shift_y, 0);
  } else if (is_colour(to)) {
    loss.excess += 8 - b.chroma_shift_x - b.chroma_shift_y;
  }
  loss.excess += 4 * std::max(b.bits - a.bits, 0) + (to.alpha && !from.alpha ? 16 : 0);
  return loss;
}

AVPixelFormat nearest_format(const AVPixelFormat* list, const PixelTraits& from, bool full_range) {
  AVPixelFormat nearest = AV_PIX_FMT_NONE;
  if (from.format.sample == SampleType::f32) return nearest;
  int min_weight = 0;
  for (; list && *list != AV_PIX_FMT_NONE; ++list) {
    if (!is_target(*list)) continue;
    FormatLoss loss = loss_of(from, *traits_of(*list));
    // If the input does not have the full range, a conversion to a full-range format changes all
    // values. Full-range formats are then a worse choice.
    if (is_full_range_yuv(*list) && !full_range) loss.excess += 32;
    if (loss.colour || (nearest != AV_PIX_FMT_NONE && loss.weight() >= min_weight)) continue;
    nearest = *list;
    min_weight = loss.weight();
  }
  return nearest;
}

std::string describe(const FormatLoss& loss, const PixelTraits& from) {
  std::vector<std::string> parts;
  if (loss.colour) parts.emplace_back("colour");
  if (loss.alpha) parts.emplace_back("alpha");
  if (loss.bits > 0)
    parts.push_back(std::to_string(loss.bits) + " of " + std::to_string(from.format.bits) +
                    " bits");
  if (loss.chroma) parts.emplace_back("rows or columns of chroma");
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

}  // namespace lull::io
