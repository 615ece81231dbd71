#pragma once
// The search windows of groups with patches of several frames, as kernel arguments. This file is
// independent of CUDA.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "cuda/device_limits.h"
#include "linear/cuda/combine_sums.h"
#include "linear/cuda/window_atlas.h"
#include "linear/params.h"
#include "match/motion_grid.h"
#include "time/frames.h"

namespace lull::linear {

/// The frames in which the matcher searches for similar patches. The first frame contains the
/// reference patches.
struct SearchedFrames {
  MotionGrid grid;
  int count = 1;
  bool pairs = false;  // patches span two frames where motion is uniform
  /// For each frame, the index of its partner (the second frame of its patches), or no_frame.
  std::array<std::int8_t, max_frames> partner{};
  int last = 0;  // index of the frame that has no partner
  /// Motion vectors from the first frame to each frame, one for each motion block. A null pointer
  /// means that all vectors are zero.
  std::array<const Motion*, max_frames> cells{};
};

/// Maximum number of sample pairs of a patch, rounded up to a multiple of 8.
inline constexpr int max_time_pairs =
    (std::max(2 * max_pair_side * ((max_pair_side + 1) / 2), max_side*((max_side + 1) / 2)) + 7) /
    8 * 8;

/// The work of one thread block of combine_time.cu: the reference patches, and the layout of their
/// search windows in shared memory.
struct TimePlan {
  /// Layouts of the search windows. Element 0 is for patches in one frame, with a window in each
  /// frame. Element 1 is for patches that span two frames, with a window for each frame pair.
  std::array<WindowAtlas, 2> atlases;
  std::size_t bytes = 0;  // dynamic shared memory

  [[nodiscard]] constexpr int across() const { return atlases[0].across; }
  [[nodiscard]] constexpr int down() const { return atlases[0].down; }
  [[nodiscard]] constexpr int warps() const { return across() * down(); }
};

/// Returns the plan with the highest occupancy, for up to `frames` frames. A thread block needs
/// `fixed` bytes, and `per_sample` bytes for each sample of the search windows. The plan is empty
/// if even 2x2 reference patches do not fit into shared memory.
[[nodiscard]] inline TimePlan plan_over_time(const GroupSizes& sizes, int frames, std::size_t fixed,
                                             std::size_t per_sample,
                                             const cuda::DeviceLimits& limits) {
  // A thread block has 4x2 or 2x2 reference patches of one bundle (8x4 reference patches with the
  // same motion vectors). Each warp processes one reference patch. The registers of a
  // multiprocessor suffice for 16 warps.
  constexpr std::array<std::array<int, 2>, 2> shapes{{{4, 2}, {2, 2}}};
  constexpr int most_warps = 16;
  static_assert(motion_columns % 4 == 0 && motion_rows % 2 == 0);
  TimePlan best;
  int best_warps = 0;
  for (const auto [across, down] : shapes) {
    TimePlan plan;
    const auto atlas = [&](int windows) {
      return smallest_atlas({.window = sizes.window,
                             .temporal_window = sizes.temporal_window,
                             .side = sizes.side,
                             .step = sizes.step,
                             .pairs = windows},
                            across, down);
    };
    plan.atlases[0] = atlas(frames);
    std::size_t words = plan.atlases[0].words;
    if (sizes.pairs && frames > 1) {
      plan.atlases[1] = atlas(frames - 1);
      words = std::max<std::size_t>(words, 2 * plan.atlases[1].words);
    }
    plan.bytes = fixed + per_sample * (words + 1);
    if (plan.bytes > limits.dynamic_limit()) continue;
    const int warps =
        std::min(limits.blocks(32 * plan.warps(), plan.bytes), most_warps / plan.warps()) *
        plan.warps();
    if (warps > best_warps) best = plan, best_warps = warps;
  }
  return best;
}

/// Returns a scale with which the 32-bit sums of a frame cannot overflow. If the temporal radius is
/// R, the groups of up to 4 * R + 1 frames add estimates to these sums.
[[nodiscard]] inline float time_value_scale(const GroupSizes& sizes, int radius) {
  const auto references = [&](int window) {  // number whose windows contain a sample
    const int along = (window + sizes.side - 2) / sizes.step + 2;
    return static_cast<double>(along) * along;
  };
  const double all = references(sizes.window) + 4.0 * radius * references(sizes.temporal_window);
  const double estimates = all * sizes.group * (sizes.pairs ? 2 : 1);
  const double largest = estimates * std::sqrt(sizes.group) * 2 * mid_level * weight_scale;
  float scale = block_value_scale;
  while (largest * static_cast<double>(scale) > 2147483647.0) scale /= 2;
  return scale;
}

}  // namespace lull::linear
