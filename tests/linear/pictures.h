#pragma once
// Pictures for the tests of linear combinations, and the pictures of one plane in an engine.

#include <utility>

#include "linear/engine.h"
#include "support/pictures.h"

namespace lull::linear {

using namespace lull::test_support;

inline constexpr GuideRange any_range{-127, 383};

/// A picture whose rows can be read beyond their end. The padding has NaN, which no result may
/// have.
class PaddedPicture {
 public:
  explicit PaddedPicture(PlaneView<const float> from)
      : plane_(from.width + readable_padding, from.height), width_(from.width) {
    for (int y = 0; y < from.height; ++y) {
      float* const row = plane_.view().row(y);
      std::fill_n(row, plane_.width(), std::numeric_limits<float>::quiet_NaN());
      std::copy_n(from.row(y), from.width, row);
    }
  }
  PlaneView<float> view() {
    PlaneView<float> view = plane_.view();
    view.width = width_;
    return view;
  }

 private:
  Plane<float> plane_;
  int width_;
};

/// The pictures of a plane: y is `noisy`, x and z are `x` and `z`.
struct PlanePictures {
  PaddedPicture y, x, z;
  PlaneNoise noise;

  PlanePictures(PlaneView<const float> noisy, PlaneView<const float> estimate,
                PlaneView<const float> partial, PlaneNoise of_noise)
      : y(noisy), x(estimate), z(partial), noise(std::move(of_noise)) {}
  PlaneState state() { return {y.view(), x.view(), z.view(), &noise}; }
};

inline PlaneNoise white(float sigma) { return {.sigma = sigma}; }
/// Returns noise that was averaged over 3x3 samples.
inline PlaneNoise averaged(float sigma) {
  auto correlation = std::make_shared<Autocorrelation>();
  correlation->fill(0);
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx)
      (*correlation)[lag_index(dx, dy)] =
          static_cast<float>((3 - std::abs(dx)) * (3 - std::abs(dy))) / 9;
  return {.sigma = sigma, .correlation = correlation};
}

/// Returns the largest difference of two pictures; infinite if a sample is NaN.
inline double largest_difference(PlaneView<const float> a, PlaneView<const float> b) {
  double largest = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) {
      const auto difference = static_cast<double>(std::abs(a(x, y) - b(x, y)));
      if (!(difference <= largest)) largest = difference;
      if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    }
  return largest;
}

}  // namespace lull::linear
