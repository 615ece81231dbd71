#include <algorithm>
#include <cmath>

#include "core/round_up.h"
#include "nlm/cpu/kernels.h"
#include "nlm/weights.h"

namespace lull::nlm::cpu {
namespace {

/// Number of floats beyond the end of a row that vector loads may read.
constexpr int row_slack = 48;

int cell_of(const Params& p) {
  return p.block % 2 == 0 && p.step % 2 == 0 && p.patch_radius % 2 == 0 ? 2 : 1;
}

}  // namespace

Shape::Shape(const Params& p)
    : cell(cell_of(p)),
      patch(p.patch_side() / cell),
      block(p.block / cell),
      every(p.step / cell),
      around(p.patch_radius / cell),
      search(p.search_radius),
      slices(p.patch_slices()),
      estimates(p.estimates()),
      is_single(p.block == 1),
      weights(p.weights) {
  const WeightCurve curve(p);
  const double samples = p.patch_samples();
  guide_scale = static_cast<float>(std::sqrt(curve.slope / samples));
  mean_share = static_cast<float>(static_cast<double>(p.mean_term) / samples);
  zero = static_cast<float>(curve.slope * curve.zero);
}

PhasedPlane::PhasedPlane(int width, int height, int pad, int cell)
    : width_(width),
      height_(height),
      pad_(round_up(pad, 2)),
      cell_(cell),
      // Row strides are odd numbers of cache lines, so that rows map to different cache sets.
      row_(round_up((width + 2 * pad_) / cell + row_slack, 32) + 16),
      phase_(row_ * (height + 2 * pad_)),
      samples_(static_cast<std::size_t>(phase_) * cell) {}

void PhasedPlane::fill(PlaneView<const float> samples, float scale, Border border) {
  std::vector<int> columns(width_ + 2 * pad_);
  for (std::size_t x = 0; x < columns.size(); ++x)
    columns[x] = continued(static_cast<int>(x) - pad_, width_, border);
  for (int y = 0; y < height_ + 2 * pad_; ++y) {
    const float* const from = samples.row(continued(y - pad_, height_, border));
    for (int i = 0; i < cell_; ++i) {
      float* const to = samples_.data() + i * phase_ + y * row_;
      for (std::size_t x = i; x < columns.size(); x += cell_)
        to[x / cell_] = scale * from[columns[x]];
    }
  }
}

void PhasedPlane::fill_with_holes(PlaneView<const float> samples, float scale, Border border,
                                  const Holes& holes) {
  fill(samples, scale, border);
  const float mark = hole_mark(scale);
  for (int y = -pad_; y < height_ + pad_; ++y)
    for (int x = -pad_; x < width_ + pad_; ++x)
      if (holes.at(continued(x, width_, border), continued(y, height_, border))) {
        const int column = x + pad_;
        samples_[column % cell_ * phase_ + (y + pad_) * row_ + column / cell_] = mark;
      }
}

PhasedView PhasedPlane::view() const {
  return {samples_.data() + pad_ * row_ + pad_ / cell_, row_, phase_};
}

float* TileMemory::allocate(std::size_t floats) {
  constexpr std::size_t line = 64 / sizeof(float);
  if (memory_.size() < floats + line) memory_.resize(floats + line);
  void* at = memory_.data();
  std::size_t space = memory_.size() * sizeof(float);
  return static_cast<float*>(std::align(64, floats * sizeof(float), at, space));
}

}  // namespace lull::nlm::cpu
