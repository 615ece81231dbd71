#pragma once
// Data of the stages of a Bayes phase on the CPU (docs/how-it-works/best.md). Bayes phases have
// their own matcher, because their patches span two frames.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bm3d/cpu/tiles.h"
#include "bm3d/phase_engine.h"

namespace lull::bm3d::cpu {

/// Pointers to the top-left samples of a patch in its one or two frames. The second pointer is null
/// for a patch in one frame.
using PatchAt = std::array<const float*, 2>;

/// Parameters of bayes_distances(): the patch at `own` and a row of adjacent candidates from
/// `other` on. All planes have the same stride.
struct RowOfCandidates {
  PatchAt own, other;
  std::ptrdiff_t stride;
  int side, columns;
};
void bayes_distances(const RowOfCandidates& row, float* distances);

/// Parameters of bayes_estimate(). Each array has `group` rows of `pitch` floats. The first `count`
/// rows contain patches of `samples` samples.
struct BayesGroup {
  float* noisy;   // patches; they are overwritten
  float* basic;   // patches of the basic estimate; null: the spectrum is that of `noisy`
  float* result;  // estimates
  float* scratch;
  int count, group, samples, pitch;
};
/// Returns the pitch of an array of patches, in floats, with padding for vector accesses.
constexpr int bayes_pitch(int samples) { return static_cast<int>(round_up(samples, 32)); }
inline constexpr int max_bayes_pitch = bayes_pitch(2 * max_wide_side * max_wide_side);
/// Number of floats in `scratch`: two arrays of patches in the order [sample][member], and three
/// matrices of group x group elements.
inline constexpr std::size_t bayes_scratch_size =
    2 * max_bayes_pitch * max_large_group + 3 * max_large_group * max_large_group;
void bayes_estimate(const BayesGroup& group, float sigma, const BayesParams& params);

/// A candidate: its frame pair, and its position in the first frame of the pair.
struct BayesCandidate {
  std::uint32_t pair;
  int x, y;
};
/// Scratch memory of one thread.
struct BayesWorkspace {
  Buffer<float> noisy, basic, result, scratch, distances;
  std::vector<BayesCandidate> candidates;
  // Sort keys of candidates: the distance in the upper half, the candidate index in the lower half.
  std::vector<std::uint64_t> keys;
};
/// Memory that an engine retains between phases.
struct BayesMemory {
  std::vector<BayesWorkspace> workspaces;  // one element for each thread
};

/// Runs a Bayes phase on the reference patches of one frame. The caller must be inside the TBB
/// arena of the engine.
void run_bayes(const PhaseInput& input, BayesMemory& memory, std::vector<Tile>& tiles);

}  // namespace lull::bm3d::cpu
