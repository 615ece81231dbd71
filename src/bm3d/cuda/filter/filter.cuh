#pragma once
// Collaborative filtering and aggregation of one batch, for the separable real transforms.
//
// A warp filters one group, which never leaves its registers, in half precision, two values to a
// register. Of each patch a lane (g, t) = (lane / 4, lane % 4) has one register:
//   1. samples: column g, rows 2t and 2t + 1, as loaded from shared memory. Four rows 2t of a tile
//      and their 8 columns lie in 32 different banks, of any patch, so that neither these loads nor
//      the additions of step 6 conflict;
//   2. after the vertical transform, a product on the tensor cores with the matrix in front, two
//      patches at a time: coefficient g of columns 2t and 2t + 1;
//   3. after the horizontal one, a product with the matrix behind: coefficients (g, 2t) and
//      (g, 2t + 1);
//   4. the transform across the group is plain code on the registers of its patches, and so is the
//      shrinkage;
//   5. back, the other way round: first horizontally, with the matrix in front, which gives column
//      g of coefficients 2t and 2t + 1, then vertically: column g, rows 2t and 2t + 1, weighted, as
//      the aggregation window is part of the matrices;
//   6. these are added to the sums.
// Noise that is not white has kernels of its own (coloured_kernel.cuh), in which lanes hold other
// coefficients: those whose variances they get.
//
// A thread block takes up to 8x8 neighbouring reference patches, 8x4 with groups of 32. Where
// shared memory is large enough for the union of their windows, samples are read from a tile there
// and estimates are added up there, in 32-bit fixed point, with one addition for each sample to
// device memory at the end (`Staging::shared`); else samples come from and sums go to device memory
// directly. Both give the same bytes. Over frames there is room for the sums at most, a tile for
// each frame (`Staging::sums`).
//
// Numbers. Samples enter as the difference from one sample of the block, so that half precision
// resolves the contrast of the block and not its level; flat pictures are exact. These are up to
// 511 each, which float samples are kept to (core/float_range.h). Transforms are scaled so that
// sums of N patches fit: coefficients of patches by 8 / N, and those of groups are plain sums and
// differences; thresholds and variances are scaled to match. Fewer than N patches: each of the M
// stands N / M times, which is the transform of M scaled by sqrt(N / M), the rest zeros.

#include "bm3d/cuda/filter/filter_plan.h"
#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/transform_tables.h"
#include "cuda/check.h"

namespace lull::bm3d {

// Fixed point. In shared memory meet at a sample at most 64 groups of 16 patches or 32 of 32, whose
// weights are at most 1: 1024 * 128 * 2^13 = 2^30; for float samples, up to 255 from mid_level,
// 2^31.
inline constexpr float value_scale = 8192.0f;    // of weighted sums, in units of the 0..255 scale
inline constexpr float weight_scale = 65536.0f;  // of weights; at least 2^16 / (32 * 64) = 32
inline constexpr float mid_level = 128.0f;       // values are summed as differences from it

namespace filter_detail {

// Transforms, as types that kernels are made for.
struct Dct {};
struct Bior {};
struct Haar {};
struct WalshHadamard {};

/// Matrices of both transforms, read by the lanes at their own indices.
template <class Transform2d>
__device__ __constant__ const Matrix8<float> matrices[2] = {dct_forward<float>, dct_inverse<float>};
template <>
__device__ __constant__ const Matrix8<float> matrices<Bior>[2] = {bior_forward<float>,
                                                                  bior_inverse<float>};

}  // namespace filter_detail
}  // namespace lull::bm3d
