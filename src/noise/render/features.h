#pragma once
// What a renderer knows of a picture beside its colour: features, of the same size.

#include <array>
#include <memory>
#include <string_view>

#include "core/frame.h"

namespace lull {

enum class Feature { albedo, normal, depth, variance, half_a, half_b };
inline constexpr int feature_count = 6;
inline constexpr std::array<std::string_view, feature_count> feature_names = {
    "albedo", "normal", "depth", "variance", "halfA", "halfB"};

/// Frames of floats (SampleType::f32) on the scale of the file, whatever FrameFormat::white says.
/// Null: there is none.
struct Features {
  /// Albedo: grey or RGB, 0..1. Normal: three components. Depth: grey, from the eye. Variance: of
  /// the noise in each sample of the picture, grey or RGB, in the square of its unit. Halves: the
  /// picture made of either half of the samples.
  std::array<std::shared_ptr<const Frame>, feature_count> planes{};

  const std::shared_ptr<const Frame>& operator[](Feature f) const {
    return planes[static_cast<std::size_t>(f)];
  }
  std::shared_ptr<const Frame>& operator[](Feature f) {
    return planes[static_cast<std::size_t>(f)];
  }
};

}  // namespace lull
