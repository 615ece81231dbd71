#pragma once
// The kernels that match, as functions that launch them. Everything is asynchronous on `stream`;
// nothing here allocates or waits. How they work stands at the head of each .cu file.

#include <cuda_runtime_api.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cuda/device_planes.h"
#include "match/cuda/match_plan.h"
#include "match/grid.h"
#include "match/group.h"
#include "match/match_params.h"
#include "match/motion_grid.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull {

/// Reference patches are handled in bricks of 4x4, which share what they load.
inline constexpr int brick_side = 4;
inline constexpr int brick_references = brick_side * brick_side;

/// A rectangle of bricks whose groups exist at the same time.
struct Batch {
  int x0 = 0, y0 = 0;  // first brick
  int bricks_x = 0, bricks_y = 0;
};

/// Groups of one batch: for each reference patch log2 of the number of patches, and up to
/// `capacity` displacements from the reference patch, packed as group.h says. The reference patch
/// comes first, then rising distances. Brick b of the batch holds references 16 b .. 16 b + 15.
struct Groups {
  std::uint32_t* displacements = nullptr;  // [reference][capacity]
  std::uint8_t* log2_count = nullptr;      // [reference]
  int capacity = 16;                       // group_capacity()
  /// log2 of the members that are filtered at most: of kept groups (kept_groups.h) the first alone.
  int most_log2 = 5;

  /// log2 of how many members of a reference's group are filtered.
  constexpr int log2_filtered(int reference) const {
    const int log2 = log2_count[reference];
    return log2 < most_log2 ? log2 : most_log2;
  }
  /// Those behind the first `references`.
  constexpr Groups after(std::size_t references) const {
    return {displacements + references * capacity, log2_count + references, capacity, most_log2};
  }
};
/// Places in memory for a group's patches: the kernels work on 16 or 32.
constexpr int group_capacity(const MatchParams& phase) { return phase.group <= 16 ? 16 : 32; }

/// The picture in which patches are matched, as 8-bit samples, and half the squared norm of the
/// patch at each place (`no_patch` where a patch would leave the picture).
struct Guide {
  const std::uint8_t* samples = nullptr;
  const std::int32_t* half_norms = nullptr;
  float scale = 1;  // guide sample = scale * (sample - offset)
  float offset = 0;
  /// half_norms with `no_patch` also where a patch reaches into a hole, for candidates; null:
  /// those.
  const std::int32_t* candidate_norms = nullptr;
};
inline constexpr std::int32_t no_patch = 0x3fffffff;
/// Half the squared distance between patches of a guide up to which match() tells them apart: its
/// scale must be such that tau lies below.
inline constexpr int max_half_distance = 65534;
inline float greatest_scale(float tau) {
  return 0.9999f * std::sqrt(max_half_distance / (0.5f * patch * patch * tau));
}

// ---- pictures to match in (guide.cu) ----

/// A plane to match in: an estimate with a share of the noisy plane.
struct MixedPlane {
  const float* estimate = nullptr;
  const float* noisy = nullptr;  // may be null where `share` is 0
  float share = 0;
  constexpr float operator()(int at) const {
    return share == 0 ? estimate[at] : estimate[at] + share * (noisy[at] - estimate[at]);
  }
#ifdef __CUDACC__
  /// Four samples from a multiple of 4 on, of a plane that has a noisy one: no branch keeps their
  /// loads from those of others.
  __device__ float4 quad(int at) const {
    float4 e = *reinterpret_cast<const float4*>(estimate + at);
    const float4 n = *reinterpret_cast<const float4*>(noisy + at);
    e.x += share * (n.x - e.x), e.y += share * (n.y - e.y);
    e.z += share * (n.z - e.z), e.w += share * (n.w - e.w);
    return e;
  }
#endif
};
/// The picture in which chroma is matched (guide.h): weight[0] * first + weight[1] * second, plus,
/// if given, luma averaged over boxes of 2^shift_x by 2^shift_y samples, cut at the right and lower
/// edge.
struct ColourGuide {
  MixedPlane luma;
  Margins luma_margins;
  int shift_x = 0, shift_y = 0;
  MixedPlane chroma[2];
  float weight[2] = {};
};
/// As a plane of floats.
void mix_guide(const ColourGuide& mix, const Margins& margins, float* plane, cudaStream_t stream);

/// Sums to be cleared on the way.
struct ClearedSums {
  int planes = 0;
  std::array<Sums, max_planes> of{};
};
/// The 8-bit guide of a plane, and its norms. `samples` and `half_norms` have the planes' margins,
/// and so have the sums, which are cleared for the phase that begins, within the picture.
void make_guide_and_clear_sums(const MixedPlane& plane, const Margins& margins, float scale,
                               float offset, std::uint8_t* samples, std::int32_t* half_norms,
                               const ClearedSums& sums, cudaStream_t stream);
void make_guide_and_clear_sums(const ColourGuide& mix, const Margins& margins, float scale,
                               float offset, std::uint8_t* samples, std::int32_t* half_norms,
                               const ClearedSums& sums, cudaStream_t stream);

/// Guide::candidate_norms: no_patch where `barred` (row by row, width * height bytes) is not 0.
void bar_candidates(const std::int32_t* half_norms, const std::uint8_t* barred,
                    const Margins& margins, std::int32_t* candidate_norms, cudaStream_t stream);

// ---- grouping (match.cu) ----

void match(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
           const Batch& batch, const MatchParams& phase, const MatchPlan& plan,
           const Groups& groups, cudaStream_t stream);

// ---- grouping over frames (match_time.cu) ----

/// A frame that is searched.
struct SearchView {
  Guide guide;                     // all of one scale and offset
  const Motion* motion = nullptr;  // to this frame, for each cell (motion.h); null: none
};
using SearchFrame = FrameAt<SearchView>;

/// As match(), over frames: the first holds the reference patches, the others follow in the order
/// of group.h. The guides' scale must be such that tau and place_bonus together fit.
void match_over_time(std::span<const SearchFrame> frames, const Margins& margins,
                     const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                     const MatchParams& phase, const TimePlan& plan, const Groups& groups,
                     cudaStream_t stream);

// ---- groups from those of others (propagate.cu) ----

/// The groups of all reference patches that searched, as one batch.
struct KeptGroupsView {
  Groups groups;
  ReferenceGrid searched;
  constexpr int bricks_x() const { return (searched.count_x + brick_side - 1) / brick_side; }
};
/// The groups of a batch (match/propagation.h). The guides are as for match() and
/// match_over_time(); `frames`: the own one alone for frames by themselves.
void propagate(std::span<const SearchFrame> frames, const Margins& margins,
               const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
               const MatchParams& phase, const KeptGroupsView& kept, const Groups& groups,
               cudaStream_t stream);

}  // namespace lull
