#pragma once
// Collaborative filtering and aggregation of one batch, for the separable real transforms.
//
// A warp filters one group. The group is in registers, in half precision with two values per
// register. Lane (g, t) = (lane / 4, lane % 4) has one register per patch:
//   1. The lane loads the samples in column g, rows 2t and 2t + 1, from shared memory. For any
//      patch, the samples in 8 columns of the rows 0, 2, 4 and 6 are in 32 different banks.
//      Therefore neither these loads nor the additions of step 6 have bank conflicts.
//   2. Vertical transform: a product on the tensor cores, with the transform matrix as left
//      operand, processes two patches at a time. It gives coefficient g of columns 2t and 2t + 1.
//   3. Horizontal transform: a product with the transform matrix as right operand gives the
//      coefficients (g, 2t) and (g, 2t + 1).
//   4. The lane computes the transform across the group and the shrinkage from its own registers.
//   5. Inverse transforms: the horizontal product comes first, with the transform matrix as left
//      operand, and gives column g of coefficients 2t and 2t + 1. Then the vertical product gives
//      column g, rows 2t and 2t + 1. The matrices contain the aggregation window, so the results
//      are weighted.
//   6. The lane adds the results to the sums.
// Coloured noise has separate kernels (coloured_kernel.cuh), in which a lane contains the
// coefficients whose variances it computes.
//
// A thread block processes up to 8x8 neighbouring reference patches, or 8x4 with groups of 32. If
// the union of their windows fits into shared memory, the block copies its samples to a tile in
// shared memory, and sums estimates there in 32-bit fixed point. At the end, the block adds each
// sum to device memory once (`Staging::shared`). If the union does not fit, the block reads samples
// from device memory and adds estimates directly to device memory. The results have the same bytes
// in both cases. If groups contain patches of several frames, shared memory contains only the sums,
// with one tile per frame (`Staging::sums`), or nothing.
//
// Numbers: the block subtracts one of its samples (the level) from all samples, so that half
// precision resolves the contrast of the block instead of its level. Differences are at most 511,
// because float samples are limited to this range (core/float_range.h). The transforms are scaled
// so that sums of N patches fit: coefficients of patches are scaled by 8 / N, and coefficients of
// groups are plain sums and differences. Thresholds and variances have corresponding scales. If a
// group has M < N patches, each patch is repeated N / M times. The spectrum then consists of the
// spectrum of M patches, scaled by sqrt(N / M), and zeros.

#include "bm3d/cuda/filter/filter_plan.h"
#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/transform_tables.h"
#include "cuda/check.h"

namespace lull::bm3d {

// Range of the fixed-point sums in shared memory. A sample gets at most 1024 estimates, from 64
// groups of 16 patches or from 32 groups of 32 patches. The weights are at most 1, and estimates
// differ from mid_level by at most 128, or 255 for float samples. With value_scale = 2^13, a sum is
// therefore at most 1024 * 128 * 2^13 = 2^30, or 2^31 for float samples.
inline constexpr float value_scale = 8192.0f;  // fixed-point scale of weighted sums
// Fixed-point scale of weights. With this scale, the smallest weight, 1 / (32 * 64), becomes 32.
inline constexpr float weight_scale = 65536.0f;
// The sample value that kernels subtract from estimates before they add the estimates to the sums.
inline constexpr float mid_level = 128.0f;

namespace filter_detail {

// The transforms as types, which are template arguments of the kernels.
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
