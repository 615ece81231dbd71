// Generic matching of cubes, for parameters and GPUs that match_tile.cu does not support. A warp
// processes one reference cube at a time.

// Shared memory contains two words for each position in the union of the search windows. For the
// cube b at this position, one word contains the first row (four bytes of the guide), and the other
// word contains |b|^2 / 2.

// The kernel computes |a - b|^2 / 2 = |a|^2 / 2 + |b|^2 / 2 - a.b, with one dp4a for each row. a is
// a reference cube, and b is a candidate. All distances stay in registers.

// To select the members, the kernel first finds the largest distance in the group by a binary
// search over bits. If too many candidates have this distance, the kernel takes those with the
// lowest positions in the search window.

#include "bm4d/cuda/kernels.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm4d::cuda {
namespace {

constexpr int warps = 8, threads = 32 * warps;
constexpr unsigned all_lanes = 0xffffffffu;
constexpr std::uint32_t no_distance = 0xffffffffu;  // distance of a position without a candidate
constexpr int distance_bits = 16;  // bits of a valid distance, which is less than best_score

/// The union of the search windows of the reference cubes of a thread block.
struct Tile {
  int side;           // reference cubes along an axis
  int width, height;  // number of candidate positions along x and y
  int slices;
  // Number of words of the tile along each axis. The word of a position contains four bytes, a
  // complete row of the cube at this position. Therefore, the tile needs no additional words along
  // x. Along y and z, cubes extend beyond their positions, so `words_y` and `words_z` include
  // additional rows and slices.
  int words_x, words_y, words_z;

  static constexpr Tile of(const PhaseParams& p, int window, int side) {
    const int reach = p.step * (side - 1) + window;
    const int more = p.cube - 1;
    return {side, reach, reach, window, reach, reach + more, window + more};
  }
  constexpr int words() const { return words_x * words_y * words_z; }
  constexpr int places() const { return width * height * slices; }
  /// Returns the size of shared memory in bytes. Shared memory contains the words of the guide,
  /// |b|^2 / 2 for each cube b, and a list of members for each warp.
  constexpr std::size_t bytes() const {
    return sizeof(std::uint32_t) * (words() + places()) +
           sizeof(unsigned long long) * warps * (max_group + 1);
  }
};

__device__ __forceinline__ int count_in_warp(int count) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(all_lanes, count);
#else
  for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(all_lanes, count, step);
  return count;
#endif
}

/// Returns four bytes of a row from `from` on. `left` is the number of samples from `from` to the
/// end of the row. Bytes after the end of the row are 0.
__device__ __forceinline__ std::uint32_t word_at(const std::uint8_t* from, int left) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    if (i < left) word |= static_cast<std::uint32_t>(from[i]) << (8 * i);
  return word;
}

template <int radius, int cube>
class WarpSearch {
 public:
  static constexpr int window = 2 * radius + 1;
  // A column contains all candidates with the same displacement along x and z.
  static constexpr int columns = window * window;
  static constexpr int rounds = (columns + 31) / 32;

  /// `words` and `norms` point to the origin of the tile.
  __device__ WarpSearch(const Tile& tile, const std::uint32_t* words, const int* norms)
      : tile_(tile), words_(words), norms_(norms), lane_(threadIdx.x % 32) {}

  /// Computes the distances of all candidates from the reference cube at (x, y) of the tile. `low`
  /// and `high` are the limits of displacements.
  __device__ void find_distances(int x, int y, int3 low, int3 high) {
    const auto* reference = words_ + (radius * tile_.words_y + y) * tile_.words_x + x;
    const int own_norm = norms_[(radius * tile_.height + y) * tile_.width + x];
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      const int column = 32 * round + lane_;
      const int dx = column % window - radius, dz = column / window - radius;
      const bool in =
          column < columns && dx >= low.x && dx <= high.x && dz >= low.z && dz <= high.z;
      int products[window];
#pragma unroll
      for (int i = 0; i < window; ++i) products[i] = 0;
      // A lane without a column of candidates processes the reference cube itself, so that all
      // loads are valid.
      const int u = x + (in ? dx : 0), w = radius + (in ? dz : 0);
#pragma unroll 1  // unrolling would need too many registers
      for (int c = 0; c < cube; ++c) {
        std::uint32_t own[cube];
#pragma unroll
        for (int b = 0; b < cube; ++b) own[b] = reference[(c * tile_.words_y + b) * tile_.words_x];
        const auto* from = words_ + (w + c) * tile_.words_y * tile_.words_x + u;
#pragma unroll
        for (int row = 0; row < window + cube - 1; ++row) {
          // Rows with v < 0 are above the volume, and the tile does not contain them.
          const int v = y - radius + row;
          const std::uint32_t word = v >= 0 && v < tile_.words_y ? from[v * tile_.words_x] : 0;
#pragma unroll
          for (int b = 0; b < cube; ++b)
            if (row - b >= 0 && row - b < window)
              products[row - b] =
                  static_cast<int>(__dp4a(word, own[b], static_cast<unsigned>(products[row - b])));
        }
      }
#pragma unroll
      for (int i = 0; i < window; ++i) {
        const int dy = i - radius;
        const bool candidate = in && dy >= low.y && dy <= high.y && (dx | dy | dz) != 0;
        distance_[round][i] = no_distance;
        if (candidate) {
          const int norm = norms_[(w * tile_.height + y + dy) * tile_.width + u];
          const int distance = max(0, norm + own_norm - products[i]);
          if (distance < best_score) distance_[round][i] = static_cast<std::uint32_t>(distance);
        }
      }
    }
  }

  /// Selects at most `wanted` candidates, and writes them to `members` in the order of cubes.h.
  /// Returns their number.
  __device__ int select(int wanted, unsigned long long* members) {
    const int found = count([](std::uint32_t d, int) { return d != no_distance; });
    const int most = min(wanted, found);
    if (most == 0) return 0;
    // A binary search finds the largest distance in the group. If too many candidates have this
    // distance, a second search finds the last accepted position.
    std::uint32_t bound = 0;
#pragma unroll 1
    for (int bit = distance_bits - 1; bit >= 0; --bit) {
      const std::uint32_t more = bound | 1u << bit;
      if (count([&](std::uint32_t d, int) { return d < more; }) < most) bound = more;
    }
    const int nearer = count([&](std::uint32_t d, int) { return d < bound; });
    const int equal = count([&](std::uint32_t d, int) { return d == bound; });
    int last = window * window * window;
    if (nearer + equal > most) {
      last = 0;
#pragma unroll 1
      for (int bit = 11; bit >= 0; --bit) {
        const int more = last | 1 << bit;
        const int before = count([&](std::uint32_t d, int at) { return d == bound && at < more; });
        if (before < most - nearer) last = more;
      }
    }
    int written = 0;
#pragma unroll
    for (int round = 0; round < rounds; ++round)
#pragma unroll
      for (int i = 0; i < window; ++i) {
        const std::uint32_t d = distance_[round][i];
        const int at = place(round, i);
        const bool in = d < bound || (d == bound && at <= last);
        const unsigned ballot = __ballot_sync(all_lanes, in);
        if (in)
          members[written + __popc(ballot & ((1u << lane_) - 1))] =
              static_cast<unsigned long long>(d) << 12 | static_cast<unsigned>(at);
        written += __popc(ballot);
      }
    __syncwarp();
    // Each lane determines the rank of one member.
    const unsigned long long mine = lane_ < most ? members[lane_] : ~0ull;
    int rank = 0;
    for (int i = 0; i < most; ++i) rank += members[i] < mine ? 1 : 0;
    __syncwarp();
    if (lane_ < most) members[rank] = mine;
    __syncwarp();
    return most;
  }

  __device__ static std::uint32_t offset_of(unsigned long long member) {
    const int at = static_cast<int>(member & 0xfff);
    return pack_offset(at % window - radius, at / window % window - radius,
                       at / (window * window) - radius);
  }

 private:
  /// Returns the index of a candidate in the search window. The index increases by 1 along x, by
  /// `window` along y, and by `window` * `window` along z.
  __device__ int place(int round, int row) const {
    const int column = 32 * round + lane_;
    return (column / window * window + row) * window + column % window;
  }

  template <class Which>
  __device__ int count(Which which) const {
    int own = 0;
#pragma unroll
    for (int round = 0; round < rounds; ++round)
#pragma unroll
      for (int i = 0; i < window; ++i) own += which(distance_[round][i], place(round, i)) ? 1 : 0;
    return count_in_warp(own);
  }

  Tile tile_;
  const std::uint32_t* words_;
  const int* norms_;
  int lane_;
  std::uint32_t distance_[rounds][window];
};

__device__ int position(int index, int length, const PhaseParams& p) {
  return min(index * p.step, length - p.cube);
}

/// Returns the number of thread blocks whose distances fit in the registers of a multiprocessor.
constexpr int blocks_together(int radius) { return radius <= 3 ? 3 : radius <= 5 ? 2 : 1; }

/// The generic matching kernel. `radius` is at least the radius of the search window.
template <int radius, int cube>
__global__ void __launch_bounds__(threads, blocks_together(radius))
    match_kernel(Ring<std::uint8_t> guide, Margins margins, ReferenceCubes cubes, Tile tile,
                 std::uint32_t* groups) {
  extern __shared__ unsigned long long memory[];
  unsigned long long* const members = memory;
  auto* const words = reinterpret_cast<std::uint32_t*>(members + warps * (max_group + 1));
  auto* const norms = reinterpret_cast<int*>(words + tile.words());
  const PhaseParams& p = cubes.params;
  const int first_i = blockIdx.x * tile.side, first_j = blockIdx.y * tile.side;
  const int z = cubes.z + static_cast<int>(blockIdx.z) * p.step;
  // Origin of the tile along x and y. Along z, the tile begins `radius` slices before the reference
  // cubes.
  const int tile_x = max(0, position(first_i, margins.width, p) - radius);
  const int tile_y = max(0, position(first_j, margins.height, p) - radius);
  for (int i = threadIdx.x; i < tile.words(); i += threads) {
    const int x = tile_x + i % tile.words_x, y = tile_y + i / tile.words_x % tile.words_y;
    const int slice = z - radius + i / (tile.words_x * tile.words_y);
    const bool in = x < margins.width && y < margins.height && slice >= cubes.available.first &&
                    slice < cubes.available.end;
    std::uint32_t word = 0;
    if (in) word = word_at(guide.at(slice) + margins.at(x, y), min(cube, margins.width - x));
    words[i] = word;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < tile.places(); i += threads) {
    const int x = i % tile.width, y = i / tile.width % tile.height,
              slice = i / (tile.width * tile.height);
    unsigned sum = 0;
    for (int c = 0; c < cube; ++c)
      for (int b = 0; b < cube; ++b) {
        const std::uint32_t word = words[((slice + c) * tile.words_y + y + b) * tile.words_x + x];
        sum = __dp4a(word, word, sum);
      }
    norms[i] = static_cast<int>(sum >> 1);
  }
  __syncthreads();

  WarpSearch<radius, cube> search(tile, words, norms);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = warp; k < tile.side * tile.side; k += warps) {
    const int i = first_i + k % tile.side, j = first_j + k / tile.side;
    if (i >= cubes.columns || j >= cubes.rows) continue;
    const int x = position(i, margins.width, p), y = position(j, margins.height, p);
    const int r = p.radius();
    const int3 low = make_int3(max(-x, -r), max(-y, -r), max(cubes.available.first - z, -r));
    const int3 high = make_int3(min(margins.width - cube - x, r), min(margins.height - cube - y, r),
                                min(cubes.available.end - cube - z, r));
    search.find_distances(x - tile_x, y - tile_y, low, high);
    unsigned long long* const own = members + warp * (max_group + 1);
    const int found = search.select(p.group - 1, own);
    const int count = 1 << (31 - __clz(found + 1));  // a power of two
    std::uint32_t* const group =
        groups +
        (static_cast<std::size_t>(blockIdx.z * cubes.rows + j) * cubes.columns + i) * p.group;
    if (lane < p.group)
      group[lane] = lane == 0      ? static_cast<std::uint32_t>(count) << 24
                    : lane < count ? WarpSearch<radius, cube>::offset_of(own[lane - 1])
                                   : 0u;
    __syncwarp();
  }
}

template <int radius, int cube>
void launch(const Ring<std::uint8_t>& guide, const Margins& margins, const ReferenceCubes& cubes,
            std::uint32_t* groups, cudaStream_t stream) {
  auto* const kernel = match_kernel<radius, cube>;
  const std::size_t most =
      static_cast<std::size_t>(lull::cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  constexpr int window = 2 * radius + 1;
  int side = 4;
  while (side > 1 && Tile::of(cubes.params, window, side).bytes() > most - 1024) side /= 2;
  const Tile tile = Tile::of(cubes.params, window, side);
  lull::cuda::allow_shared_memory(kernel);
  const dim3 blocks((cubes.columns + side - 1) / side, (cubes.rows + side - 1) / side,
                    cubes.layers);
  kernel<<<blocks, threads, tile.bytes(), stream>>>(guide, margins, cubes, tile, groups);
  lull::cuda::check(cudaGetLastError());
}

template <int cube>
void launch(const Ring<std::uint8_t>& guide, const Margins& margins, const ReferenceCubes& cubes,
            std::uint32_t* groups, cudaStream_t stream) {
  const int radius = cubes.params.radius();
  if (radius <= 3)
    launch<3, cube>(guide, margins, cubes, groups, stream);
  else if (radius <= 5)
    launch<5, cube>(guide, margins, cubes, groups, stream);
  else
    launch<7, cube>(guide, margins, cubes, groups, stream);
}

}  // namespace

void detail::find_groups_generic(const Guide& guide, const Margins& margins,
                                 const ReferenceCubes& cubes, std::uint32_t* groups,
                                 cudaStream_t stream) {
  if (cubes.params.cube == 3)
    launch<3>(guide.samples, margins, cubes, groups, stream);
  else
    launch<4>(guide.samples, margins, cubes, groups, stream);
}

}  // namespace lull::bm4d::cuda
