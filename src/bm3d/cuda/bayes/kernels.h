#pragma once
// Launches the kernels of the Bayes phases (docs/how-it-works/best.md) on `stream`, without
// allocation or synchronisation.

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "bm3d/params.h"
#include "cuda/device_planes.h"
#include "match/group.h"
#include "match/motion_grid.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::bm3d {

/// The two frames that a candidate spans. distance[i] is the signed offset, in elements, from a
/// plane of the reference frame to its counterpart in frame i.
struct BayesPair {
  int offset = 0;  // offset of the first frame, in frames
  std::ptrdiff_t distance[2] = {0, 0};
  /// Motion vectors from the reference frame to the two frames of the pair, one for each motion
  /// block (time/motion.h). Null: all vectors are zero.
  const Motion* motion[2] = {nullptr, nullptr};
};

/// The work of one launch: `rows` rows of reference patches, from row `first_row` of the grid on.
struct BayesArgs {
  Margins margins;
  MotionGrid grid;  // `grid.step` is the distance between reference patches
  int side = 8;     // side of a patch
  int depth = 2;    // number of frames over which a patch extends
  int columns = 0;  // number of reference patches in a row of the grid
  int first_row = 0, rows = 0;
  int pairs = 1;
  std::array<BayesPair, max_frames> pair;
  /// For each frame pair except the first, the displacements from the position of a candidate in
  /// the first frame to its position in the second frame (match/second_half.h). Null: all
  /// displacements are zero.
  Motion* second_half = nullptr;  // [pair - 1][bundle]
  /// The members of each group in the format of pack_displacement(), and the number of members.
  std::uint32_t* members = nullptr;  // [reference][group]
  std::uint8_t* counts = nullptr;    // [reference]
};

/// Computes BayesArgs::second_half for all rows of reference patches (second_half.cu). `guide` is a
/// plane of floats of the reference frame.
void bayes_second_halves(const BayesArgs& args, const float* guide, cudaStream_t stream);

/// Finds the groups of the most similar patches in `guide`, a plane of floats of the reference
/// frame (match.cu).
void bayes_match(const BayesArgs& args, const BayesParams& params, const float* guide,
                 cudaStream_t stream);

/// A plane to be filtered. The pointers refer to the reference frame.
struct BayesPlane {
  const float* noisy = nullptr;
  const float* basic = nullptr;  // null: the spectrum is that of the noisy patches
  /// For each sample, the fixed-point sum of its estimates (filter.cuh), and the number of patches
  /// that begin at the sample.
  Sums sums;
  float sigma = 0;
};
/// Filters the groups and adds the estimates to the sums (filter.cu). If `plane.basic` is not null,
/// `params.group` must be 32.
void bayes_filter(const BayesArgs& args, const BayesParams& params, const BayesPlane& plane,
                  cudaStream_t stream);

/// Computes the mean of the estimates of each sample (finish.cu). If `blended` is not null, the
/// result is share * mean + (1 - share) * blended. `blended` may equal `estimate`.
void bayes_normalise(const Sums& sums, const Margins& margins, int side, const float* blended,
                     float share, float* estimate, cudaStream_t stream);

}  // namespace lull::bm3d
