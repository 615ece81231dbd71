#pragma once
// Auxiliary feature buffers (AOVs) of a render. A renderer provides these images, which have the
// size of the frame, in addition to the colour.

#include <array>
#include <memory>
#include <string_view>

#include "core/frame.h"

namespace lull {

enum class Feature { albedo, normal, depth, variance, half_a, half_b };
inline constexpr int feature_count = 6;
inline constexpr std::array<std::string_view, feature_count> feature_names = {
    "albedo", "normal", "depth", "variance", "halfA", "halfB"};

/// The feature buffers of a frame: float frames (SampleType::f32) on the scale of the file,
/// independent of FrameFormat::white. A null pointer means that the render does not contain the
/// buffer.
struct Features {
  /// The albedo is grey or RGB, 0..1. The normal has three components. The depth is grey, the
  /// distance from the camera. The variance is grey or RGB: the noise variance of each sample, in
  /// the squared unit of the picture. The renderer computes each of the two half buffers, which are
  /// pictures, from half of the samples per pixel.
  std::array<std::shared_ptr<const Frame>, feature_count> planes{};

  const std::shared_ptr<const Frame>& operator[](Feature f) const {
    return planes[static_cast<std::size_t>(f)];
  }
  std::shared_ptr<const Frame>& operator[](Feature f) {
    return planes[static_cast<std::size_t>(f)];
  }
};

}  // namespace lull
