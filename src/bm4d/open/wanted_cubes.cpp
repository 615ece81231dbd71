#include "bm4d/open/wanted_cubes.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "bm4d/cubes.h"

namespace lull::bm4d {
namespace {

/// Returns the summed-area table of a plane: element (x, y) is the sum over the first x columns and
/// y rows.
std::vector<std::int32_t> summed_area(const std::vector<std::uint8_t>& plane, int width,
                                      int height) {
  const int stride = width + 1;
  std::vector<std::int32_t> sums(static_cast<std::size_t>(stride) * (height + 1));
  for (int y = 0; y < height; ++y) {
    std::int32_t row = 0;
    for (int x = 0; x < width; ++x) {
      row += plane[static_cast<std::size_t>(y) * width + x];
      sums[(y + 1) * stride + x + 1] = sums[y * stride + x + 1] + row;
    }
  }
  return sums;
}

}  // namespace

int first_phase_reach(const Params& params) {
  return std::min(params.wiener.cube - 1, params.hard.radius());
}

void WantedCubes::begin(int z) {
  first_ = z;
  slices_.clear();
}

void WantedCubes::add(const SliceMask* mask) {
  Slice slice;
  if (mask) slice.resize(static_cast<std::size_t>(width_) * height_);
  // If an axis is shorter than a cube, the session extends the slice by mirroring, so the function
  // extends the mask in the same way.
  for (int y = 0; mask && y < height_; ++y)
    for (int x = 0; x < width_; ++x)
      slice[static_cast<std::size_t>(y) * width_ + x] =
          mask->inside(mirrored(x, mask->width()), mirrored(y, mask->height()));
  slices_.push_back(std::move(slice));
}

void WantedCubes::forget_before(int z) {
  for (; first_ < z && !slices_.empty(); ++first_) slices_.pop_front();
}

bool WantedCubes::choose(Phase phase, int z, std::vector<std::uint8_t>& cubes) const {
  const PhaseParams& p = phase == Phase::first ? params_.hard : params_.wiener;
  const int more = phase == Phase::first && params_.phases == 2 ? first_phase_reach(params_) : 0;
  Slice any(static_cast<std::size_t>(width_) * height_);
  const int last = first_ + static_cast<int>(slices_.size()) - 1;
  for (int s = std::max(z - more, first_); s <= std::min(z + p.cube - 1 + more, last); ++s) {
    const Slice& slice = slices_[s - first_];
    if (slice.empty()) std::ranges::fill(any, std::uint8_t{1});
    std::ranges::transform(any, slice, any.begin(), std::bit_or<std::uint8_t>());
  }
  const std::vector<std::int32_t> sums = summed_area(any, width_, height_);
  const auto sum = [&](int x, int y) { return sums[y * (width_ + 1) + x]; };
  bool found = false;
  for (int j = 0; j < reference_count(height_, p.step, p.cube); ++j)
    for (int i = 0; i < reference_count(width_, p.step, p.cube); ++i) {
      const int x = reference_position(i, width_, p.step, p.cube);
      const int y = reference_position(j, height_, p.step, p.cube);
      const int x0 = std::max(x - more, 0), x1 = std::min(x + p.cube + more, width_);
      const int y0 = std::max(y - more, 0), y1 = std::min(y + p.cube + more, height_);
      const bool wanted = sum(x1, y1) - sum(x0, y1) - sum(x1, y0) + sum(x0, y0) > 0;
      cubes.push_back(wanted);
      found |= wanted;
    }
  return found;
}

}  // namespace lull::bm4d
