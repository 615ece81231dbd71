// Known groups in a new order: what a phase does in place of a search, where an earlier phase kept
// its groups (match/kept_groups.h).
//
// A warp has one reference patch, each lane one member of its group: the lane loads the member's 64
// samples of the 8-bit guide, compares them with the reference patch's, and the keys, distance then
// place in the kept group, are sorted across the warp. All keys that count differ, so that the
// result is the same in any order of work. A brick is a thread block, as in match.cu.

#include <algorithm>

#include "cuda/check.h"
#include "cuda/warp.cuh"
#include "match/cuda/kernels.h"

namespace lull {
namespace {

constexpr int place_bits = 5, threads = brick_references * 32;
static_assert(1 << place_bits == max_group && max_group == 32);
constexpr std::uint32_t no_key = 0xffffffffu;
/// Squared distances are up to 64 * 255^2 < 2^22; more than that has no place in a key.
constexpr double greatest_distance = 1 << 22;

struct RankArgs {
  std::array<const std::uint8_t*, max_frames> samples;  // of the guides, by offset + max_temporal
  std::array<const Motion*, max_frames> motion;
  Margins margins;
  ReferenceGrid grid;
  MotionGrid motion_grid;
  Batch batch;
  Groups kept, groups;
  int keep;             // N
  std::uint32_t limit;  // squared distance at tau
  std::uint32_t bonus;  // taken off that of the patch where motion predicts it
};

/// A row of 8 samples from a place on that need not be aligned.
__device__ __forceinline__ uint2 load_row(const std::uint8_t* samples, int at) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(samples + (at & ~3));
  const int bits = 8 * (at & 3);
  const std::uint32_t a = words[0], b = words[1], c = words[2];
  return make_uint2(__funnelshift_r(a, b, bits), __funnelshift_r(b, c, bits));
}

/// Squared distance of the patches at two places.
__device__ __forceinline__ std::uint32_t distance_of(const std::uint8_t* own, int own_at,
                                                     const std::uint8_t* other, int at, int pitch) {
  std::uint32_t sum = 0;
#pragma unroll
  for (int row = 0; row < patch; ++row) {
    const uint2 a = load_row(own, own_at + row * pitch), b = load_row(other, at + row * pitch);
    const std::uint32_t low = __vabsdiffu4(a.x, b.x), high = __vabsdiffu4(a.y, b.y);
    sum = __dp4a(low, low, __dp4a(high, high, sum));
  }
  return sum;
}

__global__ void __launch_bounds__(threads) rank_kernel(const RankArgs a) {
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const int i = (a.batch.x0 + blockIdx.x) * brick_side + reference % brick_side;
  const int j = (a.batch.y0 + blockIdx.y) * brick_side + reference / brick_side;
  const int x = a.grid.x(i), y = a.grid.y(j);  // beyond the grid: the last ones again
  const int index = (blockIdx.y * a.batch.bricks_x + blockIdx.x) * brick_references + reference;

  const int count = 1 << a.kept.log2_count[index];
  std::uint32_t member = 0, key = no_key;
  if (lane < count) {
    member = a.kept.displacements[index * a.kept.capacity + lane];
    const int dx = displacement_x(member), dy = displacement_y(member);
    const int frame = displacement_t(member) + max_temporal;
    std::uint32_t distance =
        distance_of(a.samples[max_temporal], a.margins.at(x, y), a.samples[frame],
                    a.margins.at(x + dx, y + dy), a.margins.pitch);
    if (frame != max_temporal) {
      Motion v;
      if (a.motion[frame] != nullptr) v = a.motion_grid.vector(a.motion[frame], i, j);
      if (dx == v.x && dy == v.y) distance -= min(distance, a.bonus);
    }
    // The reference patch itself, in lane 0, is at distance 0 and comes first.
    if (distance <= a.limit) key = distance << place_bits | static_cast<std::uint32_t>(lane);
  }

  const std::uint32_t sorted = ~sort_descending(~key, lane);
  const int found = min(__popc(__ballot_sync(~0u, sorted != no_key)), a.keep);
  const int log2_count = 31 - __clz(found);
  const std::uint32_t chosen = __shfl_sync(~0u, member, static_cast<int>(sorted & (max_group - 1)));
  if (lane < (1 << log2_count)) a.groups.displacements[index * a.groups.capacity + lane] = chosen;
  if (lane == 0) a.groups.log2_count[index] = static_cast<std::uint8_t>(log2_count);
}

/// A mean squared difference as a squared distance of patches of the guide.
std::uint32_t distance_at(float mean, const Guide& guide) {
  const double distance = 1.0 * patch * patch * mean * guide.scale * guide.scale;
  return static_cast<std::uint32_t>(std::min(distance, greatest_distance));
}

}  // namespace

void rank_anew(std::span<const SearchFrame> frames, const Margins& margins,
               const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
               const MatchParams& phase, const Groups& kept, const Groups& groups,
               cudaStream_t stream) {
  const Guide& own = frames.front().frame.guide;
  RankArgs args{{},
                {},
                margins,
                grid,
                motion,
                batch,
                kept,
                groups,
                phase.group,
                distance_at(phase.tau, own),
                distance_at(phase.place_bonus, own)};
  for (const auto& [offset, frame] : frames) {
    args.samples[offset + max_temporal] = frame.guide.samples;
    args.motion[offset + max_temporal] = frame.motion;
  }
  rank_kernel<<<dim3(batch.bricks_x, batch.bricks_y), threads, 0, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
