#pragma once
// The tables of match.cu in shared memory, and steps 1 and 2 of match.cu, which fill them.

#include "match/cuda/match_select.cuh"

namespace lull::match_detail {

/// Row pitches of tables in shared memory, in words. The pitches are constants, so that offsets are
/// part of the instructions.
template <int union_pitch>
struct Pitch {
  static constexpr int norms = union_pitch;
  // Number of samples from one row to the next in shared memory. The last patch of a row extends 7
  // samples beyond its position, and the alignment of rows needs 3 words. The row pitch also
  // includes 2 words of padding, which separate rows r and r + 4 by 16 memory banks.
  static constexpr int samples = union_pitch + 12;
};

template <int union_pitch>
struct SharedTables {
  std::uint32_t* patches;   // [16][reference_pitch]: the reference patches, row by row
  std::uint32_t* gathered;  // [warps][gathered_words]
  std::uint32_t* samples;   // [band_rows + 7][Pitch::samples]
  std::int32_t* norms;      // [band_rows][Pitch::norms]
  std::uint32_t* scores;    // [16][score_pitch], two scores to a word

  __device__ SharedTables(std::uint32_t* memory, const MatchPlan& plan)
      : patches(memory),
        gathered(patches + references_per_tile * reference_pitch),
        samples(gathered + warps * gathered_words),
        norms(reinterpret_cast<std::int32_t*>(samples + (plan.band_rows + patch - 1) *
                                                            Pitch<union_pitch>::samples)),
        scores(
            reinterpret_cast<std::uint32_t*>(norms + plan.band_rows * Pitch<union_pitch>::norms)) {}
};
/// Returns the number of words of shared memory for the tables of a plan, without the first
/// `head_words` words.
__host__ __device__ inline int table_words(const MatchPlan& plan) {
  return static_cast<int>(plan.shared_bytes / sizeof(std::uint32_t)) - head_words;
}

/// Returns the start of the table of one reference patch in shared memory. The table begins `left`
/// (even) columns and `top` rows after the origin of the union of the search windows. Tables begin
/// in different memory banks, because a warp writes scores of 8 patches at once.
__device__ inline int table_of(const MatchPlan& plan, int reference, int left, int top = 0) {
  const int start = reference * plan.score_pitch;
  return start + ((4 * (reference & 7) + left / 2 + top * plan.score_row - start) & 31);
}

/// Returns four samples at an aligned or unaligned position. `bits` is 8 times the offset from the
/// aligned word.
__device__ __forceinline__ std::uint32_t word_at(const std::uint32_t* words, int bits) {
  return __funnelshift_r(words[0], words[1], bits);
}

/// Copies a reference patch to shared memory, with its base score: the maximum score minus half of
/// the sum of the squared samples. One warp executes the function.
__device__ inline void load_reference(const MatchArgs& a, int x, int y, int reference, int lane,
                                      std::uint32_t* patches) {
  std::uint32_t* to = patches + reference * reference_pitch;
  const int at = a.margins.at(x, y), row = lane >> 1, place = at + 4 * (lane & 1);
  if (lane < 16)
    to[lane] = word_at(reinterpret_cast<const std::uint32_t*>(a.guide.samples + (place & ~3)) +
                           row * (a.margins.pitch / 4),
                       8 * (place & 3));
  if (lane == 16) to[lane] = static_cast<std::uint32_t>(65535 - a.guide.half_norms[at]);
}

/// Loads a band of rows (step 1 of match.cu): the samples, and |b|^2 / 2 for each patch b. `start`
/// is the index of the first position of the band in the guide. Rows of samples begin at the
/// aligned word that contains this position. A team of `team` threads (complete warps) loads the
/// band, and `thread` is the index of the calling thread in the team.
template <int union_pitch>
__device__ __forceinline__ void load_band(const Guide& guide, const MatchPlan& plan,
                                          int guide_pitch, int start, int rows,
                                          std::uint32_t* samples, std::int32_t* half_norms,
                                          unsigned thread, unsigned team) {
  // A team of threads loads the band, with `lanes` threads for each row.
  constexpr unsigned pitch = Pitch<union_pitch>::samples, lanes = 16;
  const unsigned quads = plan.union_width / 4 + 3, sample_rows = rows + patch - 1;
  {
    const unsigned first = thread / lanes, q = thread % lanes;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(guide.samples);
    const unsigned word_pitch = static_cast<unsigned>(guide_pitch) / 4;
    // The loop variable begins at 0 in all threads, so that the number of iterations is a
    // compile-time constant if the lengths are constants.
    for (unsigned above = 0; above < sample_rows; above += team / lanes) {
      const unsigned y = above + first,
                     place = static_cast<unsigned>(start) / 4 + y * word_pitch + q;
#pragma unroll
      for (unsigned more = 0; more < union_pitch / 4 + 3; more += lanes)
        if (q + more < quads && y < sample_rows) {
          const std::uint32_t low = words[place + more], high = words[place + more + 1];
          *reinterpret_cast<uint4*>(samples + y * pitch + 4 * (q + more)) =
              make_uint4(low, __funnelshift_r(low, high, 8), __funnelshift_r(low, high, 16),
                         __funnelshift_r(low, high, 24));
        }
    }
  }
  const unsigned lane = thread % 32, first = thread / 32;
  const std::int32_t* const norms =
      guide.candidate_norms != nullptr ? guide.candidate_norms : guide.half_norms;
  for (unsigned above = 0; above < static_cast<unsigned>(rows); above += team / 32) {
    const unsigned y = above + first, place = static_cast<unsigned>(start) + y * guide_pitch + lane;
#pragma unroll
    for (unsigned x = 0; x < union_pitch; x += 32)
      if (x + lane < static_cast<unsigned>(plan.union_width) && y < static_cast<unsigned>(rows))
        half_norms[y * union_pitch + x + lane] = norms[place + x];
  }
}

/// Stores a word if `is_valid` is true. Without inline assembly, the compiler would insert a
/// branch.
__device__ __forceinline__ void store_if(bool is_valid, std::uint32_t* place, std::uint32_t word) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p st.shared.u32 [%0], %1; }" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(place))),
               "r"(word), "r"(static_cast<int>(is_valid))
               : "memory");
}

/// The reference samples that one lane passes to the tensor cores: the left half (`half` is 0) or
/// the right half (`half` is 1) of four rows of two reference patches. `quad` is the index of the
/// first row. The two patches have the indices `g` and `g` + 8.

/// The order of the 64 terms of a dot product saves loads: for the next row of candidates, a lane
/// loads only one new word. All other words stay in registers.
struct References {
  std::uint32_t words[4][4];  // mma operands: row d and row d + 2, alternating
  int base[2];

  __device__ References(const std::uint32_t* patches, int g, int half, int quad) {
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const std::uint32_t* own = patches + (g + 8 * which) * reference_pitch;
#pragma unroll
      for (int row = 0; row < 4; ++row) {
        // The access is volatile, so that the thread loads each word twice. With a single load, the
        // compiler would insert moves between registers.
        const auto* word =
            static_cast<const volatile std::uint32_t*>(own + 2 * (quad + row) + half);
        words[row][which] = *word;
        words[(row + 2) % 4][2 + which] = *word;
      }
      base[which] = static_cast<int>(own[16]);
    }
  }
};

/// Computes the scores of a unit (8 columns and `unit_rows` rows of candidates). Calls store(row,
/// a, b) with the scores of two neighbouring candidates: `a` for reference patch g = lane / 4, `b`
/// for g + 8.
template <int union_pitch, class Store>
__device__ __forceinline__ void score_unit(const References& references,
                                           const std::uint32_t* sample, const std::int32_t* norm,
                                           Store store) {
  constexpr int pitch = Pitch<union_pitch>::samples;
  std::uint32_t w[4] = {sample[0], sample[pitch], sample[2 * pitch], 0};  // row i is in w[i % 4]
  const auto begin = [&](int row, int(&c)[4]) {
    const int2 n = *reinterpret_cast<const int2*>(norm + row * union_pitch);
    c[0] = references.base[0] - n.x, c[1] = references.base[0] - n.y;
    c[2] = references.base[1] - n.x, c[3] = references.base[1] - n.y;
  };
  const auto add_even = [&](int row, int(&c)[4]) {
    mma_u8(c, references.words[(4 - row % 4) % 4], w[0], w[2]);
  };
  const auto add_odd = [&](int row, int(&c)[4]) {
    mma_u8(c, references.words[(5 - row % 4) % 4], w[1], w[3]);
  };
  static_assert(unit_rows % 2 == 0);
#pragma unroll
  for (int row = 0; row < unit_rows; row += 2) {  // two independent products at a time
    int c[4], d[4];
    begin(row, c), begin(row + 1, d);
    w[(row + 3) % 4] = sample[(row + 3) * pitch];
    add_even(row, c), add_odd(row + 1, d);
    add_odd(row, c);
    w[row % 4] = sample[(row + 4) * pitch];
    add_even(row + 1, d);
    store(row, pack_saturated(c[1], c[0]), pack_saturated(c[3], c[2]));
    store(row + 1, pack_saturated(d[1], d[0]), pack_saturated(d[3], d[2]));
  }
}

/// Computes the scores of a band of rows (step 2 of match.cu). The union of the search windows
/// begins `skew` samples after an aligned word.
template <int union_pitch>
__device__ inline void score_band(const MatchArgs& a, int skew, int rows,
                                  const SharedTables<union_pitch>& shared) {
  constexpr int pitch = Pitch<union_pitch>::samples;
  const MatchPlan& plan = a.plan;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int g = lane >> 2, t = lane & 3, half = t & 1, quad = 4 * (t >> 1);
  const References references(shared.patches, g, half, quad);
  const int columns = plan.union_width / 8, units = columns * (rows / unit_rows);
  const int first_i = (a.batch.x0 + blockIdx.x) * reference_tile_side;
  const int left = (a.grid.x(first_i + (g & 3)) - a.grid.x(first_i)) & ~1;  // is the same for g + 8
  const int table = table_of(plan, g, left), next_table = table_of(plan, g + 8, left) - table;
  std::uint32_t* const scores = shared.scores + table + t - left / 2;
  const std::uint32_t* const samples = shared.samples + quad * pitch + skew + g + 4 * half;
  const std::int32_t* const norms = shared.norms + 2 * t;

#pragma unroll 1
  for (int unit = warp; unit < units; unit += warps) {
    const int unit_y = unit * plan.columns_inverse >> 16;
    const int y = unit_y * unit_rows, x = (unit - unit_y * columns) * 8;
    const bool inside =
        static_cast<unsigned>((x - left) / 2 + t) < static_cast<unsigned>(plan.score_row);
    std::uint32_t *const low = scores + y * plan.score_row + x / 2, *const high = low + next_table;
    score_unit<union_pitch>(references, samples + y * pitch + x, norms + y * union_pitch + x,
                            [&](int row, std::uint32_t of_low, std::uint32_t of_high) {
                              store_if(inside, low + row * plan.score_row, of_low);
                              store_if(inside, high + row * plan.score_row, of_high);
                            });
  }
}

/// The position (x, y) of a reference patch, and its offset (dx, dy) from the first reference patch
/// of the thread block. `start` is the index, in the plane, of the origin of the union of the
/// search windows.
struct ReferencePlace {
  int x, y, dx, dy, start;

  __device__ ReferencePlace(const MatchArgs& a, int reference) {
    const int i = (a.batch.x0 + blockIdx.x) * reference_tile_side;
    const int j = (a.batch.y0 + blockIdx.y) * reference_tile_side;
    const int first_x = a.grid.x(i), first_y = a.grid.y(j);
    x = a.grid.x(i + reference % reference_tile_side),
    y = a.grid.y(j + reference / reference_tile_side);
    dx = x - first_x, dy = y - first_y;
    start = a.margins.at(first_x - a.radius, first_y - a.radius);
  }
};

/// The distance bias for white noise: 0 at every displacement.
struct NoBias {
  __device__ __forceinline__ void apply(const Scan&, int, int, int) const {}
};

/// Returns a view of the scores in some rows of the union of the search windows. `from` is the
/// first of these rows, and `to` is the row after the last of these rows. `band` is the first row
/// of the union that the table contains.
template <int chunk, int union_pitch, class Bias = NoBias>
__device__ inline Scan scan_of_own(const MatchArgs& a, const ReferencePlace& at, int band, int from,
                                   int to, const SharedTables<union_pitch>& shared,
                                   const Bias& bias = {}) {
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const Scan scan{
      to - from,
      at.dx & 1,
      (from - at.dy) * a.window,
      a.window,
      a.plan.score_row,
      a.plan.row_inverse,
      shared.scores + table_of(a.plan, reference, at.dx & ~1) + (from - band) * a.plan.score_row};
  const int own_row = at.dy + a.radius - from;
  if (lane == 0 && own_row >= 0 && own_row < scan.rows) *scan.score(own_row, a.radius) = 0;
  bias.apply(scan, own_row, a.radius, lane);
  clear_gaps<chunk>(scan, lane);
  return scan;
}

/// Converts a position in the search window of the reference frame to a displacement.
__device__ __forceinline__ std::uint32_t own_displacement(const MatchArgs& a, int place) {
  const int y = static_cast<int>(place * a.plan.window_inverse >> 24), x = place - y * a.window;
  return pack_displacement(x - a.radius, y - a.radius);
}

/// Returns the initial list of best candidates, which contains only the reference patch.
__device__ inline BestList list_of_itself(const MatchArgs& a) {
  return {(threadIdx.x & 31) == 0 ? best_key : 0u, a.keep == 1 ? best_key : 0u};
}

/// Returns the kernel arguments `a`. If `fixed` has the window and the step of a profile, the
/// function replaces the plan, the window and the step in the arguments by compile-time constants.
template <FixedSearch fixed>
__device__ __forceinline__ MatchArgs with_constants(MatchArgs a) {
  if constexpr (fixed.window > 0) {
    constexpr MatchPlan plan = fixed.plan();
    a.plan = plan;
    a.window = fixed.window, a.radius = fixed.window / 2;
    a.grid.step = fixed.step;
  }
  return a;
}

/// Finds the best candidates in the reference frame (steps 1 to 3 of match.cu).
template <int N, int chunk, int union_pitch, bool one_band, class Bias = NoBias>
__device__ inline BestList match_own(const MatchArgs& a, const SharedTables<union_pitch>& shared,
                                     const Bias& bias = {}) {
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const ReferencePlace at(a, reference);
  load_reference(a, at.x, at.y, reference, lane, shared.patches);
  BestList best = list_of_itself(a);
  Gathering gathering(shared.gathered + reference * gathered_words);
  // Processes a band (some consecutive rows) of the union of the search windows. `band` is the
  // index of its first row, and `rows` is its number of rows. In this band, the search window of
  // this warp's reference patch begins at row `from` and ends before row `to`.
  const auto match_band = [&](int band, int rows, int from, int to) {
    load_band<union_pitch>(a.guide, a.plan, a.margins.pitch, at.start + band * a.margins.pitch,
                           rows, shared.samples, shared.norms, threadIdx.x, threads);
    __syncthreads();
    score_band(a, at.start & 3, rows, shared);  // rows begin at aligned words
    __syncthreads();
    if (from < to)
      select<N, chunk>(scan_of_own<chunk>(a, at, band, from, to, shared, bias), a.keep, a.min_score,
                       gathering, best);
  };
  if constexpr (one_band) {
    match_band(0, a.plan.union_height, at.dy, at.dy + a.window);
  } else {
    for (int band = 0; band < a.plan.union_height; band += a.plan.band_rows) {
      if (band > 0) __syncthreads();
      const int rows = min(a.plan.band_rows, a.plan.union_height - band);
      match_band(band, rows, max(band, at.dy), min(band + rows, at.dy + a.window));
    }
  }
  return best;
}

}  // namespace lull::match_detail
