// Computes guides (weighted sums of planes, quantised to 8 bits) and the norms of their patches.

// For the norm of a patch, the kernel needs sums of squares over 8 columns. Each lane sums the
// squares of its 4 columns over the rows of a patch. The prefix sums of three lanes then give the
// sum over any 8 columns.

#include "cuda/boxes.cuh"
#include "cuda/check.h"
#include "match/cuda/guide_pictures.cuh"
#include "match/cuda/kernels.h"

namespace lull {
namespace {

constexpr dim3 mix_block{32, 8};  // thread block
static_assert(box_reach == patch - 1);
using GuideBoxes = Boxes<8, 4>;

/// Clamps a sample to 0..255 and rounds to nearest: adding 2^23 moves the rounded sample to the
/// lowest byte.
__device__ __forceinline__ std::uint32_t to_byte(float sample) {
  return __float_as_uint(fminf(fmaxf(sample, 0.0f), 255.0f) + 8388608.0f);
}

__device__ __forceinline__ std::uint32_t to_word(const float4& v, float scale, float offset) {
  const std::uint32_t low =
      __byte_perm(to_byte((v.x - offset) * scale), to_byte((v.y - offset) * scale), 0x0040);
  const std::uint32_t high =
      __byte_perm(to_byte((v.z - offset) * scale), to_byte((v.w - offset) * scale), 0x0040);
  return __byte_perm(low, high, 0x5410);
}

/// The position of the four samples of a lane.
struct LanePlace {
  int lane;
  int word;  // index of the word in the plane's row
  int x, y;  // position in the picture or in its padding
};

/// Stores four samples of the guide, and |p|^2 / 2 for each of the four patches p at these samples.
__device__ __forceinline__ void store_guide(const std::uint32_t (&tile)[GuideBoxes::tile_rows][32],
                                            const LanePlace& p, const Margins& margins,
                                            std::uint32_t* samples, std::int32_t* half_norms) {
  constexpr int rows = GuideBoxes::rows;
  // Number of patches inside the picture that begin in a row at p.x or further to the right.
  const int patches = p.x < 0 ? 0 : margins.width - patch + 1 - p.x;
  std::int32_t invalid[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) invalid[k] = k < patches ? 0 : no_patch;
  const bool stores = p.lane < box_words && p.word < margins.pitch / 4;
  const int first = threadIdx.x / 32 * rows;

  std::uint32_t squares[rows + box_reach + 1][4] =
      {};  // sums over samples 0..k of the word, over all rows so far
#pragma unroll
  for (int i = 0; i < rows + box_reach; ++i) {
    const std::uint32_t word = tile[first + i][p.lane];
    if (i < rows && stores && p.y + i + margins.top < margins.rows)
      samples[(p.y + i + margins.top) * (margins.pitch / 4) + p.word] = word;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      squares[i + 1][k] = __dp4a(word & 0xffffffffu >> (24 - 8 * k), word, squares[i][k]);
    if (i < box_reach) continue;

    std::uint32_t own[4];  // sum over 8 rows
#pragma unroll
    for (int k = 0; k < 4; ++k) own[k] = squares[i + 1][k] - squares[i - box_reach][k];
    const std::uint32_t both = own[3] + __shfl_down_sync(~0u, own[3], 1);
    const int y = p.y + i - box_reach;
    const std::int32_t invalid_row = y >= 0 && y <= margins.height - patch ? 0 : no_patch;
    int4 norms;  // below 2^22, so that the marker `no_patch` contains all bits of a norm
    norms.x = static_cast<int>(both / 2) | invalid[0] | invalid_row;
    const auto norm = [&](int k) {
      const std::uint32_t beyond = __shfl_down_sync(~0u, own[k - 1], 2);
      return static_cast<int>((both - own[k - 1] + beyond) / 2) | invalid[k] | invalid_row;
    };
    norms.y = norm(1), norms.z = norm(2), norms.w = norm(3);
    if (stores && y + margins.top < margins.rows)
      *reinterpret_cast<int4*>(half_norms + margins.at(p.x, y)) = norms;
  }
}

/// Clears the sums of estimates inside the picture. No kernel uses the sums in the padding.
__device__ __forceinline__ void clear(const LanePlace& p, const Margins& margins,
                                      const ClearedSums& sums) {
  if (p.lane >= box_words) return;
  const int top = max(p.y, 0), rows = min(p.y + GuideBoxes::rows, margins.height) - top;
  // Each lane clears two adjacent numerators at a time, for coalesced stores. The numerators of a
  // lane are therefore in other columns than the denominators of the lane.
  const int left = p.x - 2 * p.lane, right = left + box_width / 2;
  const int end = (margins.width + 3) / 4 * 4;  // sums are read four at a time
  const auto inside = [&](int x) { return x >= 0 && x < end; };
  const bool clears = inside(p.x), clears_left = inside(left), clears_right = inside(right);
#pragma unroll
  for (int k = 0; k < max_planes; ++k) {
    if (k >= sums.planes) break;
    std::uint32_t* denominator = sums.of[k].denominator + margins.at(p.x, top);
    unsigned long long* numerator = sums.of[k].numerator + margins.at(left, top);
#pragma unroll 4
    for (int i = 0; i < rows; ++i, denominator += margins.pitch, numerator += margins.pitch) {
      if (clears) *reinterpret_cast<uint4*>(denominator) = make_uint4(0, 0, 0, 0);
      const ulonglong2 zeros = make_ulonglong2(0, 0);
      if (clears_left) *reinterpret_cast<ulonglong2*>(numerator) = zeros;
      if (clears_right) *reinterpret_cast<ulonglong2*>(numerator + box_width / 2) = zeros;
    }
  }
}

/// Makes the 8-bit guide, and computes |p|^2 / 2 for each patch p of the guide, including the
/// padding. Also clears `sums`, the sums of the next phase.
template <class Picture>
__global__ void __launch_bounds__(GuideBoxes::threads)
    guide_kernel(const Picture picture, Margins margins, float scale, float offset,
                 std::uint32_t* samples, std::int32_t* half_norms, ClearedSums sums) {
  __shared__ std::uint32_t tile[GuideBoxes::tile_rows][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int word = blockIdx.x * box_words + lane, x = 4 * word - margins.left;
  const int y0 = blockIdx.y * GuideBoxes::height - margins.top;
  // Number of samples in the lane's word that are inside the picture.
  const int inside = x < 0 ? 0 : min(max(margins.width - x, 0), 4);
  const std::uint32_t mask = inside == 0 ? 0u : 0xffffffffu >> (32 - 8 * inside);
  // The kernel loads all rows before it uses the first row. The kernel clamps positions outside the
  // picture, so that the loads need no branches.
  const int nearest_x = min(max(x, 0), (margins.width - 1) / 4 * 4);
  float4 v[GuideBoxes::passes];
#pragma unroll
  for (int i = 0; i < GuideBoxes::passes; ++i) {
    const int y = y0 + i * GuideBoxes::warps + warp;
    v[i] = picture.quad(margins, nearest_x, min(max(y, 0), margins.height - 1));
  }
#pragma unroll
  for (int i = 0; i < GuideBoxes::passes; ++i) {
    const int row = i * GuideBoxes::warps + warp, y = y0 + row;
    const bool is_inside = y >= 0 && y < margins.height;
    if (row < GuideBoxes::tile_rows)
      tile[row][lane] = is_inside ? to_word(v[i], scale, offset) & mask : 0;
  }
  __syncthreads();

  const LanePlace place{lane, word, x, y0 + warp * GuideBoxes::rows};
  store_guide(tile, place, margins, samples, half_norms);
  clear(place, margins, sums);
}

/// Computes the guide as floats, four samples in each thread.
template <class Picture>
__global__ void mix_kernel(const Picture picture, Margins margins, float* plane) {
  const int x = 4 * static_cast<int>(blockIdx.x * mix_block.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * mix_block.y + threadIdx.y);
  if (x >= margins.width || y >= margins.height) return;
  const float4 v = picture.quad(margins, x, y);
  const float of[4] = {v.x, v.y, v.z, v.w};
  for (int k = 0; k < min(4, margins.width - x); ++k) plane[margins.at(x, y) + k] = of[k];
}

/// Excludes patches that overlap a hole: sets their norm to `no_patch`, in the picture and in the
/// padding.
__global__ void invalidate_kernel(const std::int32_t* half_norms, const std::uint8_t* invalid,
                                  Margins margins, std::int32_t* candidate_norms) {
  const int column = static_cast<int>(blockIdx.x * mix_block.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * mix_block.y + threadIdx.y);
  if (column >= margins.pitch || row >= margins.rows) return;
  const int x = column - margins.left, y = row - margins.top, at = margins.at(x, y);
  const bool inside = x >= 0 && y >= 0 && x < margins.width && y < margins.height;
  const bool is_invalid = inside && invalid[y * margins.width + x] != 0;
  candidate_norms[at] = is_invalid ? no_patch : half_norms[at];
}

}  // namespace

void invalidate_candidates(const std::int32_t* half_norms, const std::uint8_t* invalid,
                           const Margins& margins, std::int32_t* candidate_norms,
                           cudaStream_t stream) {
  const dim3 grid((margins.pitch + mix_block.x - 1) / mix_block.x,
                  (margins.rows + mix_block.y - 1) / mix_block.y);
  invalidate_kernel<<<grid, mix_block, 0, stream>>>(half_norms, invalid, margins, candidate_norms);
  cuda::check(cudaGetLastError());
}

namespace {

template <class Picture>
void launch_guide(const Picture& picture, const Margins& margins, float scale, float offset,
                  std::uint8_t* samples, std::int32_t* half_norms, const ClearedSums& sums,
                  cudaStream_t stream) {
  guide_kernel<<<GuideBoxes::covering(margins.pitch, margins.rows), GuideBoxes::threads, 0,
                 stream>>>(picture, margins, scale, offset,
                           reinterpret_cast<std::uint32_t*>(samples), half_norms, sums);
  cuda::check(cudaGetLastError());
}

}  // namespace

void make_guide_and_clear_sums(const MixedPlane& plane, const Margins& margins, float scale,
                               float offset, std::uint8_t* samples, std::int32_t* half_norms,
                               const ClearedSums& sums, cudaStream_t stream) {
  if (plane.share == 0)
    launch_guide(PurePlane{plane.estimate}, margins, scale, offset, samples, half_norms, sums,
                 stream);
  else
    launch_guide(SharedPlane{plane}, margins, scale, offset, samples, half_norms, sums, stream);
}

void make_guide_and_clear_sums(const ColourGuide& mix, const Margins& margins, float scale,
                               float offset, std::uint8_t* samples, std::int32_t* half_norms,
                               const ClearedSums& sums, cudaStream_t stream) {
  with_picture(mix, [&](const auto& picture) {
    launch_guide(picture, margins, scale, offset, samples, half_norms, sums, stream);
  });
}

void mix_guide(const ColourGuide& mix, const Margins& margins, float* plane, cudaStream_t stream) {
  const dim3 grid((margins.width + 4 * mix_block.x - 1) / (4 * mix_block.x),
                  (margins.height + mix_block.y - 1) / mix_block.y);
  with_picture(mix, [&](const auto& picture) {
    mix_kernel<<<grid, mix_block, 0, stream>>>(picture, margins, plane);
  });
  cuda::check(cudaGetLastError());
}

}  // namespace lull
