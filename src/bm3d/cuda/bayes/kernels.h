#pragma once
// Phases by Bayes on a GPU (docs/how-it-works/best.md), as functions that launch their
// kernels. Everything is asynchronous on `stream`; nothing here allocates or waits. How they work
// stands at the head of each .cu file.

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "bm3d/params.h"
#include "cuda/device_planes.h"
#include "match/group.h"
#include "match/motion_grid.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::bm3d {

/// A frame that patches begin in, and the one that they reach into: by their distance, in elements,
/// from the planes of the reference patches' frame to theirs.
struct BayesPair {
  int offset = 0;  // of the first, in frames
  int distance[2] = {0, 0};
  const Motion* motion[2] = {nullptr, nullptr};  // to them, for each cell; null: none
};

/// What is searched and filtered: the reference patches in rows first_row .. first_row + rows - 1
/// of the grid.
struct BayesArgs {
  Margins margins;
  MotionGrid grid;  // its step is that of the reference patches
  int side = 8;     // of a patch
  int depth = 2;    // frames that it lies in
  int columns = 0;  // reference patches in a row
  int first_row = 0, rows = 0;
  int pairs = 1;
  std::array<BayesPair, max_frames> pair;
  /// How far beside the first halves of candidates the second ones lie, for the pairs but the first
  /// (match/second_half.h); null: nowhere.
  Motion* second_half = nullptr;  // [pair - 1][bundle]
  /// Of each reference patch: members, as pack_displacement() has them, and how many.
  std::uint32_t* members = nullptr;  // [reference][group]
  std::uint8_t* counts = nullptr;    // [reference]
};

/// Decides args.second_half, for all rows, in `guide`, a plane of floats of the reference patches'
/// frame (second_half.cu).
void bayes_second_halves(const BayesArgs& args, const float* guide, cudaStream_t stream);

/// Groups of the most similar patches of `guide`, a plane of floats of the reference patches' frame
/// (match.cu).
void bayes_match(const BayesArgs& args, const BayesParams& params, const float* guide,
                 cudaStream_t stream);

/// A plane on its way through the filter. Pointers are to the reference patches' frame.
struct BayesPlane {
  const float* noisy = nullptr;
  const float* basic = nullptr;  // null: the spectrum is that of the noisy patches
  Sums sums;                     // numerators in the unit of filter.cuh, patches that begin there
  float sigma = 0;
};
/// Filters the groups and adds the estimates (filter.cu). With `basic` groups have 32 patches.
void bayes_filter(const BayesArgs& args, const BayesParams& params, const BayesPlane& plane,
                  cudaStream_t stream);

/// The mean of all estimates of a sample; where `blended` is given, which may be `estimate`,
/// `share` of it and the rest of that (finish.cu).
void bayes_normalise(const Sums& sums, const Margins& margins, int side, const float* blended,
                     float share, float* estimate, cudaStream_t stream);

}  // namespace lull::bm3d
