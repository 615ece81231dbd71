#pragma once
// What the cpu backend's tiles are told: cpu.cpp cuts frames into them, cpu_tile.cpp works on one.

#include <array>
#include <span>
#include <vector>

#include "core/image.h"
#include "nlm/features/formulas.h"
#include "time/frames.h"

namespace lull::nlm::cpu {

/// Wider than it is high, as vectors lie along rows; it fits into a motion cell, and its sums into
/// the second level of caches.
inline constexpr int light_tile_width = 32, light_tile_height = 8;

/// Planes of a frame that continue beyond their ends; (0, 0) is the first sample of the frame.
struct ContinuedLight {
  std::array<PlaneView<const float>, 3> light, variance;
  std::array<PlaneView<const float>, most_regressors> regressor;
};

struct LightSource {
  ContinuedLight planes;
  int motion_x = 0, motion_y = 0;
};

struct LightTile {
  int x = 0, y = 0, width = 0, height = 0;
  int channels = 3, search_radius = 0, regressors = 0;
  std::span<const LightSource> sources;  // the first is the wanted frame itself
  std::array<PlaneView<const float>, most_regressors> noise;  // of the wanted frame's regressors
  std::array<PlaneView<float>, 3> colour, colour_derivative, guided, guided_derivative;
};

/// Of one thread.
struct LightMemory {
  std::vector<float> floats;
};

void filter_light(const LightTile& tile, LightMemory& memory);

}  // namespace lull::nlm::cpu
