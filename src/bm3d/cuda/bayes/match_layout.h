#pragma once
// Plans the work of the matcher (match.cu) for the resources of a device. This file is independent
// of CUDA.

// For each frame pair, shared memory contains the search windows of `across` x `down` reference
// patches in both frames. A word contains a sample and its right neighbour in half precision.

// Neighbouring rows are 8 or 24 memory banks apart. The two frames of a pair are 16 memory banks
// apart. The 32 lanes of a warp therefore read the operands of a matrix product without bank
// conflicts.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "bm3d/best_profile.h"
#include "core/round_up.h"
#include "cuda/device_limits.h"

namespace lull::bm3d {

constexpr int match_threads = 256;
// Maximum number of reference patches per thread block: the number of columns of a matrix product.
constexpr int match_references = 8;

/// Special distances: `infinite` for patches beyond the plane, and `no_distance` for unused
/// elements. Distances are nonnegative floats, so kernels compare their bits as integers.
constexpr std::uint32_t infinite = 0x7f800000, no_distance = 0x7fffffff;

/// Returns the patch side for which the kernel is compiled, 8 or 10, from the side `patch` of the
/// patches. The kernel pads the patches to this side.
constexpr int kernel_side(int patch) { return patch > 8 ? 10 : 8; }

/// Parameters of the search that determine the plan of the matcher.
struct MatchWork {
  int window = 0, temporal_window = 0;  // sides of the search windows
  // Side of patches, and number of frames that a patch spans.
  int patch = 8, depth = 2;
  int step = 1, pairs = 1;
};

/// Returns the fixed-point inverse of `divisor`. quotient(n, inverse) is exactly n / divisor if n <
/// 1024 * divisor and n * divisor < 2^22.
constexpr unsigned inverse_of(int divisor) {
  return (1u << 22) / static_cast<unsigned>(divisor) + 1;
}
constexpr int quotient(int n, unsigned inverse) {
  return static_cast<int>(static_cast<unsigned>(n) * inverse >> 22);
}

/// The union of the search windows of a thread block, in one frame pair.
struct JoinedWindows {
  int patch = 8, depth = 2;   // side of patches, and number of frames over which they extend
  int side = 1;               // side of one window
  int width = 1, height = 1;  // number of candidate positions along x and y
  int pitch = 40, rows = 1;   // layout of the samples in memory
  int frame = 0;              // distance from one frame to the next, in words
  int words = 0;              // words of all frames together
  // Row stride, in elements, of two tables: the sums of squares of the rows of patches, and the
  // sums of squares of complete patches.
  int sums_pitch = 8;
  unsigned quads_inverse = 0, width_inverse = 0, blocks_inverse = 0, side_inverse = 0;
  unsigned area_inverse = 0;

  constexpr bool operator==(const JoinedWindows&) const = default;
  [[nodiscard]] constexpr int area() const { return side * side; }
  [[nodiscard]] constexpr int quads() const { return (width + 3) / 4; }
  /// Returns the number of tiles along a row. A tile contains eight adjacent columns, and the even
  /// or the odd rows of 16 adjacent rows.
  [[nodiscard]] constexpr int blocks() const { return (width + 7) / 8; }
  [[nodiscard]] constexpr int tiles() const { return blocks() * ((height + 15) / 16) * 2; }
  [[nodiscard]] constexpr int row_sums() const { return rows * sums_pitch; }
  [[nodiscard]] constexpr int sums() const {
    return row_sums() + (height + 15) / 16 * 16 * sums_pitch;
  }
};

constexpr JoinedWindows join_windows(const MatchWork& work, int side, int across, int down) {
  JoinedWindows w{.patch = work.patch, .depth = work.depth, .side = side};
  const int most = kernel_side(work.patch);
  w.width = side + (across - 1) * work.step, w.height = side + (down - 1) * work.step;
  w.rows = w.height + most - 1;
  // Rows are padded, because sum_squares() computes four sums at a time, and multiply_tile()
  // computes complete tiles.
  const int columns = std::max(w.blocks() * 8 + most - 1, w.quads() * 4 + 8);
  w.pitch = std::max(40, round_up(columns + 7, 16) - 8);
  const int rows = round_up(w.height, 16) + most - 1;
  w.frame = (rows * w.pitch + 15) / 32 * 32 + 16;
  w.words = work.depth * w.frame;
  w.sums_pitch = round_up(w.quads() * 4 + 8, 16) - 8;
  w.quads_inverse = inverse_of(w.quads()), w.width_inverse = inverse_of(w.width);
  w.blocks_inverse = inverse_of(w.blocks()), w.side_inverse = inverse_of(side);
  w.area_inverse = inverse_of(w.area());
  return w;
}

struct BayesMatchPlan {
  int across = 0, down = 0;  // number of reference patches of a block, along each axis
  JoinedWindows own, other;
  int windows_at_once = 1;  // number of search windows in shared memory at a time
  /// Each reference patch has an array of distances, one for each of its `candidates` candidates.
  /// `stride` is the number of elements from the start of one array to the start of the next one.
  int candidates = 0, stride = 0;

  [[nodiscard]] constexpr int references() const { return across * down; }
  [[nodiscard]] constexpr int max_window_words() const { return std::max(own.words, other.words); }
  [[nodiscard]] constexpr int words() const {
    return max_window_words() + (windows_at_once - 1) * other.words;
  }
  [[nodiscard]] constexpr int max_window_sums() const { return std::max(own.sums(), other.sums()); }
  [[nodiscard]] constexpr int sums() const {
    return max_window_sums() + (windows_at_once - 1) * other.sums();
  }
  [[nodiscard]] constexpr std::size_t bytes() const {
    return 4 * static_cast<std::size_t>(words() + sums() + references() * stride);
  }
};

constexpr BayesMatchPlan match_plan(const MatchWork& work, int across, int down) {
  BayesMatchPlan plan{.across = across, .down = down};
  plan.own = join_windows(work, work.window, across, down);
  plan.other = join_windows(work, work.temporal_window, across, down);
  plan.candidates =
      work.window * work.window + (work.pairs - 1) * work.temporal_window * work.temporal_window;
  plan.stride = round_up(plan.candidates, 128);
  return plan;
}

/// Returns the search parameters of a Bayes phase of the profile `best`. `pairs` has its default,
/// because it does not affect the layout of a window.
constexpr MatchWork work_of_best(const BayesParams& phase) {
  return {.window = phase.window,
          .temporal_window = phase.temporal_window,
          .patch = phase.side,
          .depth = 2,
          .step = phase.step};
}
/// Returns the plan for the Bayes phase of the profile `best` with the patch side `patch`. Its
/// kernels have all sizes as compile-time constants.
constexpr BayesMatchPlan typical_plan(int patch) {
  constexpr const auto& phases = best_bayes_phases;
  return match_plan(work_of_best(phases[patch == phases[0].side ? 0 : 1]), 4, 2);
}
static_assert(best_bayes_phases[0].side == 10 && best_bayes_phases[1].side == 8,
              "a kernel for each phase (kernel_side)");

/// Plans a thread block with the most reference patches that fit into shared memory. The block
/// processes at least one window at a time, and more windows if three thread blocks still fit into
/// a multiprocessor.
inline BayesMatchPlan match_plan(const MatchWork& work, const cuda::DeviceLimits& limits) {
  constexpr std::size_t fixed = 5 * 1024;  // shared memory that the kernel itself declares
  constexpr std::array<std::array<int, 2>, 4> shapes{{{4, 2}, {2, 2}, {2, 1}, {1, 1}}};
  for (const auto [across, down] : shapes) {
    BayesMatchPlan plan = match_plan(work, across, down);
    if (plan.bytes() + fixed > limits.block_shared_memory) continue;
    while (plan.windows_at_once < work.pairs) {
      ++plan.windows_at_once;
      if (limits.blocks(match_threads, plan.bytes() + fixed) >= 3) continue;
      --plan.windows_at_once;
      break;
    }
    return plan;
  }
  return {};
}

}  // namespace lull::bm3d
