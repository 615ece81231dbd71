#pragma once
// Collaborative filtering and aggregation of one batch, for the separable real transforms and white
// noise. For coloured noise, see coloured_kernel.cuh.

// A warp filters one group in registers, in half precision with two values per register. In the
// steps below, g is lane / 4, and t is lane % 4.

// Step 1: Lane 4g + t loads rows 2t and 2t + 1 of column g of each patch from shared memory. The
// layout of the rows avoids bank conflicts.

// Step 2, vertical transform: A matrix product on the tensor cores processes two patches at a time.
// Lane 4g + t then has coefficient g of columns 2t and 2t + 1.

// Step 3, horizontal transform: After a matrix product, lane 4g + t has the coefficients (g, 2t)
// and (g, 2t + 1).

// Step 4: Each lane computes the transform across the group and the shrinkage in its own registers.

// Step 5, inverse transforms of the patches: Two matrix products transform a patch back, and
// multiply it by the aggregation window. Lane 4g + t then has rows 2t and 2t + 1 of column g.

// Step 6: Each lane adds its rows, multiplied by the weight of the group, to the sums.

// A thread block processes up to 8x8 neighbouring reference patches, or 8x4 for groups of 32. Its
// tile is the union of their search windows.

// Staging::shared: The thread block copies its tile to shared memory, sums the estimates in shared
// memory in 32-bit fixed point, and adds each sum to device memory once.

// Staging::direct: The tile does not fit into shared memory. The thread block reads from and adds
// to device memory directly. The results are bit-identical to the results with a tile in shared
// memory.

// Staging::sums: Groups contain patches of several frames. Shared memory contains only the sums,
// with one tile per frame.

// The thread block subtracts one value from all samples: the value of one sample of its tile. The
// differences are small, so their rounding errors in half precision are small even in bright areas.
// Differences are at most 511 (core/float_range.h).

// Scales of the transforms: A kernel transforms N patches across the group, where N is 8, 16 or 32.
// The kernel scales the coefficients of the patches by 8 / N, so that sums of N patches fit into
// half precision.

// If a group has only M < N patches, the kernel fills the transform with N / M copies of each
// patch. The nonzero coefficients are then the coefficients of the M patches, multiplied by sqrt(N
// / M).

#include "bm3d/cuda/filter/filter_plan.h"
#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/transform_tables.h"
#include "cuda/check.h"

namespace lull::bm3d {

// Range of the fixed-point sums in shared memory: At most 1024 estimates contribute to a sample (64
// groups of 16 patches, or 32 groups of 32). Weights are at most 1, and estimates differ from
// mid_level by at most 128, or 255 for float samples. Sums are therefore at most 1024 * 128 *
// value_scale = 2^30, or 2^31 for float samples.
inline constexpr float value_scale = 8192.0f;  // fixed-point scale of weighted sums
// Fixed-point scale of weights. The smallest weight, 1 / (32 * 64), becomes 32 on this scale.
inline constexpr float weight_scale = 65536.0f;
// Offset that kernels subtract from estimates before the addition to the sums.
inline constexpr float mid_level = 128.0f;

namespace filter_detail {

// Tag types of the transforms, as template arguments of the kernels.
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
