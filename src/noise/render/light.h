#pragma once
// Renders as filters see them: light that falls on surfaces, its noise pixel by pixel, and what
// tells surfaces apart.
//
// Colour is albedo times light. Texture is in the albedo, which renderers know without noise, so
// that what is left to filter is smooth: samples are divided by max(albedo, floor) and results
// multiplied by it again (as Bako et al. 2017, doi:10.1145/3072959.3073708, do; measured in
// docs/measurements/renders.md).

#include <array>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"
#include "noise/render/features.h"

namespace lull {

inline constexpr float albedo_floor = 0.02f;

/// What is known of a render's noise where its features do not say it.
struct RenderNoise {
  float sigma = 0;     // on the 0..255 scale, everywhere; 0: features say it, or it is found
  float strength = 1;  // times the noise
};

inline constexpr int most_regressors = 7;  // normal, depth, albedo

class Light {
 public:
  explicit Light(const FrameFormat& format);

  /// Takes a frame and its features apart, on the cores of the caller's TBB arena. @throws
  /// InvalidArgument  features of another size
  void take(const Frame& frame, const RenderNoise& noise);
  /// Only what put() needs. @throws InvalidArgument
  void take_albedo(const Frame& frame);

  int planes() const { return planes_; }
  int width() const { return width_; }
  int height() const { return height_; }
  /// Numbers all of them: what is none was replaced by the mean of what is around it.
  PlaneView<const float> light(int i) const { return light_[i].view(); }
  /// Of the light's noise, > 0, a mean over 3x3 pixels (variances of few samples say little).
  PlaneView<const float> variance(int i) const { return variance_[i].view(); }
  /// What light may depend on: the components of the normal, the logarithm of the depth, the
  /// albedo; those that the frame has.
  int regressors() const { return regressors_; }
  PlaneView<const float> regressor(int i) const { return regressor_[i].view(); }
  /// Of the noise in it (with a lens or in motion features have some), by its high frequencies.
  PlaneView<const float> regressor_noise(int i) const { return regressor_noise_[i].view(); }

  /// The way back: filtered light, of the frame that was taken last, into `clean`. What is no
  /// number in `noisy` comes out as it came.
  void put(const std::array<PlaneView<const float>, 3>& filtered, const Frame& noisy,
           const Frame& clean) const;
  /// The multiplier of light: the albedo, at least the floor; 1 where there is none.
  PlaneView<const float> albedo(int i) const { return albedo_[i].view(); }

 private:
  void take_samples(const Frame& frame);
  void take_variance(const Frame& frame, const RenderNoise& noise);
  void take_regressors(const Frame& frame);
  void add_regressor(PlaneView<const float> from, bool logarithm);

  int width_, height_, planes_, regressors_ = 0;
  std::array<Plane<float>, 3> light_, variance_, albedo_;
  std::array<Plane<float>, most_regressors> regressor_, regressor_noise_;
  Plane<float> scratch_;
};

/// The mean over squares of 2 radius + 1 samples a side, as far as they are in the plane. Sums are
/// in double, so that what is far away leaves nothing. `scratch` and `to` have the plane's size;
/// `to` may be `from`.
void box_mean(PlaneView<const float> from, int radius, PlaneView<float> scratch,
              PlaneView<float> to);

}  // namespace lull
