#pragma once
// Collaborative filtering and aggregation of one batch, for the separable real transforms.
//
// A warp filters one group, which stays in its registers in half precision, two values per
// register. Lane (g, t) = (lane / 4, lane % 4) has one register per patch:
//   1. Samples: column g, rows 2t and 2t + 1, loaded from shared memory. For any patch, the four
//      rows 2t of a tile and their 8 columns are in 32 different banks, so that neither these loads
//      nor the additions of step 6 have bank conflicts.
//   2. Vertical transform: a product on the tensor cores with the matrix as left operand, for two
//      patches at a time. It gives coefficient g of columns 2t and 2t + 1.
//   3. Horizontal transform: a product with the matrix as right operand. It gives coefficients (g,
//      2t) and (g, 2t + 1).
//   4. The transform across the group is plain code on the registers of its patches, and so is the
//      shrinkage.
//   5. The inverse transforms, in another order: first horizontally, with the matrix as left
//      operand, which gives column g of coefficients 2t and 2t + 1, then vertically, which gives
//      column g, rows 2t and 2t + 1. The results are weighted, because the matrices contain the
//      aggregation window.
//   6. The results are added to the sums.
// Coloured noise has separate kernels (coloured_kernel.cuh). In these kernels, a lane has other
// coefficients, namely those whose variances it computes.
//
// A thread block processes up to 8x8 neighbouring reference patches, 8x4 with groups of 32. If
// shared memory is large enough for the union of their windows, samples are read from a tile in
// shared memory, and estimates are summed there in 32-bit fixed point. At the end, each sum is
// added to device memory once (`Staging::shared`). If shared memory is smaller, samples are read
// from device memory and estimates are added there directly. Both ways give the same bytes. If
// groups extend over several frames, shared memory has space for the sums at most, with one tile
// per frame (`Staging::sums`).
//
// Numbers: One sample of the block is the level that is subtracted from all others, so that half
// precision resolves the contrast of the block and not its level; flat pictures are exact.
// Differences are at most 511; float samples are kept within that range (core/float_range.h). The
// transforms are scaled so that sums of N patches fit: coefficients of patches are scaled by 8 / N,
// and coefficients of groups are plain sums and differences. Thresholds and variances are scaled to
// match. If a group has M < N patches, each patch is repeated N / M times. The result is the
// transform of M patches scaled by sqrt(N / M), and zeros.

#include "bm3d/cuda/filter/filter_plan.h"
#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/transform_tables.h"
#include "cuda/check.h"

namespace lull::bm3d {

// Fixed point: In shared memory a sample gets estimates from at most 64 groups of 16 patches, or 32
// groups of 32 patches. The weights are at most 1, so a sum is at most 1024 * 128 * 2^13 = 2^30, or
// 2^31 for float samples, which differ from mid_level by up to 255.
inline constexpr float value_scale = 8192.0f;  // fixed-point scale of weighted sums
// Fixed-point scale of weights. The smallest weight, 1 / (32 * 64), is stored as 32.
inline constexpr float weight_scale = 65536.0f;
// This level is subtracted from values before they are summed.
inline constexpr float mid_level = 128.0f;

namespace filter_detail {

// Transforms, as types with which kernels are instantiated.
struct Dct {};
struct Bior {};
struct Haar {};
struct WalshHadamard {};

/// The forward and the inverse matrix of a transform. Each lane copies the elements that it needs
/// to registers.
template <class Transform2d>
__device__ __constant__ const Matrix8<float> matrices[2] = {dct_forward<float>, dct_inverse<float>};
template <>
__device__ __constant__ const Matrix8<float> matrices<Bior>[2] = {bior_forward<float>,
                                                                  bior_inverse<float>};

}  // namespace filter_detail
}  // namespace lull::bm3d
