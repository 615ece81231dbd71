#pragma once
// Data that the stages of a Bayes phase on the CPU exchange (docs/how-it-works/best.md). Bayes
// phases have their own matcher, because their patches span two frames and their groups have up to
// 64 members.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bm3d/cpu/tiles.h"
#include "bm3d/phase_engine.h"

namespace lull::bm3d::cpu {

/// Pointers to the first samples of a patch in each of its frames. The second pointer is null if
/// the patch is in only one frame.
using PatchAt = std::array<const float*, 2>;

/// Parameters of bayes_distances(), which computes the mean squared differences between the patch
/// at `own` and the candidates of a row. The first candidate is at `other`, and each further
/// candidate begins one sample to the right. All planes have the same stride.
struct RowOfCandidates {
  PatchAt own, other;
  std::ptrdiff_t stride;
  int side, columns;
};
void bayes_distances(const RowOfCandidates& row, float* distances);

/// Parameters of bayes_estimate(), which filters one group. Row i of an array contains the
/// `samples` samples of patch i and padding up to `pitch` floats. Each array has `group` rows, of
/// which the first `count` rows contain patches.
struct BayesGroup {
  float* noisy;   // patches; they are overwritten
  float* basic;   // patches of the basic estimate; null: the spectrum is that of `noisy`
  float* result;  // estimates
  float* scratch;
  int count, group, samples, pitch;
};
/// Returns the row length of an array of patches, in floats. It includes padding for vector
/// accesses.
constexpr int bayes_pitch(int samples) { return static_cast<int>(round_up(samples, 32)); }
inline constexpr int max_bayes_pitch = bayes_pitch(2 * max_wide_side * max_wide_side);
/// Number of floats in the array `scratch`, which contains two arrays of patches in the order
/// [sample][member], and three matrices of group x group elements.
inline constexpr std::size_t bayes_scratch_size =
    2 * max_bayes_pitch * max_large_group + 3 * max_large_group * max_large_group;
void bayes_estimate(const BayesGroup& group, float sigma, const BayesParams& params);

/// A candidate: the index of the pair of frames over which the patch extends, and the position of
/// the patch in the first of these frames.
struct BayesCandidate {
  std::uint32_t pair;
  std::int16_t x, y;
};
/// Scratch memory of one thread.
struct BayesWorkspace {
  Buffer<float> noisy, basic, result, scratch, distances;
  std::vector<BayesCandidate> candidates;
  // Sort keys of candidates: the upper half contains the distance, and the lower half the index of
  // the candidate.
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
