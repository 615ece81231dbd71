#pragma once
// Groups from those of others (match/propagation.h): after a search of the near windows, if there
// are any, each lane of a reference patch's warp looks at one member of the kept groups around it.
//
// Scores, keys and lists are those of match_select.cuh; places of members come behind those of the
// near windows, so that the order of candidates is that of the definition.

#include "match/cuda/match_tables.cuh"
#include "match/cuda/match_time.cuh"
#include "match/propagation.h"

namespace lull::match_detail {

static_assert(max_propagated == 32, "a member for each lane");

/// What a member of a kept group is compared in. Arrays: by offset + max_temporal.
struct ListedArgs {
  const std::uint8_t* samples[max_frames] = {};
  const std::int32_t* half_norms[max_frames] = {};
  const Motion* motion[max_frames] = {};
  MotionGrid motion_grid;
  KeptGroupsView kept;
  int radius, temporal_radius;            // beyond which nothing counts
  int near_radius, near_temporal_radius;  // of what is searched; -1: none
  int bonus;                              // of the score where motion predicts the patch
  int first_place;                        // of the first lane's member
};

/// The member of this lane: its displacement; none where `counts` is false.
struct Listed {
  bool counts = false;
  bool predicted = false;  // it is where motion predicts the reference patch
  std::uint32_t displacement = 0;
};

/// Where the lane's member stands: neighbours_of(), for lane after lane.
__device__ inline Listed kept_member(const ListedArgs& a, int x, int y, int lane) {
  const ReferenceGrid& grid = a.kept.searched;
  const Beside i = beside(x, grid.step, grid.last_x, grid.count_x);
  const Beside j = beside(y, grid.step, grid.last_y, grid.count_y);
  int column = i.first, row = j.first, member = 0;
  if (i.first == i.last && j.first == j.last) {
    member = lane + 1;
    if (lane >= 15) {
      const int n = (lane - 15) / 4;  // left, right, above, below
      member = (lane - 15) % 4 + 1;
      column += n == 0 ? -1 : n == 1 ? 1 : 0;
      row += n == 2 ? -1 : n == 3 ? 1 : 0;
      if (n > 3) member = max_group;  // the last lane has none
    }
  } else if (i.first == i.last || j.first == j.last) {
    member = lane % 16 + 1;
    if (lane >= 16) column = i.last, row = j.last;
  } else {
    member = lane % 8 + 1;
    if ((lane & 8) != 0) column = i.last;
    if (lane >= 16) row = j.last;
  }
  if (column < 0 || row < 0 || column >= grid.count_x || row >= grid.count_y) return {};
  const Groups& groups = a.kept.groups;
  const int index = (row / brick_side * a.kept.bricks_x() + column / brick_side) * brick_references +
                    row % brick_side * brick_side + column % brick_side;
  if (member >= 1 << groups.log2_count[index]) return {};
  const std::size_t first = static_cast<std::size_t>(index) * groups.capacity;
  return {true, false, groups.displacements[first + member]};
}

/// A member that lies in the reference patch's windows and the picture, and that nothing else looks
/// at. `i`, `j`: the reference patch's column and row.
__device__ inline Listed listed_member(const ListedArgs& a, const MatchArgs& own, int i, int j,
                                       int x, int y, int lane) {
  Listed listed = kept_member(a, x, y, lane);
  const int dx = displacement_x(listed.displacement), dy = displacement_y(listed.displacement);
  const int frame = displacement_t(listed.displacement);
  int away_x = dx, away_y = dy, radius = a.radius, near_radius = a.near_radius;
  if (frame != 0) {
    Motion v;
    if (const Motion* motion = a.motion[frame + max_temporal]; motion != nullptr)
      v = a.motion_grid.vector(motion, i, j);
    away_x -= v.x, away_y -= v.y;
    radius = a.temporal_radius, near_radius = a.near_temporal_radius;
    listed.predicted = away_x == 0 && away_y == 0;
  }
  const int distance = max(abs(away_x), abs(away_y));
  const auto inside = [](int at, int length) {
    return static_cast<unsigned>(at) <= static_cast<unsigned>(length - patch);
  };
  listed.counts = listed.counts && distance <= radius && distance > near_radius &&
                  inside(x + dx, own.margins.width) && inside(y + dy, own.margins.height);
  const std::uint32_t counted = __ballot_sync(~0u, listed.counts);
  if (listed.counts) {  // of equal members the first
    const std::uint32_t equal = __match_any_sync(counted, listed.displacement);
    listed.counts = (equal & ((1u << lane) - 1)) == 0;
  }
  __syncwarp();
  return listed;
}

/// The product of the reference patch in shared memory with the patch at `at`, which need not be
/// aligned.
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

/// Adds the members of kept groups to the list of the warp's reference patch, which is in shared
/// memory, and stores the group. `displacement_of`: of a place in the near windows.
template <class Displacement>
__device__ inline void add_listed(const MatchArgs& own, const ListedArgs& a, int reference,
                                  const std::uint32_t* patches, BestList best,
                                  Displacement displacement_of) {
  const int lane = threadIdx.x & 31;
  const int i = (own.batch.x0 + blockIdx.x) * brick_side + reference % brick_side;
  const int j = (own.batch.y0 + blockIdx.y) * brick_side + reference / brick_side;
  const int x = own.grid.x(i), y = own.grid.y(j);  // beyond the grid: the last ones again
  const Listed listed = listed_member(a, own, i, j, x, y, lane);
  std::uint32_t key = 0;
  if (listed.counts) {
    const int frame = displacement_t(listed.displacement) + max_temporal;
    const int at = own.margins.at(x + displacement_x(listed.displacement),
                                  y + displacement_y(listed.displacement));
    const std::uint32_t* const patch_words = patches + reference * reference_pitch;
    int score = static_cast<int>(patch_words[16]) - a.half_norms[frame][at] +
                static_cast<int>(product(patch_words, a.samples[frame], at, own.margins.pitch));
    score = min(max(score, 0), 65535);
    if (listed.predicted && score != 0) score = min(score + a.bonus, 65535);
    if (score >= own.min_score)
      key = static_cast<std::uint32_t>(score) << 16 |
            static_cast<std::uint32_t>(65535 - a.first_place - lane);
  }
  best.merge(key, own.keep, lane);
  const int member = 65535 - static_cast<int>(best.key & 0xffffu) - a.first_place;
  const std::uint32_t chosen = __shfl_sync(~0u, listed.displacement, member & 31);
  store_group(own, reference, best,
              [&](int place) { return member >= 0 ? chosen : displacement_of(place); });
}

/// Of the host.
ListedArgs listed_arguments(std::span<const SearchFrame> frames, const MotionGrid& motion,
                            const MatchParams& phase, const KeptGroupsView& kept);
/// propagate() with near windows in other frames (propagate_time.cu).
void propagate_over_time(const TimeArgs& args, const ListedArgs& listed, std::size_t shared_bytes,
                         cudaStream_t stream);

}  // namespace lull::match_detail
