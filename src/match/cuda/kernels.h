#pragma once
// Launches of the matching kernels on `stream`. The functions neither allocate memory nor wait.

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

/// A batch: a rectangle of tiles of reference patches whose groups are in memory at the same time.
struct Batch {
  int x0 = 0, y0 = 0;  // column and row of the first tile
  int tiles_x = 0, tiles_y = 0;
};

/// The groups of one batch. A group has up to `capacity` displacements (group.h), in the order of
/// members. Tile b contains the reference patches 16 * b to 16 * b + 15.
struct Groups {
  std::uint32_t* displacements = nullptr;  // [reference][capacity]
  std::uint8_t* log2_count = nullptr;      // [reference]
  int capacity = 16;                       // group_capacity()
  /// log2 of the maximum number of members that the filter uses. A stored group (kept_groups.h) can
  /// be larger. The filter then uses only the first 2^max_log2 members.
  int max_log2 = 5;

  /// Returns the log2 of the number of members that the filter uses in a group.
  constexpr int log2_filtered(int reference) const {
    const int log2 = log2_count[reference];
    return log2 < max_log2 ? log2 : max_log2;
  }
  /// Returns a view of the groups without the first `references` groups.
  constexpr Groups after(std::size_t references) const {
    return {displacements + references * capacity, log2_count + references, capacity, max_log2};
  }
};
/// Returns the capacity of a group in members: 16 or 32.
constexpr int group_capacity(const MatchParams& phase) { return phase.group <= 16 ? 16 : 32; }

/// The 8-bit guide, and |p|^2 / 2 for each patch p of the guide. For patches partly outside the
/// picture, the value is `no_patch` instead.
struct Guide {
  const std::uint8_t* samples = nullptr;
  const std::int32_t* half_norms = nullptr;
  float scale = 1;  // guide sample = scale * (sample - offset)
  float offset = 0;
  /// |p|^2 / 2 for each candidate p in a frame with holes. The values equal `half_norms`, except
  /// for patches that overlap a hole: their value is `no_patch`. Null: the frame has no holes, and
  /// candidates use `half_norms`.
  const std::int32_t* candidate_norms = nullptr;
};
inline constexpr std::int32_t no_patch = 0x3fffffff;
/// Maximum of h, half of the sum of squared differences of two patches in the 8-bit guide. The
/// kernels convert h to the 16-bit score 65535 - h, and the score 0 means no candidate. The scale
/// of the guide must be so small that h does not exceed this maximum for distances up to tau.
inline constexpr int max_half_distance = 65534;
inline float max_guide_scale(float tau) {
  return 0.9999f * std::sqrt(max_half_distance / (0.5f * patch * patch * tau));
}

// ---- guides (guide.cu) ----

/// A plane of a guide: the weighted mean of an estimate and the noisy plane. `share` is the weight
/// of the noisy plane.
struct MixedPlane {
  const float* estimate = nullptr;
  const float* noisy = nullptr;  // may be null if `share` is 0
  float share = 0;
  constexpr float operator()(int at) const {
    return share == 0 ? estimate[at] : estimate[at] + share * (noisy[at] - estimate[at]);
  }
#ifdef __CUDACC__
  /// Returns the four samples at index `at`, a multiple of 4 along x. `noisy` must not be null,
  /// even if `share` is 0.
  __device__ float4 quad(int at) const {
    float4 e = *reinterpret_cast<const float4*>(estimate + at);
    const float4 n = *reinterpret_cast<const float4*>(noisy + at);
    e.x += share * (n.x - e.x), e.y += share * (n.y - e.y);
    e.z += share * (n.z - e.z), e.w += share * (n.w - e.w);
    return e;
  }
#endif
};
/// The guide of chroma (guide.h): weight[0] * chroma[0] + weight[1] * chroma[1], plus, if present,
/// luma averaged over 2^shift_x x 2^shift_y samples.
struct ColourGuide {
  MixedPlane luma;
  Margins luma_margins;
  int shift_x = 0, shift_y = 0;
  MixedPlane chroma[2];
  float weight[2] = {};
};
/// Computes the guide `mix` as floats, and writes it to `plane`.
void mix_guide(const ColourGuide& mix, const Margins& margins, float* plane, cudaStream_t stream);

/// The sums to which a phase adds weighted estimates. The kernel that makes the guide of the phase
/// sets these sums to 0.
struct ClearedSums {
  int planes = 0;
  std::array<Sums, max_planes> of{};
};
/// Makes an 8-bit guide from a plane, and computes |p|^2 / 2 for each patch p of this guide. Also
/// sets `sums`, the sums of weighted estimates of the next phase, to 0. The outputs `samples` (the
/// guide) and `half_norms` are padded.
void make_guide_and_clear_sums(const MixedPlane& plane, const Margins& margins, float scale,
                               float offset, std::uint8_t* samples, std::int32_t* half_norms,
                               const ClearedSums& sums, cudaStream_t stream);
void make_guide_and_clear_sums(const ColourGuide& mix, const Margins& margins, float scale,
                               float offset, std::uint8_t* samples, std::int32_t* half_norms,
                               const ClearedSums& sums, cudaStream_t stream);

/// Computes Guide::candidate_norms: `no_patch` where `invalid` (width * height bytes, row by row)
/// is not 0, and `half_norms` elsewhere.
void invalidate_candidates(const std::int32_t* half_norms, const std::uint8_t* invalid,
                           const Margins& margins, std::int32_t* candidate_norms,
                           cudaStream_t stream);

// ---- matching (match.cu) ----

void match(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
           const Batch& batch, const MatchParams& phase, const MatchPlan& plan,
           const Groups& groups, cudaStream_t stream);

// The following declarations are for matching in several frames.

/// A frame in which the kernels search for candidates.
struct SearchView {
  Guide guide;  // all frames have the same scale and offset
  /// Motion vectors from the reference frame to this frame, one for each motion block
  /// (time/motion.h). Null: no motion.
  const Motion* motion = nullptr;
};
using SearchFrame = FrameAt<SearchView>;

/// Finds the groups of a batch in several frames. The scale of the guides must be so small that a
/// score can represent distances up to tau + motion_bias (max_guide_scale()).
void match_over_time(std::span<const SearchFrame> frames, const Margins& margins,
                     const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
                     const MatchParams& phase, const TimePlan& plan, const Groups& groups,
                     cudaStream_t stream);

// ---- propagation ----

/// The groups of all reference patches whose complete windows the matcher searches (propagation.h),
/// stored as one batch.
struct KeptGroupsView {
  Groups groups;
  ReferenceGrid searched;
  constexpr int tiles_x() const {
    return (searched.count_x + reference_tile_side - 1) / reference_tile_side;
  }
};
/// Finds the groups of a batch by propagation (match/propagation.h). `frames` begins with the
/// reference frame.
void propagate(std::span<const SearchFrame> frames, const Margins& margins,
               const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
               const MatchParams& phase, const KeptGroupsView& kept, const Groups& groups,
               cudaStream_t stream);

}  // namespace lull
