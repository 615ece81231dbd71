// Grouping: for each reference patch the most similar patches of its search window, exactly.
//
// The squared distance of two patches is |a|^2 + |b|^2 - 2ab, and the products ab of 16 reference
// patches with 8 candidates are one 16x64 by 64x8 product of 8-bit integers, two instructions on
// the tensor cores. So a thread block takes 4x4 neighbouring reference patches and the union of
// their windows, and works in bands of the union's rows, as many as fit in shared memory:
//   1. load the band's samples (at every place the word of the 4 samples that start there, so that
//      no later load is unaligned) and half norms;
//   2. warps fill the tables of scores: for each reference patch the candidates of its own window,
//      16 bits each; a score is 65535 minus a scaled distance, 0 for what is no candidate;
//   3. each warp takes the scores of one reference patch and merges the band's best into its list.
// Step 3 first finds a bound that at least N candidates reach (the N-th best of the best of each
// lane), so that few candidates pass; these are gathered, sorted and merged, 32 at a time. Keys
// hold score and place, so that the order is total and the result the same in any order of work.
//
// Tables are as dense as they can be: two candidates to a word, rows of (window + 1) / 2 words, so
// that step 3 is a plain scan. The one half word of a row that is no candidate, the reference patch
// itself and the words up to a multiple of the scan are zero.

#include <algorithm>
#include <iterator>
#include <span>

#include "bm3d/match_select.cuh"
#include "core/error.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

using namespace match_detail;

constexpr int reference_pitch = 20;  // words of a patch, its base, and a shift of the banks
constexpr int unit_rows = 8;         // rows of candidates that a warp scores at a time

/// Rows in shared memory; constants, so that they are part of the instructions.
template <int union_pitch>
struct Pitch {
  static constexpr int norms = union_pitch;
  // 4 modulo 8: rows that are 4 apart then lie 16 banks apart. 7 words of a patch, 3 of skew.
  static constexpr int samples = union_pitch + 12;
};

template <int union_pitch>
struct SharedTables {
  std::uint32_t* samples;  // [band_rows + 7][Pitch::samples]
  std::int32_t* norms;     // [band_rows][Pitch::norms]
  std::uint32_t* scores;   // [16][score_pitch], two scores to a word
  std::uint32_t* pending;  // [warps][pending_slots]
  std::uint32_t* patches;  // [16][reference_pitch]: the reference patches, row by row

  __device__ SharedTables(std::uint32_t* memory, const MatchPlan& plan)
      : samples(memory),
        norms(reinterpret_cast<std::int32_t*>(samples + (plan.band_rows + patch - 1) *
                                                            Pitch<union_pitch>::samples)),
        scores(
            reinterpret_cast<std::uint32_t*>(norms + plan.band_rows * Pitch<union_pitch>::norms)),
        pending(scores + block_references * plan.score_pitch),
        patches(pending + warps * pending_slots) {}
};

/// Where the table of one reference patch begins. A warp writes the same place of the union for 8
/// reference patches at once: they begin so that this is in 8 times 4 different banks.
/// `left`: the first column of the union in the table, even.
__device__ int table_of(const MatchPlan& plan, int reference, int left) {
  const int start = reference * plan.score_pitch;
  return start + ((4 * (reference & 7) + left / 2 - start) & 31);
}

/// Four samples of a row from a place on that need not be aligned: `bits` are 8 for each sample
/// between the aligned word and it.
__device__ __forceinline__ std::uint32_t word_at(const std::uint32_t* words, int bits) {
  return __funnelshift_r(words[0], words[1], bits);
}

/// A warp copies its reference patch, and the score before the product: the greatest, less the half
/// norm.
template <int union_pitch>
__device__ void load_reference(const MatchArgs& a, int x, int y, int reference, int lane,
                               const SharedTables<union_pitch>& shared) {
  std::uint32_t* to = shared.patches + reference * reference_pitch;
  const int at = a.margins.at(x, y), row = lane >> 1, place = at + 4 * (lane & 1);
  if (lane < 16)
    to[lane] = word_at(reinterpret_cast<const std::uint32_t*>(a.own.samples + (place & ~3)) +
                           row * (a.margins.pitch / 4),
                       8 * (place & 3));
  if (lane == 16) to[lane] = static_cast<std::uint32_t>(65535 - a.own.half_norms[at]);
}

/// Step 1. The tile starts at the aligned word at or before `start`, the union's first place.
template <int union_pitch>
__device__ void load_band(const MatchArgs& a, int start, int rows,
                          const SharedTables<union_pitch>& shared) {
  constexpr int pitch = Pitch<union_pitch>::samples, lanes = 16;  // of a row
  const int quads = a.plan.union_width / 4 + 3, word_pitch = a.margins.pitch / 4;
  {
    int y = threadIdx.x / lanes;
    const int q = threadIdx.x % lanes;
    const auto* words =
        reinterpret_cast<const std::uint32_t*>(a.guide.samples + (start & ~3)) + y * word_pitch + q;
    std::uint32_t* to = shared.samples + y * pitch + 4 * q;
    for (; y < rows + patch - 1; y += threads / lanes) {
#pragma unroll
      for (int more = 0; more < union_pitch / 4 + 3; more += lanes)
        if (q + more < quads) {
          const std::uint32_t low = words[more], high = words[more + 1];
          *reinterpret_cast<uint4*>(to + 4 * more) =
              make_uint4(low, __funnelshift_r(low, high, 8), __funnelshift_r(low, high, 16),
                         __funnelshift_r(low, high, 24));
        }
      words += threads / lanes * word_pitch;
      to += threads / lanes * pitch;
    }
  }
  const int lane = threadIdx.x % 32;
  int y = threadIdx.x / 32;
  const std::int32_t* norms = a.guide.half_norms + start + y * a.margins.pitch + lane;
  std::int32_t* to = shared.norms + y * union_pitch + lane;
  for (; y < rows; y += warps) {
#pragma unroll
    for (int x = 0; x < union_pitch; x += 32)
      if (x + lane < a.plan.union_width) to[x] = norms[x];
    norms += warps * a.margins.pitch;
    to += warps * union_pitch;
  }
}

__device__ __forceinline__ void store_shared(std::uint32_t address, std::uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" : : "r"(address), "r"(value));
}

/// One lane's part of the 16 reference patches: rows `quad` .. `quad` + 3 of one half (4 samples)
/// of patches g and g + 8. The order of the 64 terms of a product is free; this one makes the next
/// row of candidates cost a single new load.
struct References {
  std::uint32_t words[8];  // two mma operands
  int base[2];

  __device__ References(const std::uint32_t* patches, int g, int half, int quad) {
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const std::uint32_t* own = patches + (g + 8 * which) * reference_pitch;
#pragma unroll
      for (int row = 0; row < 4; ++row) words[row * 2 + which] = own[2 * (quad + row) + half];
      base[which] = static_cast<int>(own[16]);
    }
  }
};

/// Step 2: a warp takes units of 8 candidate columns by `unit_rows` rows. `skew`: of the tile.
template <int union_pitch>
__device__ void score_band(const MatchArgs& a, int skew, int rows,
                           const SharedTables<union_pitch>& shared) {
  constexpr int pitch = Pitch<union_pitch>::samples;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int g = lane >> 2, t = lane & 3, half = t & 1, quad = 4 * (t >> 1);
  const References references(shared.patches, g, half, quad);
  const int columns = a.plan.union_width / 8, units = columns * (rows / unit_rows);
  const int first_i = (a.batch.x0 + blockIdx.x) * block_side;
  const int left = (a.grid.x(first_i + (g & 3)) - a.grid.x(first_i)) & ~1;  // of g + 8 too
  const auto address_of = [&](int word) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared.scores + word));
  };
  const std::uint32_t first_low = address_of(table_of(a.plan, g, left) + t - left / 2);
  const std::uint32_t first_high = address_of(table_of(a.plan, g + 8, left) + t - left / 2);
  // What lies outside a window goes where it harms nobody: keys wait there in step 3 only.
  const std::uint32_t waste =
      address_of(block_references * a.plan.score_pitch + warp * pending_slots + lane);
  const std::uint32_t* const samples = shared.samples + quad * pitch + skew + g + 4 * half;
  const std::int32_t* const norms = shared.norms + 2 * t;

  for (int unit = warp; unit < units; unit += warps) {
    const int unit_y = unit * a.plan.columns_inverse >> 16;
    const int y = unit_y * unit_rows, x = (unit - unit_y * columns) * 8;
    const std::uint32_t* sample = samples + y * pitch + x;
    const auto* norm = reinterpret_cast<const int2*>(norms + y * union_pitch + x);
    const bool inside =
        static_cast<unsigned>((x - left) / 2 + t) < static_cast<unsigned>(a.plan.score_row);
    const std::uint32_t from = 4 * y * a.plan.score_row + 2 * x;
    const std::uint32_t advance = inside ? 4 * a.plan.score_row : 0;
    std::uint32_t low = inside ? first_low + from : waste;
    std::uint32_t high = inside ? first_high + from : waste;
    std::uint32_t w[4] = {sample[0], sample[pitch], sample[2 * pitch], 0};
#pragma unroll
    for (int row = 0; row < unit_rows; ++row) {
      w[(row + 3) & 3] = sample[(row + 3) * pitch];
      const int2 n = norm[row * union_pitch / 2];
      int c[4] = {references.base[0] - n.x, references.base[0] - n.y, references.base[1] - n.x,
                  references.base[1] - n.y};
      mma_u8(c, references.words, w[row & 3], w[(row + 1) & 3]);
      mma_u8(c, references.words + 4, w[(row + 2) & 3], w[(row + 3) & 3]);
      store_shared(low, pack_saturated(c[1], c[0]));
      store_shared(high, pack_saturated(c[3], c[2]));
      low += advance;
      high += advance;
    }
  }
}

template <int N, int chunk, int union_pitch>
__global__ void __launch_bounds__(threads, 2) match_kernel(const MatchArgs a) {
  extern __shared__ std::uint32_t memory[];
  const SharedTables<union_pitch> shared(memory, a.plan);
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const int i = (a.batch.x0 + blockIdx.x) * block_side, j = (a.batch.y0 + blockIdx.y) * block_side;
  const int first_x = a.grid.x(i), first_y = a.grid.y(j);
  const int x = a.grid.x(i + reference % block_side), y = a.grid.y(j + reference / block_side);
  const int dx = x - first_x, dy = y - first_y;
  // Place of the union's first candidate; it may lie in the margin.
  const Motion motion = a.motion_at(i, j);
  const int start = a.margins.at(first_x + motion.x - a.radius, first_y + motion.y - a.radius);

  load_reference(a, x, y, reference, lane, shared);
  BestList best = first_list(a, reference);
  for (int band = 0; band < a.plan.union_height; band += a.plan.band_rows) {
    const int rows = min(a.plan.band_rows, a.plan.union_height - band);
    load_band(a, start + band * a.margins.pitch, rows, shared);
    __syncthreads();
    score_band(a, start & 3, rows, shared);  // rows begin at aligned words
    __syncthreads();
    Scan scan{max(band, dy), min(band + rows, dy + a.window), dx & 1, shared.scores};
    if (scan.from < scan.to) {
      scan.scores += table_of(a.plan, reference, dx & ~1) + (scan.from - band) * a.plan.score_row;
      clear_gaps<chunk>(a, scan, dy, lane);
      select_band<N, chunk>(a, scan, dy, shared.pending + reference * pending_slots, best);
    }
    if (band + rows < a.plan.union_height) __syncthreads();
  }
  store_list(a, reference, best);
}

/// Where the candidates of a search over frames are, by their places: those of the own frame come
/// first, then those of the others.
struct FramePlaces {
  int own = 0, others = 0;  // candidates in the window of a frame
  int own_window = 1, other_window = 1;
  int offset[1 + 2 * max_temporal] = {};
  const Motion* motion[1 + 2 * max_temporal] = {};

  /// `block`: of reference patches that share their motion.
  __device__ std::uint32_t displacement_of(int place, int block) const {
    if (place < own) return displacement_in(place, own_window, 0, {});
    const int frame = 1 + (place - own) / others;
    return displacement_in(place - own - (frame - 1) * others, other_window, offset[frame],
                           motion[frame] != nullptr ? motion[frame][block] : Motion{});
  }
  static __device__ std::uint32_t displacement_in(int place, int window, int offset, Motion v) {
    const int y = place / window, x = place - y * window;
    return pack_displacement(x - window / 2 + v.x, y - window / 2 + v.y, offset);
  }
};

constexpr int list_threads = 256;

/// What a search over frames found, as groups: a warp for each.
__global__ void __launch_bounds__(list_threads)
    list_groups_kernel(const std::uint32_t* keys, Batch batch, int motion_blocks, int keep,
                       FramePlaces places, Groups groups) {
  const int index = (blockIdx.x * list_threads + threadIdx.x) / 32;
  if (index >= batch.blocks_x * batch.blocks_y * block_references) return;
  const int block = index / block_references;
  const int i = (batch.x0 + block % batch.blocks_x) * block_side;
  const int j = (batch.y0 + block / batch.blocks_x) * block_side;
  const int motion_block = j / motion_rows * motion_blocks + i / motion_columns;
  const std::uint32_t key = keys[index * match_keys + threadIdx.x % 32];
  store_group(groups, index, key, keep,
              [&](int place) { return places.displacement_of(place, motion_block); });
}

constexpr int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

constexpr int narrow_union = 64, wide_union = 160;  // 127 + 3 * 8, rounded up to 8, fits

using Kernel = void (*)(MatchArgs);
struct KernelChoice {
  int chunk;  // words that a lane scans at a time
  Kernel of_16, of_32;
};
template <int chunk, int union_pitch>
constexpr KernelChoice choice{chunk, match_kernel<16, chunk, union_pitch>,
                              match_kernel<32, chunk, union_pitch>};
const KernelChoice narrow_choices[] = {choice<6, narrow_union>, choice<11, narrow_union>,
                                       choice<16, narrow_union>, choice<20, narrow_union>,
                                       choice<25, narrow_union>};
const KernelChoice wide_choices[] = {choice<6, wide_union>, choice<25, wide_union>};

bool is_narrow(const MatchPlan& plan) { return plan.union_width <= narrow_union; }

/// The kernel whose scans fit the tables best.
const KernelChoice& choose(const MatchPlan& plan) {
  const auto scanned = [&](const KernelChoice& kernel) {
    return round_up(plan.words, 32 * kernel.chunk);
  };
  const auto best_of = [&](const auto& choices) -> const KernelChoice& {
    return *std::min_element(std::begin(choices), std::end(choices),
                             [&](const auto& a, const auto& b) { return scanned(a) < scanned(b); });
  };
  return is_narrow(plan) ? best_of(narrow_choices) : best_of(wide_choices);
}

}  // namespace

MatchPlan::MatchPlan(const PhaseParams& phase, std::size_t shared_limit) {
  const int above = (block_side - 1) * phase.step;  // of the lowest reference patches' windows
  union_width = round_up(phase.window + above, 8);
  union_height = round_up(phase.window + above, unit_rows);
  score_row = (phase.window + 1) / 2;
  const auto inverse = [](int divisor, int bits) {
    return static_cast<std::uint32_t>(((1u << bits) + divisor - 1) / divisor);
  };
  columns_inverse = inverse(union_width / 8, 16);
  row_inverse = inverse(score_row, 20);
  window_inverse = inverse(phase.window, 24);
  const int pitch = is_narrow(*this) ? narrow_union : wide_union;
  const auto fit = [&](int rows) {
    band_rows = rows;
    words = std::min(rows, phase.window) * score_row;
    const int scan = 32 * choose(*this).chunk;
    int end = rows * score_row;  // of a table: scans may go beyond it
    for (int from = 0; from < std::min(above + 1, rows); ++from)
      end = std::max(
          end, from * score_row + round_up(std::min(rows - from, phase.window) * score_row, scan));
    score_pitch = end + 36;  // table_of moves a table by up to 31
    shared_bytes =
        sizeof(std::uint32_t) * (static_cast<std::size_t>(rows + patch - 1) * (pitch + 12) +
                                 rows * pitch + block_references * score_pitch +
                                 warps * pending_slots + block_references * reference_pitch);
    return shared_bytes <= shared_limit;
  };
  int bands = 1;
  while (!fit(round_up((union_height + bands - 1) / bands, unit_rows)) && band_rows > unit_rows)
    ++bands;
}

MatchPlan temporal_plan(const PhaseParams& phase, std::size_t shared_limit) {
  PhaseParams other = phase;
  other.window = phase.temporal_window;
  return MatchPlan(other, shared_limit);
}

namespace {

/// Half the squared distance of patches at this mean squared one, in the guide's units.
double half_distance(double mean, const Guide& guide) {
  return 0.5 * patch * patch * mean * guide.scale * guide.scale;
}

MatchArgs arguments(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
                    const Batch& batch, const PhaseParams& phase, const MatchPlan& plan,
                    const Groups& groups) {
  const double limit = half_distance(phase.tau, guide);
  if (limit > max_half_distance)
    throw InternalError("distances up to tau do not fit (scale of the guide); scale it by less");
  return {guide,
          guide,
          margins,
          grid,
          batch,
          groups,
          plan,
          phase.window,
          phase.window / 2,
          phase.group,
          65535 - static_cast<int>(limit)};
}

void launch(const MatchArgs& args, cudaStream_t stream) {
  const KernelChoice& choice = choose(args.plan);
  const Kernel kernel = args.keep <= 16 ? choice.of_16 : choice.of_32;
  cuda::allow_shared_memory(kernel);
  const dim3 grid_size(args.batch.blocks_x, args.batch.blocks_y);
  kernel<<<grid_size, threads, args.plan.shared_bytes, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace

void match(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
           const Batch& batch, const PhaseParams& phase, const MatchPlan& plan,
           const Groups& groups, cudaStream_t stream) {
  launch(arguments(guide, margins, grid, batch, phase, plan, groups), stream);
}

void match_over_time(std::span<const SearchFrame> frames, const Margins& margins,
                     const ReferenceGrid& grid, const Batch& batch, const PhaseParams& phase,
                     const MatchPlan& plan, const MatchPlan& others, std::uint32_t* keys,
                     const Groups& groups, cudaStream_t stream) {
  const Guide& own = frames.front().guide;
  MatchArgs args = arguments(own, margins, grid, batch, phase, plan, groups);
  args.keys = keys;
  launch(args, stream);

  FramePlaces places{.own = phase.window * phase.window,
                     .others = phase.temporal_window * phase.temporal_window,
                     .own_window = phase.window,
                     .other_window = phase.temporal_window};
  args.plan = others;
  args.window = phase.temporal_window;
  args.radius = phase.temporal_window / 2;
  args.first = false;
  args.bonus = static_cast<int>(half_distance(phase.place_bonus, own));
  args.motion_blocks = (grid.count_x + motion_columns - 1) / motion_columns;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    args.guide = frames[i].guide;
    args.first_place = places.own + static_cast<int>(i - 1) * places.others;
    args.motion = frames[i].motion;
    places.offset[i] = frames[i].offset;
    places.motion[i] = frames[i].motion;
    launch(args, stream);
  }
  const int references = batch.blocks_x * batch.blocks_y * block_references;
  list_groups_kernel<<<(references * 32 + list_threads - 1) / list_threads, list_threads, 0,
                       stream>>>(keys, batch, args.motion_blocks, phase.group, places, groups);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
