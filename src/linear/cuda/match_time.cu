// Finds similar patches in several frames for linear combinations of patches (definition:
// linear/params.h). match.cu describes the distances and the selection of the group members. The
// reference patches of a thread block have the same motion vectors.

// The thread block processes its search windows frame by frame or, for two-frame patches, in pairs
// of frames. The keys of all frames remain in shared memory.

// A lane computes the distances of candidates in neighbouring rows of one column. A shift register
// of words of the reference patch lets the lane load each word only once.

#include <algorithm>

#include "core/error.h"
#include "core/round_up.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"
#include "linear/cuda/kernels_time.h"
#include "linear/cuda/match_members.cuh"
#include "linear/cuda/time_motion.cuh"
#include "linear/groups.h"

namespace lull::linear {
namespace {

constexpr int across = 4, down = 2, references = across * down;
static_assert(motion_columns % across == 0 && motion_rows % down == 0);
/// A layout assigns the candidates of a search window to the lanes of a warp. In each pass, a lane
/// computes the distances of `rows` vertically adjacent candidates. columns() is the number of
/// lanes side by side: 16 in OwnLayout, and the window's width in OtherLayout.
struct OwnLayout {  // the window in the frame of the reference patches
  static constexpr int rows = 4, passes = 2, max_window = 15;
  static constexpr int pitch = 44;  // rows of lanes read in different memory banks
  static constexpr int columns(int) { return 16; }
};
struct OtherLayout {  // the windows in other frames
  static constexpr int rows = 3, passes = 1, max_window = 9;
  static constexpr int pitch = 35;
  static constexpr int columns(int window) { return window; }
};
static_assert(4 * OwnLayout::pitch % 32 == 16 && 3 * OtherLayout::pitch % 32 == 9);

/// Number of words in a column of a reference patch, including padding. The kernel processes four
/// rows at a time, so words with the value 0 follow the last row of the patch.
constexpr int column_words = 16;
static_assert(max_side + OwnLayout::rows - 1 <= column_words);
constexpr int max_columns = 2 * ((max_pair_side + 3) / 4);  // word columns in two frames
static_assert(max_columns >= (max_side + 3) / 4);

struct TimeMatchJob {
  TimeMatchArgs args;
  int words;  // number of words in shared memory for the windows in one frame
  int keys;   // number of candidates, rounded up to complete warps
};

struct MatchMemory {
  // Samples of the reference patches, in words of four horizontally neighbouring samples, column by
  // column.
  alignas(16) std::uint32_t own[references][max_columns * column_words];
  BlockMotion motion;
};

/// The search windows of a thread block in one frame.
struct FrameWindows {
  int window, pitch;
  int left, top;  // position of the first candidate of the first reference patch

  __device__ FrameWindows(const TimeMatchJob& job, const BlockMotion& motion, int f, int x, int y) {
    const GroupSizes& sizes = job.args.groups.sizes;
    window = f == 0 ? sizes.window : sizes.temporal_window;
    pitch = f == 0 ? OwnLayout::pitch : OtherLayout::pitch;
    left = x + motion.centre[f].x - window / 2;
    top = y + motion.centre[f].y - window / 2;
  }
};

/// Copies the search windows of a frame to shared memory, as words (match.cu). Samples outside the
/// picture are arbitrary.
__device__ __forceinline__ void load_words(const TimeMatchJob& job, const FrameWindows& at,
                                           const std::uint8_t* guide, std::uint32_t* words) {
  const Margins& m = job.args.margins;
  const GroupSizes& sizes = job.args.groups.sizes;
  const int columns = (across - 1) * sizes.step + at.window - 1 + (sizes.side + 3) / 4 * 4 - 3;
  const int rows = (down - 1) * sizes.step + at.window + sizes.side - 1;
  for (int row = threadIdx.x / 32; row < rows; row += references) {
    const int y = min(max(at.top + row, 0), m.height - 1);
    const std::uint8_t* const from = guide + m.at(0, y);
    for (int column = threadIdx.x % 32; column < columns; column += 32) {
      const int x = at.left + column;
      // The function loads two words from a 4-byte boundary. Sample (0, y) is at a 4-byte boundary,
      // so sample (x & ~3, y) is also at a 4-byte boundary.
      const int aligned = min(max(x & ~3, -m.left), m.pitch - m.left - 8);
      const auto* const pair = reinterpret_cast<const std::uint32_t*>(from + aligned);
      words[row * at.pitch + column] = __funnelshift_r(pair[0], pair[1], 8 * (x & 3));
    }
  }
}

/// Copies the words of the reference patch of this warp from the search windows. (u, v) is the
/// offset of the reference patch from the first reference patch of the block.
__device__ __forceinline__ void load_reference(const TimeMatchJob& job, const FrameWindows& at,
                                               int u, int v, int halves,
                                               const std::uint32_t* windows, std::uint32_t* own) {
  const int side = job.args.groups.sizes.side, in_row = (side + 3) / 4;
  const std::uint32_t last_mask = ~0u >> (8 * (4 * in_row - side));
  const std::uint32_t* const from = windows + (v + at.window / 2) * at.pitch + u + at.window / 2;
  for (int n = threadIdx.x % 32; n < halves * in_row * column_words; n += 32) {
    const int row = n % column_words, column = n / column_words;
    const int half = column / in_row, w = column - half * in_row;
    std::uint32_t word = 0;
    if (row < side)
      word = from[half * job.words + row * at.pitch + 4 * w] & (w == in_row - 1 ? last_mask : ~0u);
    own[n] = word;
  }
  __syncwarp();
}

/// Computes the inner products of the reference patch with `Rows` vertically adjacent patches. The
/// first word of these patches is at `from`. The function multiplies words beyond the search
/// windows by zeros.
template <int Rows>
__device__ __forceinline__ void multiply_patches(const TimeMatchJob& job, int pitch, int halves,
                                                 const std::uint32_t* from,
                                                 const std::uint32_t* own, int (&product)[Rows]) {
  const int side = job.args.groups.sizes.side, in_row = (side + 3) / 4;
  for (int half = 0; half < halves; ++half)
    for (int w = 0; w < in_row; ++w) {
      const std::uint32_t* column = from + half * job.words + 4 * w;
      const auto* four = reinterpret_cast<const uint4*>(own);
      own += column_words;
      std::uint32_t word_of[Rows] = {};  // word_of[r] belongs to patch r
      for (int row = 0; row < side + Rows - 1; row += 4, ++four) {
        const uint4 next = *four;
        const std::uint32_t words[4] = {next.x, next.y, next.z, next.w};
#pragma unroll
        for (int k = 0; k < 4; ++k, column += pitch) {
#pragma unroll
          for (int r = Rows - 1; r > 0; --r) word_of[r] = word_of[r - 1];
          word_of[0] = words[k];
          const std::uint32_t sample = *column;
#pragma unroll
          for (int r = 0; r < Rows; ++r)
            product[r] = static_cast<int>(
                __dp4a(word_of[r], sample, static_cast<std::uint32_t>(product[r])));
        }
      }
    }
}

/// Computes the keys of all candidates in frame `f`. (u, v) is the offset of the reference patch
/// from the first reference patch of the thread block.
template <class Layout>
__device__ __forceinline__ void find_frame_keys(const TimeMatchJob& job, const FrameWindows& at,
                                                int f, int halves, int u, int v, int own_norm,
                                                const std::uint32_t* windows,
                                                const std::uint32_t* own, std::uint32_t* keys) {
  const TimeMatchArgs& a = job.args;
  const Margins& m = a.margins;
  const GroupSizes& sizes = a.groups.sizes;
  const int lane = threadIdx.x % 32, side = sizes.side, window = at.window;
  const int columns = Layout::columns(window), first = first_index(sizes, f);
  const int shift = distance_shift(sizes.samples(halves));
  const std::uint32_t bonus = a.bonus[halves - 1];
  for (int pass = 0; pass < Layout::passes; ++pass) {
    const int task = 32 * pass + lane;
    const int column = task % columns, row = task / columns * Layout::rows;
    int product[Layout::rows] = {};
    const bool is_inside = column < window && row < window;
    const int place = is_inside ? (v + row) * Layout::pitch + u + column : 0;
    multiply_patches(job, Layout::pitch, halves, windows + place, own, product);
#pragma unroll
    for (int r = 0; r < Layout::rows; ++r) {
      if (!is_inside || row + r >= window) continue;
      const int position = (row + r) * window + column;
      const int x = at.left + u + column, y = at.top + v + row + r;
      const bool is_centre = position == window * window / 2;
      std::uint32_t key = no_key;
      if (f == 0 && is_centre) {
        key = 0;  // the reference patch
      } else if (x >= 0 && y >= 0 && x <= m.width - side && y <= m.height - side) {
        int norm = a.guides[f].norms[m.at(x, y)];
        if (halves == 2) norm += a.guides[a.frames.partner[f]].norms[m.at(x, y)];
        auto distance = static_cast<std::uint32_t>(own_norm + norm - 2 * product[r]);
        if (is_centre) distance -= min(distance, bonus);
        key = min(distance >> shift, max_distance) << index_bits |
              static_cast<std::uint32_t>(first + position);
      }
      keys[first - 1 + position] = key;
    }
  }
  __syncwarp();
}

__global__ void __launch_bounds__(32 * references)
    match_time_kernel(const __grid_constant__ TimeMatchJob job) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& block = *reinterpret_cast<MatchMemory*>(memory);
  auto* const windows = reinterpret_cast<std::uint32_t*>(memory + sizeof(block));
  const TimeMatchArgs& a = job.args;
  const DeviceGroups& groups = a.groups;
  const ReferenceGrid& grid = groups.grid;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int i0 = blockIdx.x * across, j0 = blockIdx.y * down;
  const int i = i0 + warp % across, j = j0 + warp / across;
  const bool exists = i < grid.count_x && j < grid.count_y;
  const int x0 = grid.x(i0), y0 = grid.y(j0), x = grid.x(i), y = grid.y(j);
  find_motion(a.frames, grid, i0, j0, block.motion);
  const int halves = block.motion.halves;
  std::uint32_t* const keys = windows + 2 * job.words + warp * job.keys;
  for (int n = lane; n < job.keys; n += 32) keys[n] = no_key;
  int own_norm = a.guides[0].norms[a.margins.at(x, y)];
  if (halves == 2) own_norm += a.guides[a.frames.partner[0]].norms[a.margins.at(x, y)];
  for (int f = 0; f < a.frames.count; ++f) {
    if (!has_candidates(a.frames, f, halves)) continue;
    const FrameWindows at(job, block.motion, f, x0, y0);
    __syncthreads();
    load_words(job, at, a.guides[f].samples, windows);
    if (halves == 2)
      load_words(job, at, a.guides[a.frames.partner[f]].samples, windows + job.words);
    __syncthreads();
    if (!exists) continue;
    std::uint32_t* const own = block.own[warp];
    if (f == 0) {
      load_reference(job, at, x - x0, y - y0, halves, windows, own);
      find_frame_keys<OwnLayout>(job, at, f, halves, x - x0, y - y0, own_norm, windows, own, keys);
    } else {
      find_frame_keys<OtherLayout>(job, at, f, halves, x - x0, y - y0, own_norm, windows, own,
                                   keys);
    }
  }
  if (exists) write_members(groups, static_cast<std::size_t>(j) * grid.count_x + i, keys, job.keys);
}

}  // namespace

void match_over_time(const TimeMatchArgs& args, cudaStream_t stream) {
  const GroupSizes& sizes = args.groups.sizes;
  const int columns = (across - 1) * sizes.step + (sizes.side + 3) / 4 * 4 - 4;  // and the window
  if (sizes.window > OwnLayout::max_window || sizes.temporal_window > OtherLayout::max_window ||
      columns + sizes.window > OwnLayout::pitch ||
      columns + sizes.temporal_window > OtherLayout::pitch)
    throw InternalError("a search window over time that exceeds the kernel's; report it");
  TimeMatchJob job{.args = args, .words = 0, .keys = 0};
  // multiply_patches() reads four rows at a time, so it also reads rows below the search windows.
  const auto words = [&]<class Layout>(Layout, int window) {
    const int last = (down - 1) * sizes.step + round_up(window, Layout::rows) - Layout::rows;
    return Layout::pitch * (last + round_up(sizes.side + Layout::rows - 1, 4));
  };
  job.words = round_up(
      std::max(words(OwnLayout{}, sizes.window), words(OtherLayout{}, sizes.temporal_window)), 32);
  job.keys = round_up(first_index(sizes, args.frames.count) - 1, 32);
  const std::size_t bytes =
      sizeof(MatchMemory) + sizeof(std::uint32_t) * (2 * job.words + references * job.keys);
  cuda::allow_shared_memory(match_time_kernel);
  const ReferenceGrid& grid = args.groups.grid;
  const dim3 blocks((grid.count_x + across - 1) / across, (grid.count_y + down - 1) / down);
  match_time_kernel<<<blocks, 32 * references, bytes, stream>>>(job);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::linear
