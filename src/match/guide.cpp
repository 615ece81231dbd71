#include "match/guide.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace lull {

bool fits_patch(const FrameFormat& format, int plane) {
  return format.plane_width(plane) >= patch && format.plane_height(plane) >= patch;
}

bool filters_any(const NoiseModel& noise, const FrameFormat& format) {
  for (int i = 0; i < format.planes(); ++i)
    if (noise.sigma(i) > 0 && fits_patch(format, i)) return true;
  return false;
}

std::vector<PlaneSet> plane_sets(Phase phase, bool over_time, const FrameFormat& format,
                                 const NoiseModel& noise) {
  std::vector<int> luma, chroma;
  for (int i = 0; i < format.planes(); ++i)
    if (noise.sigma(i) > 0 && fits_patch(format, i)) (i == 0 ? luma : chroma).push_back(i);
  if (chroma.empty()) return luma.empty() ? std::vector<PlaneSet>{} : std::vector{PlaneSet{luma}};
  const bool all_in_luma = over_time && !luma.empty();
  const bool together = !format.subsampled() && (all_in_luma || phase != Phase::first);
  std::vector<PlaneSet> sets;
  if (!luma.empty() && !together) sets.push_back({luma});
  if (together) chroma.insert(chroma.begin(), luma.begin(), luma.end());
  PlaneSet last{chroma};
  last.uses_luma = all_in_luma || phase != Phase::first;
  if (!all_in_luma) {
    // In an RGB guide with luma, chroma has a lower weight, because luma has more detail.
    const bool shows_more = last.uses_luma && format.layout == Layout::rgb;
    const float both = shows_more ? rgb_chroma_weight : 0.70710678f;
    const bool first = noise.sigma(1) > 0, second = noise.sigma(2) > 0;
    const float weight = first && second ? both : 1;
    last.chroma_weights = {first ? weight : 0, second ? -weight : 0};
    if (last.uses_luma) last.tau_factor = colour_tau;
  }
  sets.push_back(last);
  return sets;
}

float guide_sigma(const PlaneSet& set, const FrameFormat& format, const NoiseModel& noise) {
  if (!set.is_composite()) return noise.sigma(0);
  if (!set.has_chroma())
    return noise.sigma(0) /
           std::sqrt(static_cast<float>(1 << (format.chroma_shift_x + format.chroma_shift_y)));
  const float first = set.chroma_weights[0] * noise.sigma(1);
  const float second = set.chroma_weights[1] * noise.sigma(2);
  return std::sqrt(first * first + second * second);
}

GuideRange guide_range(const PlaneSet& set, const FrameFormat& format, const NoiseModel& noise,
                       float share) {
  // Maximum magnitudes of U and V of the opponent space, for RGB frames. The chroma planes of YUV
  // frames are in 0..255.
  constexpr float opponent_range[2] = {255 * 0.70710678f, 255 * 0.81649658f};
  const bool rgb = format.layout == Layout::rgb;
  GuideRange range{0, set.uses_luma || !set.is_composite() ? 255.0f : 0.0f};
  for (const int c : {0, 1}) {
    const float weight = set.chroma_weights[c];
    const float ends[2] = {rgb ? -weight * opponent_range[c] : 0.0f,
                           weight * (rgb ? opponent_range[c] : 255.0f)};
    range.low += std::min(ends[0], ends[1]);
    range.high += std::max(ends[0], ends[1]);
  }
  // `range` contains the noise-free samples of the guide. In luma guides of integer samples, noisy
  // samples are also in this range, because integer samples cannot lie outside 0..255. In all other
  // guides, noise can move samples beyond this range, so the function extends the range at both
  // ends.
  const bool clipped = format.sample != SampleType::f32 && !set.has_chroma();
  const float beyond = clipped ? 0 : 3 * (share * guide_sigma(set, format, noise));
  return {range.low - beyond, range.high + beyond};
}

namespace {

/// Returns the noise covariance of two means. Each mean is over a block of 2^shift_x x 2^shift_y
/// samples. The blocks are (dx, dy) blocks apart.
double covariance(const PlaneNoise& noise, int dx, int dy, int shift_x = 0, int shift_y = 0) {
  const int width = 1 << shift_x, height = 1 << shift_y;
  double sum = 0;
  // The covariance is a sum over all pairs of samples, one from each block. The correlation of a
  // pair depends only on the index difference of its samples, so the loops visit each difference
  // once. Along an axis, a block has n samples with the indices 0 to n - 1, so n - |i| pairs have
  // the difference i.
  for (int j = 1 - height; j < height; ++j)
    for (int i = 1 - width; i < width; ++i)
      sum += (height - std::abs(j)) * (width - std::abs(i)) *
             noise.correlation_at(dx * width + i, dy * height + j);
  const double deviation = static_cast<double>(noise.sigma) / (width * height);
  return deviation * deviation * sum;
}

}  // namespace

std::shared_ptr<const DistanceBias> distance_bias(const PlaneSet& set, const FrameFormat& format,
                                                  const NoiseModel& noise) {
  bool white = !set.uses_luma || noise.plane(0).is_white();
  for (const int c : {0, 1}) white &= set.chroma_weights[c] == 0 || noise.plane(c + 1).is_white();
  if (white) return nullptr;
  auto bias = std::make_shared<DistanceBias>();
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx) {
      double shared = 0;
      if (set.uses_luma)
        shared += covariance(noise.plane(0), dx, dy, set.is_composite() ? format.chroma_shift_x : 0,
                             set.is_composite() ? format.chroma_shift_y : 0);
      for (const int c : {0, 1}) {
        const auto weight = static_cast<double>(set.chroma_weights[c]);
        shared += weight * weight * covariance(noise.plane(c + 1), dx, dy);
      }
      (*bias)[lag_index(dx, dy)] = static_cast<float>(2 * shared);
    }
  return bias;
}

void box_average(PlaneView<const float> fine, int shift_x, int shift_y, PlaneView<float> coarse) {
  for (int y = 0; y < coarse.height; ++y)
    for (int x = 0; x < coarse.width; ++x) {
      const int top = y << shift_y, bottom = std::min((y + 1) << shift_y, fine.height);
      const int left = x << shift_x, right = std::min((x + 1) << shift_x, fine.width);
      float sum = 0;
      for (int v = top; v < bottom; ++v)
        for (int u = left; u < right; ++u) sum += fine(u, v);
      coarse(x, y) = sum / static_cast<float>((bottom - top) * (right - left));
    }
}

void add_weighted(PlaneView<const float> plane, float weight, PlaneView<float> sum) {
  for (int y = 0; y < sum.height; ++y)
    for (int x = 0; x < sum.width; ++x) sum(x, y) += weight * plane(x, y);
}

}  // namespace lull
