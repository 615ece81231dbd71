#pragma once
// Decomposition of renders for filters: the light that falls on surfaces, its noise variance pixel
// by pixel, and features that distinguish surfaces.
//
// Colour is albedo times light. Texture is in the albedo, which renderers provide without noise, so
// that the light, which filters process, is smooth. Samples are divided by max(albedo, floor)
// before the filter and multiplied by it afterwards (as in Bako et al. 2017,
// doi:10.1145/3072959.3073708; measurements are in docs/measurements/renders.md).

#include <array>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"
#include "noise/render/features.h"

namespace lull {

inline constexpr float albedo_floor = 0.02f;

/// Noise of a render where its features do not define it.
struct RenderNoise {
  float sigma = 0;     // level on the 0..255 scale; 0: from the features, or estimated
  float strength = 1;  // factor of the noise level
};

inline constexpr int max_regressors = 7;  // normal, depth, albedo

class Light {
 public:
  explicit Light(const FrameFormat& format);

  /// Decomposes a frame and its features, on the cores of the caller's TBB arena.
  /// @throws InvalidArgument  features of another size
  void decompose(const Frame& frame, const RenderNoise& noise);
  /// Loads the albedo only, for recompose().
  /// @throws InvalidArgument  features of another size
  void load_albedo(const Frame& frame);

  int planes() const { return planes_; }
  int width() const { return width_; }
  int height() const { return height_; }
  /// Returns the light, which is finite everywhere. Samples that were not finite have been replaced
  /// by the mean of the samples around them.
  PlaneView<const float> light(int i) const { return light_[i].view(); }
  /// Returns the noise variance of the light, averaged over 3x3 pixels or more, because variances
  /// of few samples are inaccurate. All values are above 0.
  PlaneView<const float> variance(int i) const { return variance_[i].view(); }
  /// Returns the number of features on which light may depend, as far as the frame has them. These
  /// features are the components of the normal, the logarithm of the depth, and the albedo.
  int regressors() const { return regressors_; }
  PlaneView<const float> regressor(int i) const { return regressor_[i].view(); }
  /// Returns the noise variance of the regressor, from its high frequencies. (Features have noise
  /// if the camera has depth of field or motion blur.)
  PlaneView<const float> regressor_noise(int i) const { return regressor_noise_[i].view(); }

  /// Converts filtered light of the last decomposed frame back to samples of `clean`. Samples of
  /// `noisy` that are not finite are preserved unchanged.
  void recompose(const std::array<PlaneView<const float>, 3>& filtered, const Frame& noisy,
                 const Frame& clean) const;
  /// Returns the factor of the light. This factor is the albedo, raised to at least the floor, or 1
  /// if there is no albedo.
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

/// Computes the mean over squares of 2 radius + 1 samples a side, as far as they are inside the
/// plane. Sums are in double precision, so that distant bright samples leave no rounding error.
/// `scratch` and `to` must have the plane's size; `to` may be `from`.
void box_mean(PlaneView<const float> from, int radius, PlaneView<float> scratch,
              PlaneView<float> to);

}  // namespace lull
