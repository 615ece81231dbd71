#include "noise/estimate/clip_checks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/samples.h"

namespace lull {
namespace {

/// Returns the means over 16x16 samples, computed from the means over 4x4 samples.
Plane<std::uint8_t> overview_of(const ClipLuma& luma) {
  const auto from = luma.coarse();
  Plane<std::uint8_t> to(from.width / 4, from.height / 4);
  for (int y = 0; y < to.height(); ++y)
    for (int x = 0; x < to.width(); ++x) {
      int sum = 8;
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) sum += from(4 * x + i, 4 * y + j);
      to.view()(x, y) = static_cast<std::uint8_t>(sum >> 4);
    }
  return to;
}

/// Sums for the correlation of a frame and a displaced frame, over the overlap of the two frames.
/// The summed values are means of 16x16 samples.
struct Overlap {
  std::int64_t n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  std::int64_t variance_a() const { return n * aa - a * a; }
  std::int64_t variance_b() const { return n * bb - b * b; }
  double correlation() const {
    const double variances = static_cast<double>(variance_a()) * static_cast<double>(variance_b());
    return variances > 0 ? static_cast<double>(n * ab - a * b) / std::sqrt(variances) : 0;
  }
};
Overlap overlap_of(PlaneView<const std::uint8_t> a, PlaneView<const std::uint8_t> b, int dx,
                   int dy) {
  Overlap both;
  for (int y = std::max(0, -dy); y < std::min(a.height, a.height - dy); ++y)
    for (int x = std::max(0, -dx); x < std::min(a.width, a.width - dx); ++x) {
      const std::int64_t p = a(x, y), q = b(x + dx, y + dy);
      ++both.n, both.a += p, both.b += q, both.aa += p * p, both.bb += q * q, both.ab += p * q;
    }
  return both;
}

template <class T>
PlaneView<T> even_rows(PlaneView<T> plane, int rows) {
  return {plane.data, plane.width, rows, 2 * plane.stride};
}

/// Number of examined blocks of 16x16 samples, and number of those blocks that have combing
/// artefacts.
struct CombCount {
  int blocks = 0, combed = 0;
};
CombCount count_combs(PlaneView<const std::uint8_t> luma) {
  constexpr int side = 16;
  CombCount combs;
  for (int y = 0; y + side + 2 <= luma.height; y += 2 * side)
    for (int x = 0; x + side <= luma.width; x += 2 * side) {
      std::int32_t near = 0, far = 0;
      for (int j = 0; j < side; ++j) {
        const std::uint8_t* const p = luma.row(y + j) + x;
        const std::uint8_t* const q = luma.row(y + j + 1) + x;
        const std::uint8_t* const r = luma.row(y + j + 2) + x;
        for (int i = 0; i < side; ++i) {
          near += (p[i] - q[i]) * (p[i] - q[i]);
          far += (p[i] - r[i]) * (p[i] - r[i]);
        }
      }
      ++combs.blocks;
      // `near` is the sum of the squared differences between adjacent rows. `far` is the sum of the
      // squared differences between rows two apart. In combed blocks, `near` is larger than `far`.
      // The margin between the two sums limits the probability that a block of white noise counts
      // as combed to 1e-4.
      combs.combed += 2 * near > 3 * far + 2 * side * side;
    }
  return combs;
}

/// States where float samples exceed the 0..255 scale: `low` is true if more than 0.1 % of the
/// samples lie below 0, and `high` if more than 0.1 % lie above 255. Samples that lie at most half
/// a step beyond the scale do not count.
struct Beyond {
  bool low = false, high = false;
};
/// Examines the first plane of a frame. Only float samples can lie beyond the scale.
Beyond beyond_scale(const Frame& frame) {
  if (frame.format.sample != SampleType::f32) return {};
  const PlaneView<const float> plane = frame.plane<const float>(0);
  const float scale = to_unit_255(frame.format);
  std::int64_t all = 0, below = 0, above = 0;
  for (int y = 0; y < plane.height; y += 4)
    for (int x = 0; x < plane.width; ++x, ++all) {
      below += plane(x, y) * scale < -0.5f;
      above += plane(x, y) * scale > 255.5f;
    }
  return {below > all / 1000, above > all / 1000};
}

}  // namespace

ClipRange range_of(const Frame& frame, const ClipLuma& luma) {
  constexpr float beyond = std::numeric_limits<float>::infinity();
  ClipRange range;
  const bool ends = frame.format.sample != SampleType::f32;
  range.low.fill(ends ? 0 : -beyond);
  range.high.fill(ends ? 255 : beyond);
  if (frame.format.layout == Layout::rgb) return range;
  std::array<std::int32_t, 256> count{};
  for (int y = 0; y < luma.fine().height; y += 4)
    for (int x = 0; x < luma.fine().width; ++x) ++count[luma.fine()(x, y)];
  const int samples = (luma.fine().height + 3) / 4 * luma.fine().width;
  // Returns whether samples gather at the value `level`. More than 0.1 % of the samples must have
  // this value, and the next two values towards mid-grey must together have fewer samples.
  // `inwards` is the direction to mid-grey: 1 or -1.
  const auto gathers = [&](int level, int inwards) {
    return count[level] > samples / 1000 &&
           count[level] > count[level + inwards] + count[level + 2 * inwards];
  };
  int low = 0, high = 255;
  while (low < 255 && count[low] == 0) ++low;
  while (high > 0 && count[high] == 0) --high;
  // ClipLuma clamps float samples outside the 0..255 scale, so these samples look as if they had
  // been clipped.
  const Beyond outside = beyond_scale(frame);
  if (low < 128 && !outside.low && gathers(low, 1)) range.low[0] = static_cast<float>(low);
  if (high > 127 && !outside.high && gathers(high, -1)) range.high[0] = static_cast<float>(high);
  return range;
}

bool are_interlaced(std::span<const Excerpt> excerpts) {
  int frames = 0, combed = 0;
  for (const Excerpt& excerpt : excerpts) {
    if (excerpt.empty()) continue;
    const ClipLuma luma(excerpt[excerpt.size() / 2]);
    const CombCount combs = count_combs(luma.fine());
    ++frames;
    combed += 25 * combs.combed > combs.blocks;
  }
  return 3 * combed > frames;
}

Excerpt top_fields(const Excerpt& excerpt) {
  Excerpt fields = excerpt;
  for (Frame& frame : fields) {
    // The function rounds the height down to a multiple of 4, so that the two fields have the same
    // number of chroma rows.
    frame.format.height = frame.format.height / 4 * 2;
    for (int i = 0; i < frame.format.planes(); ++i)
      frame.planes[i] = even_rows(frame.planes[i], frame.format.plane_height(i));
  }
  return fields;
}

bool is_same_scene(const ClipLuma& first, const ClipLuma& second) {
  return is_same_scene(overview_of(first).view(), overview_of(second).view());
}

bool is_same_scene(PlaneView<const std::uint8_t> a, PlaneView<const std::uint8_t> b) {
  constexpr int reach = 2, min_side = 8;
  constexpr double min_correlation = 0.5;
  if (a.width < min_side || a.height < min_side) return true;
  // Most frames of one scene match without a displacement, so the function first compares the
  // frames without a displacement.
  if (overlap_of(a, b, 0, 0).correlation() > min_correlation) return true;
  for (int dy = -reach; dy <= reach; ++dy)
    for (int dx = -reach; dx <= reach; ++dx) {
      const Overlap both = overlap_of(a, b, dx, dy);
      // Frames with a standard deviation below 4 have too little content for a decision.
      if (std::max(both.variance_a(), both.variance_b()) < 16 * both.n * both.n) return true;
      if (both.correlation() > min_correlation) return true;
    }
  return false;
}

}  // namespace lull
