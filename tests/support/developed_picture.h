#pragma once
// Photographs as a raw converter develops them without denoising: a scene, the noise of a sensor
// with a Bayer pattern, demosaicing, white balance, colour matrix and sRGB curve, with 8 bits.

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "core/plane.h"

namespace lull::test_support {

/// The planes R, G and B on the 0..255 scale.
using ColourPicture = std::vector<Plane<float>>;

enum class Demosaicer {
  bilinear,   ///< means of the neighbours of the same colour
  smooth_hue  ///< bilinear green; red and blue as bilinear differences from green
};

struct Developed {
  ColourPicture clean, noisy;  // the clean picture passes the same steps without noise
};

namespace development {

constexpr double white_balance[3] = {1.9, 1.0, 1.6};
constexpr double colour_matrix[3][3] = {
    {1.6, -0.45, -0.15}, {-0.25, 1.5, -0.25}, {-0.05, -0.55, 1.6}};

inline double linear(double v) {
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}
inline double srgb(double v) {
  v = std::clamp(v, 0.0, 1.0);
  return v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
}

/// Colour of the sensor at a position: red, green, green, blue.
constexpr int colour_at(int x, int y) { return x % 2 + y % 2; }

/// Fills the plane of colour `c` with weighted means of the 3x3 samples of this colour.
inline Plane<float> interpolated(PlaneView<const float> mosaic, int c) {
  Plane<float> plane(mosaic.width, mosaic.height);
  for (int y = 0; y < mosaic.height; ++y)
    for (int x = 0; x < mosaic.width; ++x) {
      if (colour_at(x, y) == c) {
        plane.view()(x, y) = mosaic(x, y);
        continue;
      }
      double sum = 0, weight = 0;
      for (int j = std::max(0, y - 1); j <= std::min(mosaic.height - 1, y + 1); ++j)
        for (int i = std::max(0, x - 1); i <= std::min(mosaic.width - 1, x + 1); ++i) {
          if (colour_at(i, j) != c) continue;
          const double w = i == x || j == y ? 2 : 1;
          sum += w * static_cast<double>(mosaic(i, j));
          weight += w;
        }
      plane.view()(x, y) = static_cast<float>(sum / weight);
    }
  return plane;
}

inline ColourPicture demosaiced(PlaneView<const float> mosaic, Demosaicer demosaicer) {
  ColourPicture result;
  if (demosaicer == Demosaicer::bilinear) {
    for (int c = 0; c < 3; ++c) result.push_back(interpolated(mosaic, c));
    return result;
  }
  const Plane<float> green = interpolated(mosaic, 1);
  Plane<float> difference(mosaic.width, mosaic.height);
  for (int y = 0; y < mosaic.height; ++y)
    for (int x = 0; x < mosaic.width; ++x)
      difference.view()(x, y) = mosaic(x, y) - green.view()(x, y);
  for (int c = 0; c < 3; ++c) {
    Plane<float> plane = interpolated(difference.view(), c);
    for (int y = 0; y < mosaic.height; ++y)
      for (int x = 0; x < mosaic.width; ++x)
        plane.view()(x, y) = green.view()(x, y) + (c == 1 ? 0 : plane.view()(x, y));
    result.push_back(std::move(plane));
  }
  return result;
}

/// Applies white balance, colour matrix and sRGB curve, and rounds to 8 bits.
inline ColourPicture finished(ColourPicture planes) {
  for (int y = 0; y < planes[0].height(); ++y)
    for (int x = 0; x < planes[0].width(); ++x) {
      std::array<double, 3> camera;
      for (int c = 0; c < 3; ++c)
        camera[c] = white_balance[c] * static_cast<double>(planes[c].view()(x, y));
      for (int c = 0; c < 3; ++c) {
        double v = 0;
        for (int k = 0; k < 3; ++k) v += colour_matrix[c][k] * camera[k];
        planes[c].view()(x, y) = static_cast<float>(std::round(255 * srgb(v)));
      }
    }
  return planes;
}

}  // namespace development

/// Develops a picture whose sensor sees `scene` (on the 0..255 scale, sRGB, in the colours of the
/// sensor before white balance). The noise of linear samples x has the variance gain x + 1e-5.
inline Developed developed(const ColourPicture& scene, double gain, Demosaicer demosaicer,
                           unsigned seed = 1) {
  namespace dev = development;
  std::mt19937 rng{seed};
  std::normal_distribution<double> normal;
  const int width = scene[0].width(), height = scene[0].height();
  Plane<float> clean(width, height), noisy(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int c = dev::colour_at(x, y);
      const double v =
          dev::linear(static_cast<double>(scene[c].view()(x, y)) / 255) / dev::white_balance[c];
      clean.view()(x, y) = static_cast<float>(v);
      const double noise = gain > 0 ? std::sqrt(gain * v + 1e-5) * normal(rng) : 0;
      noisy.view()(x, y) = static_cast<float>(std::clamp(v + noise, 0.0, 1.0));
    }
  return {dev::finished(dev::demosaiced(clean.view(), demosaicer)),
          dev::finished(dev::demosaiced(noisy.view(), demosaicer))};
}

/// Returns a scene of smooth light. If `strength` > 0, two thirds have sharp grey texture, which
/// fades out towards the left edge, as in a picture that is partly out of focus.
inline ColourPicture textured_scene(int width, int height, double strength, unsigned seed = 9) {
  std::mt19937 rng{seed};
  std::normal_distribution<double> normal;
  Plane<float> texture(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double fine = strength * normal(rng);
      const double left = x > 0 ? static_cast<double>(texture.view()(x - 1, y)) : 0;
      const double up = y > 0 ? static_cast<double>(texture.view()(x, y - 1)) : 0;
      texture.view()(x, y) = static_cast<float>(0.42 * (left + up) + fine);
    }
  ColourPicture scene;
  const double base[3] = {120, 105, 95};
  for (int c = 0; c < 3; ++c) {
    Plane<float> plane(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double light = 0.6 + 0.8 * y / height;
        const double share = std::clamp(1.8 * x / width - 0.6, 0.0, 1.0);
        const double v = base[c] * light + share * static_cast<double>(texture.view()(x, y));
        plane.view()(x, y) = static_cast<float>(std::clamp(v, 5.0, 250.0));
      }
    scene.push_back(std::move(plane));
  }
  return scene;
}

}  // namespace lull::test_support
