#pragma once
// Collaborative filtering and aggregation of one batch, for the separable real transforms and white
// noise. Coloured noise has separate kernels (coloured_kernel.cuh), which distribute the
// coefficients of a group to the lanes in another way.

// A warp filters one group. The group is in registers, in half precision with two values per
// register. Each lane has one register for each patch.

// Step 1: Lane (g, t) = (lane / 4, lane % 4) loads the samples in column g, rows 2t and 2t + 1,
// from shared memory. For every patch, the samples in 8 columns of rows 0, 2, 4 and 6 are in 32
// different banks. The loads of step 1 and the additions of step 6 therefore have no bank
// conflicts.

// Step 2, vertical transform: A product on the tensor cores, with the transform matrix as left
// operand, processes two patches at a time. It gives lane (g, t) = (lane / 4, lane % 4) coefficient
// g of columns 2t and 2t + 1.

// Step 3, horizontal transform: A product with the transform matrix as right operand gives lane (g,
// t) = (lane / 4, lane % 4) the coefficients (g, 2t) and (g, 2t + 1).

// Step 4: The lane computes the transform across the group and the shrinkage from its own
// registers.

// Step 5, inverse transforms of the patches: A product with the transform matrix as left operand
// performs the horizontal transform. The vertical product then gives lane (g, t) = (lane / 4, lane
// % 4) column g, rows 2t and 2t + 1. The matrices contain the aggregation window, so the rows are
// weighted.

// Step 6: The lane adds the weighted rows to the sums.

// A thread block processes up to 8x8 neighbouring reference patches, or 8x4 for groups of 32. Its
// tile is the union of the search windows of these reference patches.

// Staging::shared: If the tile fits into shared memory, the thread block copies its samples to
// shared memory, and sums the estimates there in 32-bit fixed point. At the end, the block adds
// each sum to device memory once.

// Staging::direct: If the tile does not fit, the thread block reads samples from device memory and
// adds estimates directly to device memory. The results have the same bytes as with shared memory.

// Staging::sums: If groups contain patches of several frames, shared memory contains only the sums,
// with one tile per frame.

// The thread block subtracts one of its samples (the level) from all samples. Half precision then
// resolves the contrast of the block instead of its brightness. Differences are at most 511,
// because float samples are limited to this range (core/float_range.h).

// Scales of the transforms: Coefficients of patches are scaled by 8 / N, where N is the number of
// slots, and coefficients of groups are plain sums and differences. With these scales, sums of N
// patches fit into half precision. Thresholds and variances have the same scales.

// If a group has only M patches for N slots, each patch occupies N / M slots. The spectrum then
// consists of the spectrum of M patches, scaled by sqrt(N / M), and zeros.

#include "bm3d/cuda/filter/filter_plan.h"
#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/transform_tables.h"
#include "cuda/check.h"

namespace lull::bm3d {

// The range of the fixed-point sums in shared memory. A sample gets at most 1024 estimates, from 64
// groups of 16 patches or from 32 groups of 32 patches. Weights are at most 1, and estimates differ
// from mid_level by at most 128, or 255 for float samples. With value_scale = 2^13, a sum is at
// most 1024 * 128 * 2^13 = 2^30, or 2^31 for float samples.
inline constexpr float value_scale = 8192.0f;  // fixed-point scale of weighted sums
// Fixed-point scale of weights. The smallest weight, 1 / (32 * 64), becomes 32 on this scale.
inline constexpr float weight_scale = 65536.0f;
// The value that kernels subtract from estimates before the addition to the sums.
inline constexpr float mid_level = 128.0f;

namespace filter_detail {

// Types that represent the transforms in template arguments of the kernels.
struct Dct {};
struct Bior {};
struct Haar {};
struct WalshHadamard {};

/// The forward and the inverse matrix of a transform. Each lane copies the elements that it uses to
/// registers.
template <class Transform2d>
__device__ __constant__ const Matrix8<float> matrices[2] = {dct_forward<float>, dct_inverse<float>};
template <>
__device__ __constant__ const Matrix8<float> matrices<Bior>[2] = {bior_forward<float>,
                                                                  bior_inverse<float>};

}  // namespace filter_detail
}  // namespace lull::bm3d
