#include "io/read/picture_index.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "io/read/gpu_decoder.h"

namespace lull::io {
namespace {

/// A fast 64-bit digest that detects accidental changes. The digest consists of four parallel sums.
/// Multiplying a sum by an odd number after every 8 bytes makes the order of bytes matter.
class Digest {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    std::size_t lane = 0;
    for (; bytes >= 8; bytes -= 8, at += 8, lane = (lane + 1) % 4) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      mix(lane, word);
    }
    std::uint64_t rest = 0;
    if (bytes > 0) std::memcpy(&rest, at, bytes);
    mix(lane, rest ^ (std::uint64_t{bytes} << 56));
  }
  void add(std::int64_t number) { add(&number, sizeof number); }
  std::uint64_t value() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes_) sum = (std::rotl(sum, 23) ^ lane) * factor;
    sum ^= sum >> 29;
    return sum ? sum : 1;
  }

 private:
  // Factor of the hash: 2^64 divided by the golden ratio, rounded to an odd number.
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  void mix(std::size_t lane, std::uint64_t word) {
    lanes_[lane] = (std::rotl(lanes_[lane], 29) ^ word) * factor;
  }
  std::uint64_t lanes_[4] = {1, 2, 3, 4};
};

void add_samples(const AVFrame& picture, Digest& digest) {
  const auto format = static_cast<AVPixelFormat>(picture.format);
  const AVPixFmtDescriptor* traits = av_pix_fmt_desc_get(format);
  const int planes = std::max(av_pix_fmt_count_planes(format), 0);
  for (int i = 0; i < planes && picture.data[i]; ++i) {
    const bool palette = i == 1 && traits->flags & AV_PIX_FMT_FLAG_PAL;
    const int bytes = palette ? 1024 : av_image_get_linesize(format, picture.width, i);
    const int shift = i == 1 || i == 2 ? traits->log2_chroma_h : 0;
    const int rows = palette ? 1 : (picture.height + (1 << shift) - 1) >> shift;
    for (int y = 0; y < rows; ++y)
      digest.add(picture.data[i] + std::ptrdiff_t{y} * picture.linesize[i],
                 static_cast<std::size_t>(bytes));
  }
}

/// Returns the index of the last keyframe up to the picture `picture`; 0 if there is none.
std::int64_t key_before(const std::vector<FrameMark>& pictures, std::int64_t picture) {
  while (picture > 0 && !pictures[static_cast<std::size_t>(picture)].key) --picture;
  return picture;
}

}  // namespace

std::uint64_t digest_of(const AVFrame& picture) {
  if (is_on_gpu(picture)) return 0;
  Digest digest;
  add_samples(picture, digest);
  for (const std::int64_t number :
       {std::int64_t{picture.format}, std::int64_t{picture.width}, std::int64_t{picture.height},
        std::int64_t{picture.color_range}, std::int64_t{picture.color_primaries},
        std::int64_t{picture.color_trc}, std::int64_t{picture.colorspace},
        std::int64_t{picture.chroma_location}, std::int64_t{picture.repeat_pict},
        std::int64_t{picture.sample_aspect_ratio.num},
        std::int64_t{picture.sample_aspect_ratio.den}, std::int64_t{is_interlaced(picture)},
        std::int64_t{top_field_first(picture)}})
    digest.add(number);
  for (int i = 0; i < picture.nb_side_data; ++i) {
    digest.add(picture.side_data[i]->type);
    digest.add(picture.side_data[i]->data, picture.side_data[i]->size);
  }
  // For an OpenEXR picture with layers, `opaque_ref` contains the complete file. The digest
  // includes the whole file, because filters may use all layers.
  if (picture.opaque_ref) digest.add(picture.opaque_ref->data, picture.opaque_ref->size);
  return digest.value();
}

bool is_key(const AVFrame& picture) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
  return (picture.flags & AV_FRAME_FLAG_KEY) != 0;
#else
  return picture.key_frame != 0;
#endif
}

void PictureIndex::process(std::int64_t number, FrameMark mark, const AVFrame& picture) {
  if (!recorded_ && !expected_) return;
  const auto at = static_cast<std::size_t>(number);
  const bool beyond = expected_ && at >= expected_->pictures.size();
  if (recorded_ || (strict_ && !beyond)) mark.digest = digest_of(picture);
  mark.key = is_key(picture);
  if (recorded_) {
    if (at != recorded_->pictures.size())
      throw InternalError("pictures of an index are not in order");
    recorded_->pictures.push_back(mark);
  }
  // The function does not compare pictures beyond the end of the expected index, because this index
  // may be shorter than the input.
  if (!expected_ || beyond) return;
  const FrameMark& expected = expected_->pictures[at];
  const bool same = mark.pts == expected.pts && mark.duration == expected.duration &&
                    mark.kept == expected.kept && (!strict_ || mark.digest == expected.digest);
  if (!same) fail(number);
}

void PictureIndex::fail(std::int64_t number) const {
  throw IndexMismatch("picture " + std::to_string(number) + " of '" + name_ +
                      "' differs from the planned one; plan the job again");
}

std::int64_t FrameIndex::kept() const { return std::ranges::count_if(pictures, &FrameMark::kept); }

std::int64_t FrameIndex::picture_of(std::int64_t frame) const {
  std::size_t at = 0;
  for (; at < pictures.size(); ++at)
    if (pictures[at].kept && frame-- == 0) break;
  return static_cast<std::int64_t>(at);
}

std::int64_t FrameIndex::start_with_margin(std::int64_t frame, int margin) const {
  if (!no_seek_reason.empty()) return 0;
  const auto last = static_cast<std::int64_t>(pictures.size()) - 1;
  std::int64_t at = std::min(picture_of(frame), last);
  if (at < 0) return 0;
  // The loop goes back one picture further than the margin. RepeatFinder needs this additional
  // picture to decide whether the first picture of the margin is a repeated frame.
  for (int left = margin > 0 ? margin + 1 : 0; left > 0 && at > 0;) {
    --at;
    const auto i = static_cast<std::size_t>(at);
    const RepeatState repeat_state =
        i < this->repeat_state.size() ? this->repeat_state[i] : RepeatState::unknown;
    if (repeat_state != RepeatState::repeats) --left;
  }
  return key_before(pictures, at);
}

std::int64_t FrameIndex::frames_before(std::int64_t picture, bool margins) const {
  if (margins) return picture;
  return std::ranges::count_if(pictures.begin(), pictures.begin() + picture, &FrameMark::kept);
}

std::int64_t FrameIndex::seek_point_at(std::int64_t frame, bool margins) const {
  const auto last = static_cast<std::int64_t>(pictures.size()) - 1;
  if (!no_seek_reason.empty() || last < 0) return 0;
  return key_before(pictures, std::min(margins ? frame : picture_of(frame), last));
}

}  // namespace lull::io
