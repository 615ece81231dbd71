#pragma once
// The interface between the cpu backend (cpu.cpp) and its kernel for one tile (cpu_tile.cpp).

#include <array>
#include <span>
#include <vector>

#include "core/image.h"
#include "nlm/features/formulas.h"
#include "time/frames.h"

namespace lull::nlm::cpu {

/// Size of a tile. A tile is wider than high, because vectors contain samples of a row. A tile fits
/// into a motion block (time/motion.h).
inline constexpr int light_tile_width = 32, light_tile_height = 8;

/// The planes of a frame, with mirrored padding. Position (0, 0) is the first sample of the frame.
struct ContinuedLight {
  std::array<PlaneView<const float>, 3> light, variance;
  std::array<PlaneView<const float>, max_regressors> regressor;
};

struct LightSource {
  ContinuedLight planes;
  int motion_x = 0, motion_y = 0;
};

struct LightTile {
  int x = 0, y = 0, width = 0, height = 0;
  int channels = 3, search_radius = 0, regressors = 0;
  std::span<const LightSource> sources;  // the first source is the target frame itself
  // Noise variance of each regressor of the target frame, for each pixel.
  std::array<PlaneView<const float>, max_regressors> noise;
  std::array<PlaneView<float>, 3> colour, colour_derivative, guided, guided_derivative;
};

/// Memory of one thread.
struct LightMemory {
  std::vector<float> floats;
};

void filter_light(const LightTile& tile, LightMemory& memory);

}  // namespace lull::nlm::cpu
