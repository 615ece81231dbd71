#pragma once
// How the matcher cuts its work (match.cu) to what a device has. Nothing here needs a device.
//
// A thread block takes across x down reference patches, whose windows in a pair of frames are one
// rectangle of places. Its samples lie in shared memory, a frame after the other, as words: a
// sample and its right neighbour, as halves. Rows are 8 or 24 banks apart, frames 16: the operands
// of a product, eight places of two rows of two frames, lie in 32 banks.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/round_up.h"
#include "cuda/device_limits.h"

namespace lull::bm3d {

constexpr int match_threads = 256;
constexpr int match_references = 8;  // of a block at most: columns of a product

/// Distances are words, which compare as their floats do.
constexpr std::uint32_t infinite = 0x7f800000, no_distance = 0x7fffffff;

/// Sides of patches that there are kernels for, which other ones fill up.
constexpr int kernel_side(int patch) { return patch > 8 ? 10 : 8; }

/// What is matched.
struct MatchWork {
  int window = 0, temporal_window = 0;  // sides
  int patch = 8, depth = 2;             // side of patches, frames that they lie in
  int step = 1, pairs = 1;
};

/// n / divisor for n < 1024 divisor, n divisor < 2^22.
constexpr unsigned inverse_of(int divisor) {
  return (1u << 22) / static_cast<unsigned>(divisor) + 1;
}
constexpr int quotient(int n, unsigned inverse) {
  return static_cast<int>(static_cast<unsigned>(n) * inverse >> 22);
}

/// The windows of a block's reference patches in one pair of frames.
struct JoinedWindows {
  int patch = 8, depth = 2;   // side of patches, frames that they lie in
  int side = 1;               // of one
  int width = 1, height = 1;  // places of candidates in all of them
  int pitch = 40, rows = 1;   // of the samples
  int frame = 0;              // words from frame to frame
  int words = 0;              // of all frames
  int sums_pitch = 8;         // of sums of squares, of rows of patches and of patches
  unsigned quads_inverse = 0, width_inverse = 0, blocks_inverse = 0, side_inverse = 0;
  unsigned area_inverse = 0;

  constexpr bool operator==(const JoinedWindows&) const = default;
  [[nodiscard]] constexpr int area() const { return side * side; }
  [[nodiscard]] constexpr int quads() const { return (width + 3) / 4; }
  /// Places are compared as tiles of eight columns and of every other row of 16.
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
  // Squares are read by fours, as far as a patch beyond the last four; patches by tiles.
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

struct MatchPlan {
  int across = 0, down = 0;  // reference patches of a block
  JoinedWindows own, other;
  int together = 1;                // windows in shared memory at a time
  int candidates = 0, stride = 0;  // distances of a reference patch, from one to the next

  [[nodiscard]] constexpr int references() const { return across * down; }
  [[nodiscard]] constexpr int most_words() const { return std::max(own.words, other.words); }
  [[nodiscard]] constexpr int words() const { return most_words() + (together - 1) * other.words; }
  [[nodiscard]] constexpr int most_sums() const { return std::max(own.sums(), other.sums()); }
  [[nodiscard]] constexpr int sums() const { return most_sums() + (together - 1) * other.sums(); }
  [[nodiscard]] constexpr std::size_t bytes() const {
    return 4 * static_cast<std::size_t>(words() + sums() + references() * stride);
  }
};

constexpr MatchPlan match_plan(const MatchWork& work, int across, int down) {
  MatchPlan plan{.across = across, .down = down};
  plan.own = join_windows(work, work.window, across, down);
  plan.other = join_windows(work, work.temporal_window, across, down);
  plan.candidates =
      work.window * work.window + (work.pairs - 1) * work.temporal_window * work.temporal_window;
  plan.stride = round_up(plan.candidates, 128);
  return plan;
}

/// What the profile asks for, for which there are kernels that know it.
constexpr MatchPlan usual_plan(int patch) {
  return match_plan(MatchWork{.window = 15,
                              .temporal_window = 9,
                              .patch = patch,
                              .depth = 2,
                              .step = patch == 10 ? 6 : 5,
                              .pairs = 1},
                    4, 2);
}

/// As many reference patches to a block as fit, and as many windows at a time as leave room for
/// three blocks. A single one takes less than 48 KB whatever is asked for.
inline MatchPlan match_plan(const MatchWork& work, const cuda::DeviceLimits& limits) {
  constexpr std::size_t fixed = 5 * 1024;  // what the kernel itself declares
  constexpr std::array<std::array<int, 2>, 4> shapes{{{4, 2}, {2, 2}, {2, 1}, {1, 1}}};
  for (const auto [across, down] : shapes) {
    MatchPlan plan = match_plan(work, across, down);
    if (plan.bytes() + fixed > limits.block_shared_memory) continue;
    while (plan.together < work.pairs) {
      ++plan.together;
      if (limits.blocks(match_threads, plan.bytes() + fixed) >= 3) continue;
      --plan.together;
      break;
    }
    return plan;
  }
  return {};
}

}  // namespace lull::bm3d
