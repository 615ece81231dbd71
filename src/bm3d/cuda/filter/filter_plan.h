#pragma once
// The tiles of the filter kernels (filter.cuh), planned for the resources of a device. This file is
// independent of CUDA.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "bm3d/params.h"
#include "cuda/device_limits.h"
#include "time/frames.h"

namespace lull::bm3d {

/// The contents of shared memory for a tile: samples and sums, only sums, or neither.
enum class Staging { shared, sums, direct };

/// Type of the offsets, in samples, of patches in device memory. Kernels with Staging::direct
/// always use 64 bits, because their additions to device memory take much more time than 64-bit
/// arithmetic.
template <Staging staging>
using PatchOffset = std::conditional_t<staging == Staging::direct, std::int64_t, std::int32_t>;
/// Returns true if 32-bit offsets can address all samples of a plane. `plane` is the number of
/// samples, and `distance` is the signed offset of the first sample.
constexpr bool fits_narrow_offsets(std::int64_t distance, std::int64_t plane) {
  return (distance < 0 ? -distance : distance) + plane <= std::numeric_limits<std::int32_t>::max();
}

namespace filter_detail {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int max_references = 64;  // per thread block
/// Maximum stride of a tile in shared memory, in samples. To avoid bank conflicts, strides are 4
/// more than a multiple of 16, so that rows y and y + 2 are 8 memory banks apart.
constexpr int tile_pitch = 84;

/// The reference patches of a thread block, and the union of their search windows.
struct Tile {
  /// Base-2 logarithms of the numbers of reference patches that the thread block processes along x
  /// and y. The minimum number along an axis is reference_tile_side.
  int log2_x = 2, log2_y = 2;
  int rows = 0;            // number of rows of samples; 0: shared memory is too small
  int pitch = tile_pitch;  // with Staging::shared, always tile_pitch
  int columns = 0;         // number of columns of samples that are used, a multiple of 4
  /// The fixed-point numbers 2^32 / columns and 2^32 / (columns / 4). The kernels multiply by these
  /// numbers instead of dividing by `columns` and by columns / 4.
  std::uint32_t columns_inverse = 0, quads_inverse = 0;

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

/// The rows of a tile in shared memory that contain the sums of one frame.
struct FrameRows {
  int first = 0, count = 0;
  bool operator==(const FrameRows&) const = default;
};

struct FilterPlan {
  Staging staging = Staging::direct;
  Tile tile;
  int other_radius = 0;                      // radius of the search windows in other frames
  std::array<FrameRows, max_frames> rows{};  // Staging::sums
  std::size_t shared_bytes = 0;
};

/// The parameters of a filter kernel on which its tiles depend.
struct FilterWork {
  Phase phase = Phase::first;
  // Number of columns and rows of reference patches on the grid, and number of planes.
  int count_x = 0, count_y = 0, planes = 1;
  bool over_time = false;
  std::array<bool, max_frames> present{};  // with temporal filtering: whether groups have patches
                                           // in a frame
  bool coloured = false;                   // whether the noise is coloured
  // True if 32 bits are too few for the offsets between frames (fits_narrow_offsets()).
  bool wide_offsets = false;
};

constexpr int log2_slots(int power) { return power == 1 ? 0 : 1 + log2_slots(power / 2); }

/// Returns the number of patches that a kernel transforms across the group: 8, 16 or 32. Kernels
/// for 8 patches exist only for white noise and the Haar transform across the group.
constexpr int group_slots(const PhaseParams& phase, bool coloured) {
  const bool few = phase.group <= 8 && phase.group_transform == GroupTransform::haar && !coloured;
  return few ? 8 : phase.group <= 16 ? 16 : 32;
}

/// Returns the number of thread blocks per multiprocessor that the registers allow, for a kernel
/// that transforms `slots` patches across the group.
constexpr int min_blocks(bool second_phase, int slots, bool coloured = false) {
  if (slots == 8) return 4;
  return slots == 32 ? 2 : second_phase || coloured ? 3 : 4;
}
/// Returns the number of thread blocks per multiprocessor that the registers and the shared memory
/// allow.
[[nodiscard]] int resident_blocks(const FilterPlan& plan, Phase phase, int slots,
                                  const cuda::DeviceLimits& device, bool coloured = false);

/// Plans the tiles of the filter kernel. The plan does not depend on the batch, because a different
/// tile would change the rounding of the results.
[[nodiscard]] FilterPlan plan_filter(const FilterWork& work, const PhaseParams& phase,
                                     const cuda::DeviceLimits& device);

}  // namespace filter_detail
}  // namespace lull::bm3d
