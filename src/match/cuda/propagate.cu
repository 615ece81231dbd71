// Makes groups by propagation (match/propagation.h), one reference patch in each warp, 32
// candidates at a time.

// Each lane computes the dot product of one candidate and the reference patch. A key contains the
// candidate index in the order of propagation.h.

// Warps share no data and do not synchronise, so that their loads overlap.

#include <algorithm>

#include "cuda/check.h"
#include "match/cuda/match_tables.cuh"
#include "match/propagation.h"

namespace lull {
namespace {

using namespace match_detail;

static_assert(max_propagated == 32, "a member for each lane");

/// Divides integers below 2^24 by a divisor of at most 256. The division takes one multiplication.
struct Divisor {
  std::uint32_t inverse = 0;  // 2^32 / divisor, rounded up; 0: the divisor is 1
  Divisor() = default;
  explicit Divisor(int divisor)
      : inverse(static_cast<std::uint32_t>(((1ull << 32) + divisor - 1) / divisor)) {}
  __device__ int quotient(int n) const {
    return inverse == 0 ? n : static_cast<int>(__umulhi(static_cast<std::uint32_t>(n), inverse));
  }
};

/// Arguments of the propagation kernel. In `samples`, `half_norms` and `motion`, the element at
/// index dt + max_temporal belongs to the frame that is dt frames after the reference frame.
struct PropagationArgs {
  MatchArgs own;
  std::array<const std::uint8_t*, max_frames> samples;
  std::array<const std::int32_t*, max_frames> half_norms;
  std::array<const Motion*, max_frames> motion;
  // Time offsets of the neighbouring frames, in the order of group.h.
  std::array<int, max_frames> refine_frames;
  MotionGrid motion_grid;
  KeptGroupsView kept;
  int kept_tiles_x;
  bool over_time;
  // Maximum displacement in neighbouring frames. The maximum in the reference frame is
  // `own.radius`.
  int temporal_radius;
  int refine_window, refine_temporal_window;  // sides
  // `own_places` is the number of candidates in the refinement window of the reference frame.
  // `refine_positions` is the number of candidates in all refinement windows.
  int own_places, refine_positions;
  int motion_bias;  // added to the score of the patch at the predicted position
  Divisor search_step, refine_side, refine_temporal_side, refine_temporal_area;
};

/// Computes adjacent_indices() (propagation.h) with a multiplication instead of a division.
__device__ __forceinline__ AdjacentIndices searched_adjacent(const PropagationArgs& a, int x,
                                                             int last_place, int count) {
  const int first = a.search_step.quotient(x);
  const bool at_end = x >= last_place, between = first * a.kept.searched.step != x;
  return {at_end ? count - 1 : first, at_end ? count - 1 : first + (between ? 1 : 0)};
}

/// Returns the dot product of two patches. `reference` is the reference patch in shared memory. The
/// other patch begins at index `at` of `samples`, which may be unaligned.
__device__ __forceinline__ std::uint32_t product(const std::uint32_t* reference,
                                                 const std::uint8_t* samples, int at, int pitch) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(samples + (at & ~3));
  const int bits = 8 * (at & 3);
  std::uint32_t sum = 0;
#pragma unroll
  for (int row = 0; row < patch; row += 2) {
    const uint4 own = *reinterpret_cast<const uint4*>(reference + 2 * row);
    const std::uint32_t a = words[0], b = words[1], c = words[2];
    words += pitch / 4;
    const std::uint32_t d = words[0], e = words[1], f = words[2];
    words += pitch / 4;
    sum = __dp4a(own.x, __funnelshift_r(a, b, bits), sum);
    sum = __dp4a(own.y, __funnelshift_r(b, c, bits), sum);
    sum = __dp4a(own.z, __funnelshift_r(d, e, bits), sum);
    sum = __dp4a(own.w, __funnelshift_r(e, f, bits), sum);
  }
  return sum;
}

/// The reference patch of a warp, and the list of its best candidates.
struct Propagation {
  const PropagationArgs& a;
  const std::uint32_t* patch_words;  // is stored in shared memory
  int x, y, lane;
  std::uint32_t motion;  // motion vector to the frame of this lane, as a displacement
  BestList best;

  __device__ Propagation(const PropagationArgs& args, const std::uint32_t* words,
                         const ReferencePlace& at, int own_lane)
      : a(args),
        patch_words(words),
        x(at.x),
        y(at.y),
        lane(own_lane),
        motion(0),
        best(list_of_itself(args.own)) {
    if (!a.over_time || lane >= max_frames || a.motion[lane] == nullptr) return;
    // A tile lies within one bundle (8x4 reference patches), so its reference patches have the same
    // motion vectors.
    const Motion v =
        a.motion_grid.vector(a.motion[lane], (a.own.batch.x0 + blockIdx.x) * reference_tile_side,
                             (a.own.batch.y0 + blockIdx.y) * reference_tile_side,
                             a.own.grid.count_x, a.own.grid.count_y);
    motion = pack_displacement(v.x, v.y);
  }

  /// Returns the motion vector to the frame `dt` frames after the reference frame. All lanes of the
  /// warp must call the function.
  __device__ std::uint32_t motion_to(int dt) const {
    return a.over_time ? __shfl_sync(~0u, motion, dt + max_temporal) : 0u;
  }

  __device__ bool inside(std::uint32_t displacement) const {
    const auto within = [](int at, int length) {
      return static_cast<unsigned>(at) <= static_cast<unsigned>(length - patch);
    };
    return within(x + displacement_x(displacement), a.own.margins.width) &&
           within(y + displacement_y(displacement), a.own.margins.height);
  }

  /// Returns the packed displacement of the stored group member that this lane tests, or 0 if this
  /// lane has no member. The lanes test the members in the order of neighbours_of().
  __device__ std::uint32_t kept_member() const {
    const ReferenceGrid& grid = a.kept.searched;
    const AdjacentIndices i = searched_adjacent(a, x, grid.last_x, grid.count_x);
    const AdjacentIndices j = searched_adjacent(a, y, grid.last_y, grid.count_y);
    // Only reference patches with a complete search have stored groups. The reference patch of this
    // warp has 2^log2 neighbours with stored groups, whose members the lanes test. If `log2` is 0,
    // the reference patch itself has a stored group. Lanes 0 to 14 then test its members, and lanes
    // 15 to 30 test members of the four neighbouring groups.
    const int log2 = (i.first != i.last) + (j.first != j.last);
    int n = lane >> (5 - log2), member = lane & ((32 >> log2) - 1);
    if (log2 == 0 && lane >= 15) n = (lane - 11) >> 2, member = (lane - 15) & 3;
    int column = i.first, row = j.first;
    if (log2 == 0) {
      column += n == 1 ? -1 : n == 2 ? 1 : 0;
      row += n == 3 ? -1 : n == 4 ? 1 : 0;
    } else {
      if ((n & 1) != 0) column = i.last;
      if (log2 == 1 ? n != 0 : (n & 2) != 0) row = j.last;
    }
    if (n > 4 || static_cast<unsigned>(column) >= static_cast<unsigned>(grid.count_x) ||
        static_cast<unsigned>(row) >= static_cast<unsigned>(grid.count_y))
      return 0;
    const Groups& groups = a.kept.groups;
    const int index = (row / reference_tile_side * a.kept_tiles_x + column / reference_tile_side) *
                          references_per_tile +
                      row % reference_tile_side * reference_tile_side +
                      column % reference_tile_side;
    // The warp loads the size of a group and one member of the group at the same time. If the group
    // is too small for this member, the second load reads an unused element of the array, and the
    // function returns 0.
    const int log2_count = groups.log2_count[index];
    const std::uint32_t one =
        groups.displacements[static_cast<std::size_t>(index) * groups.capacity +
                             min(member + 1, groups.capacity - 1)];
    return member + 1 < 1 << log2_count ? one : 0u;
  }

  /// Returns the displacement of candidate `k` of the refinement windows.
  __device__ std::uint32_t refine_candidate(int k) const {
    int place = k, side = a.refine_window, dt = 0;
    Divisor by = a.refine_side;
    if (k < a.own_places) {
      place += k >= a.own_places / 2 ? 1 : 0;  // skips the reference patch
    } else {
      const int n = min(a.refine_temporal_area.quotient(k - a.own_places), max_frames - 1);
      dt = a.refine_frames[n];
      side = a.refine_temporal_window, by = a.refine_temporal_side;
      place = k - a.own_places - n * side * side;
    }
    const std::uint32_t v = motion_to(dt);
    const int row = by.quotient(place), column = place - row * side;
    return pack_displacement(displacement_x(v) + column - side / 2,
                             displacement_y(v) + row - side / 2, dt);
  }

  /// Computes the score of one candidate in each lane, and updates the list. `is_valid` states
  /// whether the candidate lies inside the picture.
  __device__ void consider(bool is_valid, std::uint32_t displacement, int place) {
    const int dt = displacement_t(displacement);
    const bool predicted = ((displacement ^ motion_to(dt)) & 0xffffffu) == 0;
    std::uint32_t key = 0;
    if (is_valid) {
      const int frame = dt + max_temporal;
      const int at =
          a.own.margins.at(x + displacement_x(displacement), y + displacement_y(displacement));
      int score = static_cast<int>(patch_words[16]) - a.half_norms[frame][at] +
                  static_cast<int>(product(patch_words, a.samples[frame], at, a.own.margins.pitch));
      score = min(max(score, 0), 65535);
      if (dt != 0 && predicted && score != 0) score = min(score + a.motion_bias, 65535);
      if (score >= a.own.min_score)
        key = static_cast<std::uint32_t>(score) << 16 | static_cast<std::uint32_t>(65535 - place);
    }
    if (__any_sync(~0u, key > best.worst)) best.merge(key, a.own.keep, lane);
  }

  /// Returns whether the member in this lane is a candidate: in the search window, outside the
  /// refinement windows, and different from the members in all lower lanes.
  __device__ bool is_candidate(std::uint32_t displacement) const {
    const int dt = displacement_t(displacement);
    const std::uint32_t v = motion_to(dt);
    int away_x = displacement_x(displacement), away_y = displacement_y(displacement);
    int radius = a.own.radius, refine_radius = a.refine_window / 2;
    if (dt != 0) {
      away_x -= displacement_x(v), away_y -= displacement_y(v);
      radius = a.temporal_radius;
      refine_radius = a.refine_temporal_window > 0 ? a.refine_temporal_window / 2 : -1;
    }
    const int distance = max(abs(away_x), abs(away_y));
    const bool one = distance <= radius && distance > refine_radius && inside(displacement);
    const std::uint32_t equal = __match_any_sync(~0u, one ? displacement : 0u);
    return one && (equal & ((1u << lane) - 1)) == 0;  // the first of equal members
  }
};

__global__ void __launch_bounds__(threads, 4) propagation_kernel(const PropagationArgs a) {
  __shared__ alignas(16) std::uint32_t patches[references * reference_pitch];
  __shared__ std::uint32_t members[references * max_propagated];
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const ReferencePlace at(a.own, reference);
  load_reference(a.own, at.x, at.y, reference, lane, patches);
  __syncwarp();

  Propagation p(a, patches + reference * reference_pitch, at, lane);
  // The warp compares 32 candidates in each round. The candidates of the refinement windows come
  // first. The stored group members follow without gaps, so that the number of rounds is minimal.
  const std::uint32_t member = p.kept_member();
  const bool is_candidate = p.is_candidate(member);
  const std::uint32_t ballot = __ballot_sync(~0u, is_candidate);
  std::uint32_t* const list = members + reference * max_propagated;
  if (is_candidate) list[__popc(ballot & ((1u << lane) - 1))] = member;
  __syncwarp();
  const int candidates = a.refine_positions + __popc(ballot);
  for (int first = 0; first < candidates; first += 32) {
    const int k = first + lane;
    std::uint32_t displacement = list[(k - a.refine_positions) & 31];
    bool is_valid = k < candidates;
    if (first < a.refine_positions) {
      const std::uint32_t near = p.refine_candidate(k);
      if (k < a.refine_positions) displacement = near, is_valid = p.inside(near);
    }
    p.consider(is_valid, displacement, k + 1);
  }

  const int k = 65534 - static_cast<int>(p.best.key & 0xffffu);  // position - 1
  std::uint32_t chosen = list[(k - a.refine_positions) & 31];
  if (a.refine_positions > 0) {
    const std::uint32_t near = p.refine_candidate(min(max(k, 0), a.refine_positions - 1));
    if (k < a.refine_positions) chosen = near;
  }
  store_group(a.own, reference, p.best, [&](int) { return chosen; });
}

}  // namespace

void propagate(std::span<const SearchFrame> frames, const Margins& margins,
               const ReferenceGrid& grid, const MotionGrid& motion, const Batch& batch,
               const MatchParams& phase, const KeptGroupsView& kept, const Groups& groups,
               cudaStream_t stream) {
  const Guide& own = frames.front().frame.guide;
  PropagationArgs args{arguments(own, margins, grid, batch, phase, {}, groups)};
  args.motion_grid = motion;
  args.kept = kept;
  args.kept_tiles_x = kept.tiles_x();
  args.over_time = frames.size() > 1;
  args.temporal_radius = phase.temporal_window / 2;
  args.refine_window = phase.refine_window;
  args.refine_temporal_window = phase.refine_temporal_window;
  const int area = phase.refine_temporal_window * phase.refine_temporal_window;
  args.own_places = phase.refine_window * phase.refine_window - 1;
  args.refine_positions = args.own_places + static_cast<int>(frames.size() - 1) * area;
  args.motion_bias = static_cast<int>(half_distance(phase.motion_bias, own));
  args.search_step = Divisor(kept.searched.step);
  args.refine_side = Divisor(phase.refine_window);
  args.refine_temporal_side = Divisor(std::max(1, phase.refine_temporal_window));
  args.refine_temporal_area = Divisor(std::max(1, area));
  int n = 0;
  for (const auto& [offset, frame] : frames) {
    args.samples[offset + max_temporal] = frame.guide.samples;
    args.half_norms[offset + max_temporal] = frame.guide.half_norms;
    args.motion[offset + max_temporal] = frame.motion;
    if (offset != 0) args.refine_frames[n++] = offset;
  }
  propagation_kernel<<<dim3(batch.tiles_x, batch.tiles_y), threads, 0, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
