#pragma once
// How the filter kernels cut a picture into tiles (filter.cuh), by what a device has for them.
// Nothing here needs a device.

#include <array>
#include <cstddef>
#include <cstdint>

#include "bm3d/params.h"
#include "cuda/device_limits.h"
#include "time/frames.h"

namespace lull::bm3d {

/// What of the tile is in shared memory: samples and sums, sums alone, nothing.
enum class Staging { shared, sums, direct };

namespace filter_detail {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int most_references = 64;  // of a block
/// Samples from row to row in shared memory, at most. Any pitch is 4 more than a multiple of 16, so
/// that every other row of 8 samples lies in other banks.
constexpr int tile_pitch = 84;

/// How many reference patches a thread block takes, and the union of their windows.
struct Tile {
  int log2_x = 2, log2_y = 2;  // of the reference patches; at least brick_side
  int rows = 0;                // of samples; 0: no room in shared memory
  int pitch = tile_pitch;      // Staging::shared: that
  int columns = 0;             // of samples that are used, a multiple of 4
  std::uint32_t columns_inverse = 0, quads_inverse = 0;  // 2^32 / columns, and / (columns / 4)

  constexpr int references() const { return 1 << (log2_x + log2_y); }
  constexpr int words() const { return rows * pitch; }
  constexpr void use_columns(int count) {
    const auto inverse = [](std::uint64_t divisor) {
      return static_cast<std::uint32_t>(((1ull << 32) + divisor - 1) / divisor);
    };
    columns = (count + 3) / 4 * 4;
    columns_inverse = inverse(columns), quads_inverse = inverse(columns / 4);
  }
  bool operator==(const Tile&) const = default;
};

/// The sums of a frame in shared memory: those of all frames stand one below the other.
struct FrameRows {
  int first = 0, count = 0;
  bool operator==(const FrameRows&) const = default;
};

struct FilterPlan {
  Staging staging = Staging::direct;
  Tile tile;
  int other_radius = 0;                      // of windows in other frames
  std::array<FrameRows, max_frames> rows{};  // Staging::sums
  std::size_t shared_bytes = 0;
};

/// What is filtered.
struct FilterWork {
  Phase phase = Phase::first;
  int count_x = 0, count_y = 0, planes = 1;  // reference patches in a row, in a column
  bool over_time = false;
  std::array<bool, max_frames> present{};  // over time: frames that groups have patches of
  bool coloured = false;                   // noise that is not white
};

constexpr int log2_places(int power) { return power == 1 ? 0 : 1 + log2_places(power / 2); }

/// Places for the patches of a group in the kernel that filters it: where there are fewer patches,
/// some stand in several. Only for the group transform that the profiles have there are kernels
/// with 8, and none for noise that is not white.
constexpr int group_places(const PhaseParams& phase, bool coloured) {
  const bool few = phase.group <= 8 && phase.group_transform == GroupTransform::haar && !coloured;
  return few ? 8 : phase.group <= 16 ? 16 : 32;
}

/// Blocks that a multiprocessor holds by the registers of a kernel with so many places.
constexpr int least_blocks(bool second_phase, int places, bool coloured = false) {
  if (places == 8) return 4;
  return places == 32 ? 2 : second_phase || coloured ? 3 : 4;
}
/// Those that it holds in fact.
[[nodiscard]] int blocks_held(const FilterPlan& plan, Phase phase, int places,
                              const cuda::DeviceLimits& device, bool coloured = false);

/// Must not depend on the batch: bytes depend on the tile.
[[nodiscard]] FilterPlan plan_filter(const FilterWork& work, const PhaseParams& phase,
                                     const cuda::DeviceLimits& device);

}  // namespace filter_detail
}  // namespace lull::bm3d
