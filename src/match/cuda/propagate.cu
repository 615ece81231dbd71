// Groups from those of others (match/propagation.h).
//
// A warp has one reference patch; each lane looks at one member of the kept groups around it, and
// before that at one candidate of the near windows after the other, 32 at a time: it loads the 64
// samples of the 8-bit guide and multiplies them with the reference patch's. Scores, keys and lists
// are those of match_select.cuh; places are candidates in the order of the definition. What all
// reference patches of a brick, a thread block, have in common is found once.

#include <algorithm>

#include "cuda/check.h"
#include "match/cuda/match_tables.cuh"
#include "match/propagation.h"

namespace lull {
namespace {

using namespace match_detail;

static_assert(max_propagated == 32, "a member for each lane");
constexpr int most_lists = 5;

/// Arrays over frames: by offset + max_temporal.
struct PropagationArgs {
  MatchArgs own;
  std::array<const std::uint8_t*, max_frames> samples;
  std::array<const std::int32_t*, max_frames> half_norms;
  std::array<const Motion*, max_frames> motion;
  MotionGrid motion_grid;
  KeptGroupsView kept;
  int temporal_radius;                    // beyond which nothing counts, as own.radius
  int near_window, near_temporal_window;  // sides
  int near_places;                        // candidates of all near windows
  int bonus;                              // of the score where motion predicts the patch
};

/// A kept group, and which of its members count: 1 .. members.
struct List {
  std::uint32_t first;  // in Groups::displacements, by capacities
  int members;
};

/// What a block shares.
struct Shared {
  std::uint32_t patches[references * reference_pitch];
  List lists[references][most_lists];
  int lists_log2[references];  // of their number: 0 stands for the own one and four others
  Motion motion[max_frames];
};

/// neighbours_of(): group `n` of those that reference patch `r` of the block looks at.
__device__ void find_list(const PropagationArgs& a, int r, int n, Shared& shared) {
  const ReferencePlace at(a.own, r);
  const ReferenceGrid& grid = a.kept.searched;
  const Beside i = beside(at.x, grid.step, grid.last_x, grid.count_x);
  const Beside j = beside(at.y, grid.step, grid.last_y, grid.count_y);
  const int log2 = (i.first != i.last) + (j.first != j.last);
  int column = i.first, row = j.first, most = 32 >> log2;
  if (log2 == 0) {
    most = n == 0 ? 16 : 5;
    column += n == 1 ? -1 : n == 2 ? 1 : 0;
    row += n == 3 ? -1 : n == 4 ? 1 : 0;
  } else if (log2 == 1) {
    if (n == 1) column = i.last, row = j.last;
    ++most;
  } else {
    if ((n & 1) != 0) column = i.last;
    if ((n & 2) != 0) row = j.last;
    ++most;
  }
  List list{0, 0};
  if (column >= 0 && row >= 0 && column < grid.count_x && row < grid.count_y) {
    list.first = (row / brick_side * a.kept.bricks_x() + column / brick_side) * brick_references +
                 row % brick_side * brick_side + column % brick_side;
    list.members = min(1 << a.kept.groups.log2_count[list.first], most) - 1;
  }
  shared.lists[r][n] = list;
  if (n == 0) shared.lists_log2[r] = log2;
}

/// The near windows' candidates, as displacements.
__device__ void find_near(const PropagationArgs& a, const Shared& shared, std::uint32_t* near) {
  const int own = a.near_window * a.near_window - 1;  // without the reference patch
  for (int k = threadIdx.x; k < a.near_places; k += threads) {
    int place = k, side = a.near_window, frame = 0;
    Motion v;
    if (k < own) {
      place += k >= own / 2 ? 1 : 0;
    } else {
      side = a.near_temporal_window;
      int n = (k - own) / (side * side);
      place = k - own - n * side * side;
      // The n-th frame there is beside the own one: 1 before, 1 after, 2 before ..
      for (frame = -1; a.samples[frame + max_temporal] == nullptr || n-- > 0;)
        frame = frame < 0 ? -frame : -frame - 1;
      v = shared.motion[frame + max_temporal];
    }
    const int row = place / side;
    near[k] = pack_displacement(v.x + place - row * side - side / 2, v.y + row - side / 2, frame);
  }
}

/// The lane's member of a kept group; 0, the reference patch, where it has none.
__device__ __forceinline__ std::uint32_t kept_member(const PropagationArgs& a, const Shared& shared,
                                                     int reference, int lane) {
  const int log2 = shared.lists_log2[reference], shift = 5 - log2;
  int n = lane >> shift, member = lane & ((1 << shift) - 1);
  if (log2 == 0 && lane >= 15) n = (lane - 11) >> 2, member = (lane - 15) & 3;
  if (n >= most_lists) return 0;
  const List list = shared.lists[reference][n];
  if (member >= list.members) return 0;
  const Groups& groups = a.kept.groups;
  return groups
      .displacements[static_cast<std::size_t>(list.first) * groups.capacity + member + 1];
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

/// The reference patch of a warp, and the list of its best.
struct Propagation {
  const PropagationArgs& a;
  const Shared& shared;
  int reference, x, y;
  BestList best;

  __device__ bool inside(std::uint32_t displacement) const {
    const auto within = [](int at, int length) {
      return static_cast<unsigned>(at) <= static_cast<unsigned>(length - patch);
    };
    return within(x + displacement_x(displacement), a.own.margins.width) &&
           within(y + displacement_y(displacement), a.own.margins.height);
  }

  /// Each lane has a candidate in the picture, or none.
  __device__ void look_at(bool is_one, std::uint32_t displacement, int place, int lane) {
    std::uint32_t key = 0;
    if (is_one) {
      const int dx = displacement_x(displacement), dy = displacement_y(displacement);
      const int dt = displacement_t(displacement), frame = dt + max_temporal;
      const int at = a.own.margins.at(x + dx, y + dy);
      const std::uint32_t* const patch_words = shared.patches + reference * reference_pitch;
      int score = static_cast<int>(patch_words[16]) - a.half_norms[frame][at] +
                  static_cast<int>(product(patch_words, a.samples[frame], at, a.own.margins.pitch));
      score = min(max(score, 0), 65535);
      if (dt != 0 && score != 0) {
        const Motion v = shared.motion[frame];
        if (dx == v.x && dy == v.y) score = min(score + a.bonus, 65535);
      }
      if (score >= a.own.min_score)
        key = static_cast<std::uint32_t>(score) << 16 | static_cast<std::uint32_t>(65535 - place);
    }
    if (__any_sync(~0u, key > best.worst)) best.merge(key, a.own.keep, lane);
  }

  /// A member of a kept group that lies in the windows, and that nothing else looks at.
  __device__ bool counts(std::uint32_t displacement, int lane) const {
    int away_x = displacement_x(displacement), away_y = displacement_y(displacement);
    int radius = a.own.radius, near_radius = a.near_window / 2;
    if (const int dt = displacement_t(displacement); dt != 0) {
      const Motion v = shared.motion[dt + max_temporal];
      away_x -= v.x, away_y -= v.y;
      radius = a.temporal_radius;
      near_radius = a.near_temporal_window > 0 ? a.near_temporal_window / 2 : -1;
    }
    const int distance = max(abs(away_x), abs(away_y));
    bool one = distance <= radius && distance > near_radius && inside(displacement);
    const std::uint32_t equal = __match_any_sync(~0u, one ? displacement : 0u);
    return one && (equal & ((1u << lane) - 1)) == 0;  // of equal members the first
  }
};

__global__ void __launch_bounds__(threads) propagation_kernel(const PropagationArgs a) {
  extern __shared__ std::uint32_t near[];
  __shared__ alignas(16) Shared shared;
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const ReferencePlace at(a.own, reference);
  load_reference(a.own, at.x, at.y, reference, lane, shared.patches);
  if (threadIdx.x < 8 * references && threadIdx.x % 8 < most_lists)
    find_list(a, threadIdx.x / 8, threadIdx.x % 8, shared);
  // A brick lies within one bundle.
  if (const int frame = threadIdx.x - 8 * references; frame >= 0 && frame < max_frames) {
    const int i = (a.own.batch.x0 + blockIdx.x) * brick_side;
    const int j = (a.own.batch.y0 + blockIdx.y) * brick_side;
    shared.motion[frame] =
        a.motion[frame] != nullptr ? a.motion_grid.vector(a.motion[frame], i, j) : Motion{};
  }
  __syncthreads();
  if (a.near_places > 0) {
    find_near(a, shared, near);
    __syncthreads();
  }

  Propagation p{a, shared, reference, at.x, at.y, list_of_itself(a.own)};
  for (int first = 0; first < a.near_places; first += 32) {
    const std::uint32_t displacement =
        first + lane < a.near_places ? near[first + lane] : pack_displacement(0, 0);
    p.look_at(displacement != 0 && p.inside(displacement), displacement, first + lane + 1, lane);
  }
  const std::uint32_t member = kept_member(a, shared, reference, lane);
  p.look_at(p.counts(member, lane), member, a.near_places + lane + 1, lane);

  const int of_member = 65535 - static_cast<int>(p.best.key & 0xffffu) - a.near_places - 1;
  const std::uint32_t chosen = __shfl_sync(~0u, member, of_member & 31);
  store_group(a.own, reference, p.best,
              [&](int place) { return of_member >= 0 ? chosen : near[place - 1]; });
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
  args.temporal_radius = phase.temporal_window / 2;
  args.near_window = phase.near_window;
  args.near_temporal_window = phase.near_temporal_window;
  args.near_places = phase.near_window * phase.near_window - 1 +
                     static_cast<int>(frames.size() - 1) * phase.near_temporal_window *
                         phase.near_temporal_window;
  args.bonus = static_cast<int>(half_distance(phase.place_bonus, own));
  for (const auto& [offset, frame] : frames) {
    args.samples[offset + max_temporal] = frame.guide.samples;
    args.half_norms[offset + max_temporal] = frame.guide.half_norms;
    args.motion[offset + max_temporal] = frame.motion;
  }
  const std::size_t near_bytes = sizeof(std::uint32_t) * args.near_places;
  propagation_kernel<<<dim3(batch.bricks_x, batch.bricks_y), threads, near_bytes, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull
