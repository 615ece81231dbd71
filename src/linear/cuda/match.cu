// Matching for iterated linear combinations of patches (definition: linear/params.h). One warp
// finds the group of a reference patch in four steps.

// Step 1, distances: the warp computes |a|^2 + |b|^2 - 2 * a'b, which equals |a - b|^2, for the
// reference patch a and each candidate b.

// Shared memory contains the union of the search windows, as one word with four successive samples
// for each position. Loads are therefore always aligned.

// Step 2, keys: The warp stores the keys of all candidates in shared memory.

// Step 3, bound: The warp searches for a bound by bisection. The number of keys up to the bound
// must equal the number of members of the group. Such a bound exists, because keys are unique.

// Step 4, members: The warp selects the candidates with keys up to the bound, in the order of their
// positions.

#include <algorithm>

#include "core/round_up.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "linear/cuda/kernels.h"
#include "linear/cuda/match_members.cuh"

namespace lull::linear {
namespace {

constexpr int across = 4, down = 4;  // number of reference patches of a thread block
constexpr int max_warps = 8;

struct MatchJob {
  Margins margins;
  QuantisedGuide guide;
  DeviceGroups groups;
  int pitch, rows;  // size of the union of the windows in shared memory, in words
  int keys;         // number of candidates, rounded up to complete warps
  int shift;        // right shift of distances
};

__global__ void quantise_kernel(const float* guide, Margins margins, float low, float scale,
                                std::uint8_t* to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= margins.width || y >= margins.height) return;
  const float v = __fmul_rn(__fsub_rn(guide[margins.at(x, y)], low), scale);
  to[margins.at(x, y)] = static_cast<std::uint8_t>(
      floorf(fminf(fmaxf(v, 0.0f), static_cast<float>(guide_levels)) + 0.5f));
}

__global__ void norms_kernel(QuantisedGuide guide, Margins margins, int side,
                             const std::uint8_t* holes) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > margins.width - side || y > margins.height - side) return;
  int sum = 0;
  bool overlaps_hole = false;
  for (int v = 0; v < side; ++v)
    for (int u = 0; u < side; ++u) {
      const int q = guide.samples[margins.at(x + u, y + v)];
      sum += q * q;
      if (holes != nullptr) overlaps_hole |= holes[(y + v) * margins.width + x + u] != 0;
    }
  guide.norms[margins.at(x, y)] = overlaps_hole ? ~sum : sum;
}

/// Copies the union of the search windows to shared memory. The union begins at (x0, y0).
__device__ void load_words(const MatchJob& job, int x0, int y0, std::uint32_t* words) {
  const Margins& m = job.margins;
  for (int n = threadIdx.x; n < job.pitch * job.rows; n += blockDim.x) {
    const int y = min(max(y0 + n / job.pitch, 0), m.height - 1), x = x0 + n % job.pitch;
    std::uint32_t word = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      word |=
          static_cast<std::uint32_t>(job.guide.samples[m.at(min(max(x + k, 0), m.width - 1), y)])
          << (8 * k);
    words[n] = word;
  }
}

/// Computes the distances and the keys of all candidates of the reference patch at (x, y). `window`
/// is the first word of its search window.
__device__ __forceinline__ void find_keys(const MatchJob& job, int x, int y,
                                          const std::uint32_t* window, std::uint32_t* keys) {
  constexpr int slots = 8;  // number of candidates that a lane processes at once
  const Margins& m = job.margins;
  const int lane = threadIdx.x % 32, side = job.groups.sizes.side, width = job.groups.sizes.window;
  const int r = width / 2, candidates = width * width, words = (side + 3) / 4;
  const std::uint32_t last_mask = ~0u >> (8 * (4 * words - side));
  const std::uint32_t* const own = window + r * job.pitch + r;
  const int stored_norm = job.guide.norms[m.at(x, y)];
  const int own_norm = stored_norm < 0 ? ~stored_norm : stored_norm;  // may overlap a hole
  for (int first = 0; first < candidates; first += 32 * slots) {
    int place[slots], product[slots];
#pragma unroll
    for (int c = 0; c < slots; ++c) {
      const int position = min(first + 32 * c + lane, candidates - 1);
      place[c] = position / width * job.pitch + position % width;
      product[c] = 0;
    }
    for (int v = 0; v < side; ++v)
      for (int w = 0; w < words; ++w) {
        const int offset = v * job.pitch + 4 * w;
        const std::uint32_t a = own[offset] & (w == words - 1 ? last_mask : ~0u);
#pragma unroll
        for (int c = 0; c < slots; ++c)
          product[c] = static_cast<int>(
              __dp4a(a, window[place[c] + offset], static_cast<std::uint32_t>(product[c])));
      }
#pragma unroll
    for (int c = 0; c < slots; ++c) {
      const int position = first + 32 * c + lane;
      if (position >= job.keys) continue;
      const int cx = x + position % width - r, cy = y + position / width - r;
      std::uint32_t key = no_key;
      if (position < candidates && cx >= 0 && cy >= 0 && cx <= m.width - side &&
          cy <= m.height - side) {
        const int norm = job.guide.norms[m.at(cx, cy)];
        const auto d = static_cast<std::uint32_t>(own_norm + norm - 2 * product[c]);
        if (cx == x && cy == y)
          key = 0;
        else if (norm >= 0)
          key = min(d >> job.shift, max_distance) << index_bits | (position + 1);
      }
      keys[position] = key;
    }
  }
  __syncwarp();
}

__global__ void __launch_bounds__(32 * max_warps) match_kernel(const MatchJob job) {
  extern __shared__ std::uint32_t words[];
  const DeviceGroups& groups = job.groups;
  const ReferenceGrid& grid = groups.grid;
  const int warp = threadIdx.x / 32, r = groups.sizes.window / 2;
  const int i0 = blockIdx.x * across, j0 = blockIdx.y * down;
  const int x0 = grid.x(i0) - r, y0 = grid.y(j0) - r;
  load_words(job, x0, y0, words);
  __syncthreads();
  std::uint32_t* const keys = words + job.pitch * job.rows + warp * job.keys;
  for (int n = warp; n < across * down; n += static_cast<int>(blockDim.x) / 32) {
    const int i = i0 + n % across, j = j0 + n / across;
    if (i >= grid.count_x || j >= grid.count_y) continue;
    const int x = grid.x(i), y = grid.y(j);
    find_keys(job, x, y, words + (y - r - y0) * job.pitch + x - r - x0, keys);
    write_members(groups, static_cast<std::size_t>(j) * grid.count_x + i, keys, job.keys);
  }
}

}  // namespace

void quantise(const float* guide, const Margins& margins, const GuideRange& range, int side,
              const std::uint8_t* holes, const QuantisedGuide& to, cudaStream_t stream) {
  const dim3 block(32, 8);
  const float scale = static_cast<float>(guide_levels) / (range.high - range.low);
  quantise_kernel<<<blocks_of(margins, block), block, 0, stream>>>(guide, margins, range.low, scale,
                                                                   to.samples);
  norms_kernel<<<blocks_of(margins, block), block, 0, stream>>>(to, margins, side, holes);
  cuda::check(cudaGetLastError());
}

void match(const QuantisedGuide& guide, const Margins& margins, const DeviceGroups& groups,
           cudaStream_t stream) {
  const GroupSizes& sizes = groups.sizes;
  MatchJob job{.margins = margins, .guide = guide, .groups = groups};
  // With this stride, successive candidates are in successive memory banks, even across rows of the
  // search window.
  job.pitch = sizes.window + round_up((across - 1) * sizes.step + sizes.side + 2, 32);
  job.rows = (down - 1) * sizes.step + sizes.window + sizes.side - 1;
  job.keys = (sizes.window * sizes.window + 31) / 32 * 32;
  job.shift = distance_shift(sizes.side * sizes.side);
  const auto bytes = [&](int warps) {
    return sizeof(std::uint32_t) * (static_cast<std::size_t>(job.pitch) * job.rows +
                                    static_cast<std::size_t>(warps) * job.keys);
  };
  int warps = max_warps;
  while (warps > 1 && bytes(warps) > cuda::device_limits().dynamic_limit()) warps /= 2;
  cuda::allow_shared_memory(match_kernel);
  const dim3 blocks((groups.grid.count_x + across - 1) / across,
                    (groups.grid.count_y + down - 1) / down);
  match_kernel<<<blocks, 32 * warps, bytes(warps), stream>>>(job);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::linear
