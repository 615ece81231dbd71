#pragma once
// Decomposes renders into demodulated illumination, the noise variance of the illumination at each
// pixel, and feature buffers that distinguish surfaces. Filters process the demodulated
// illumination. In identifiers, its name is `light`.

// Colour is albedo times illumination. The albedo of a renderer has no noise and contains the
// texture, so the illumination is smooth. The class Light divides samples by max(albedo,
// albedo_floor) before the filter, and multiplies the results by the same value (Bako et al. 2017,
// doi:10.1145/3072959.3073708; docs/measurements/renders.md).

#include <array>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"
#include "noise/render/features.h"

namespace lull {

inline constexpr float albedo_floor = 0.02f;

/// Noise properties of a render that the user specifies.
struct RenderNoise {
  float sigma = 0;     // noise level on the 0..255 scale; 0: from the feature buffers, or estimated
  float strength = 1;  // factor by which the noise level is multiplied
};

/// Checks the feature buffers of a frame, if there are any.
/// @throws InvalidArgument  feature buffers of another size, or with integer samples
void check_features(const Frame& frame);

inline constexpr int max_regressors = 7;  // normal, depth, albedo

class Light {
 public:
  explicit Light(const FrameFormat& format);

  /// Decomposes a frame and its feature buffers, in parallel in the TBB arena of the caller.
  /// @throws InvalidArgument  feature buffers of another size
  void decompose(const Frame& frame, const RenderNoise& noise);
  /// Loads only the albedo, which is sufficient for recompose().
  /// @throws InvalidArgument  feature buffers of another size
  void load_albedo(const Frame& frame);

  int planes() const { return planes_; }
  int width() const { return width_; }
  int height() const { return height_; }
  /// Returns the demodulated illumination. If a sample was not finite, or its illumination was
  /// above 1e18, the mean of the neighbouring samples replaces the sample.
  PlaneView<const float> light(int i) const { return light_[i].view(); }
  /// Returns the noise variance of the demodulated illumination, > 0. The variance is the mean over
  /// at least 3x3 pixels, because variances from few samples per pixel are inaccurate.
  PlaneView<const float> variance(int i) const { return variance_[i].view(); }
  /// Returns the number of regressors: values on which the illumination may depend. The regressors
  /// are the components of the normal, the logarithm of the depth, and the albedo, if the frame has
  /// these buffers.
  int regressors() const { return regressors_; }
  PlaneView<const float> regressor(int i) const { return regressor_[i].view(); }
  /// Returns the noise variance of regressor `i`, measured at high frequencies. Feature buffers are
  /// noisy if the camera has depth of field or motion blur.
  PlaneView<const float> regressor_noise(int i) const { return regressor_noise_[i].view(); }

  /// Computes the samples of `clean` from the filtered illumination of the last decomposed frame.
  /// Where a sample of `noisy` is not finite, or its illumination is above 1e18, the function
  /// copies this sample.
  void recompose(const std::array<PlaneView<const float>, 3>& filtered, const Frame& noisy,
                 const Frame& clean) const;
  /// Returns the factor by which recompose() multiplies the illumination: max(albedo,
  /// albedo_floor), or 1 if there is no albedo.
  PlaneView<const float> albedo(int i) const { return albedo_[i].view(); }

 private:
  void load_light(const Frame& frame);
  void load_variance(const Frame& frame, const RenderNoise& noise);
  void load_regressors(const Frame& frame);
  void add_regressor(PlaneView<const float> from, bool logarithm);

  int width_, height_, planes_, regressors_ = 0;
  std::array<Plane<float>, 3> light_, variance_, albedo_;
  std::array<Plane<float>, max_regressors> regressor_, regressor_noise_;
  Plane<float> scratch_;
};

/// Computes for each sample the mean over the surrounding square, whose side is 2 * radius + 1
/// samples. At the borders, the mean covers only the part of the square inside the plane. The
/// function computes sums in double precision. `scratch` and `to` must have the plane's size.
/// `from` and `to` may be the same plane.
void box_mean(PlaneView<const float> from, int radius, PlaneView<float> scratch,
              PlaneView<float> to);

}  // namespace lull
