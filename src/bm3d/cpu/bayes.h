#pragma once
// Phases by Bayes on the CPU (docs/how-it-works/best.md): what their stages hand to each
// other. Patches lie in two frames, and groups have up to 64 of them, so that they have a matcher
// of their own, in floats: it costs a tenth of the filter.
//   bayes_match.cpp    distances of a row of candidates
//   bayes_filter.cpp   a group's estimates, by products of small matrices
//   bayes_run.cpp      blocks of reference patches in parallel, tiles in a fixed order

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bm3d/cpu/tiles.h"
#include "bm3d/phase_engine.h"

namespace lull::bm3d::cpu {

/// Where a patch begins in the frames that it lies in; null where it lies in one alone.
using PatchAt = std::array<const float*, 2>;

/// Mean squared differences of the patch at `own` and `columns` candidates, one sample apart, from
/// `other` on. All planes have one stride.
struct RowOfCandidates {
  PatchAt own, other;
  std::ptrdiff_t stride;
  int side, columns;
};
void bayes_distances(const RowOfCandidates& row, float* distances);

/// A group on its way through the filter. Patches are rows of `pitch` floats, of which `samples`
/// count; there are `group` rows, of which `count` do.
struct BayesGroup {
  float* noisy;   // patches; becomes scratch
  float* basic;   // the basic estimate's patches, or null: the spectrum is that of `noisy`
  float* result;  // estimates
  float* scratch;
  int count, group, samples, pitch;
};
/// Samples of a row, with what vectors reach beyond.
constexpr int bayes_pitch(int samples) { return static_cast<int>(round_up(samples, 32)); }
inline constexpr int max_bayes_pitch = bayes_pitch(2 * max_wide_side * max_wide_side);
/// Of `scratch`: patches sample by sample, twice; three matrices of group x group.
inline constexpr std::size_t bayes_scratch_size =
    2 * max_bayes_pitch * max_large_group + 3 * max_large_group * max_large_group;
void bayes_estimate(const BayesGroup& group, float sigma, const BayesParams& params);

/// A patch that may become a member: of which pair of frames, and where.
struct BayesCandidate {
  std::uint32_t pair;
  std::int16_t x, y;
};
/// What a thread needs.
struct BayesWorkspace {
  Buffer<float> noisy, basic, result, scratch, distances;
  std::vector<BayesCandidate> candidates;
  std::vector<std::uint64_t> keys;  // a candidate's distance, then its number
};
/// What an engine keeps from one phase to the next.
struct BayesMemory {
  std::vector<BayesWorkspace> workspaces;  // one for each thread
};

/// A phase over the reference patches of one frame, from within the engine's arena.
void run_bayes(const PhaseInput& input, BayesMemory& memory, std::vector<Tile>& tiles);

}  // namespace lull::bm3d::cpu
