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

#include "bm3d/match_tables.cuh"
#include "core/error.h"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

using namespace match_detail;

template <int N, int chunk, int union_pitch>
__global__ void __launch_bounds__(threads, 2) match_kernel(const MatchArgs a) {
  extern __shared__ std::uint32_t memory[];
  const SharedTables<union_pitch> shared(memory, a.plan);
  store_group(a, threadIdx.x >> 5, match_own<N, chunk>(a, shared), [&](int place) {
    const int y = static_cast<int>(place * a.plan.window_inverse >> 24), x = place - y * a.window;
    return pack_displacement(x - a.radius, y - a.radius);
  });
}

using Kernel = void (*)(MatchArgs);
struct KernelChoice {
  int chunk;  // words that a lane scans at a time
  int union_pitch;
  Kernel of_16, of_32;
};
template <int chunk, int union_pitch>
constexpr KernelChoice choice{chunk, union_pitch, match_kernel<16, chunk, union_pitch>,
                              match_kernel<32, chunk, union_pitch>};
const KernelChoice choices[] = {choice<6, narrow_union>,  choice<11, narrow_union>,
                                choice<16, narrow_union>, choice<20, narrow_union>,
                                choice<25, narrow_union>, choice<6, wide_union>,
                                choice<25, wide_union>};
constexpr int narrow_chunks[] = {6, 11, 16, 20, 25}, wide_chunks[] = {6, 25};

bool fits_narrow(const PhaseParams& phase) {
  return round_up(phase.window + (block_side - 1) * phase.step, 8) <= narrow_union;
}

}  // namespace

MatchPlan::MatchPlan(const PhaseParams& phase, std::size_t shared_limit) {
  fit(phase, shared_limit, fits_narrow(phase) ? std::span<const int>(narrow_chunks) : wide_chunks,
      fits_narrow(phase) ? narrow_union : wide_union);
}

void MatchPlan::fit(const PhaseParams& phase, std::size_t shared_limit, std::span<const int> chunks,
                    int pitch) {
  const int above = (block_side - 1) * phase.step;  // of the lowest reference patches' windows
  union_pitch = pitch;
  union_width = round_up(phase.window + above, 8);
  union_height = round_up(phase.window + above, unit_rows);
  score_row = (phase.window + 1) / 2;
  const auto inverse = [](int divisor, int bits) {
    return static_cast<std::uint32_t>(((1u << bits) + divisor - 1) / divisor);
  };
  columns_inverse = inverse(union_width / 8, 16);
  row_inverse = inverse(score_row, 20);
  window_inverse = inverse(phase.window, 24);
  const auto fits = [&](int rows) {
    band_rows = rows;
    const int words = std::min(rows, phase.window) * score_row;
    chunk = *std::min_element(chunks.begin(), chunks.end(), [&](int a, int b) {
      return round_up(words, 32 * a) < round_up(words, 32 * b);
    });
    int end = rows * score_row;  // of a table: scans may go beyond it
    for (int from = 0; from < std::min(above + 1, rows); ++from)
      end =
          std::max(end, from * score_row +
                            round_up(std::min(rows - from, phase.window) * score_row, 32 * chunk));
    score_pitch = end + 36;  // table_of moves a table by up to 31
    shared_bytes = table_bytes(pitch, rows, score_pitch);
    return shared_bytes <= shared_limit;
  };
  int bands = 1;
  while (!fits(round_up((union_height + bands - 1) / bands, unit_rows)) && band_rows > unit_rows)
    ++bands;
}

double match_detail::half_distance(double mean, const Guide& guide) {
  return 0.5 * patch * patch * mean * guide.scale * guide.scale;
}

MatchArgs match_detail::arguments(const Guide& guide, const Margins& margins,
                                  const ReferenceGrid& grid, const Batch& batch,
                                  const PhaseParams& phase, const MatchPlan& plan,
                                  const Groups& groups) {
  const double limit = half_distance(phase.tau, guide);
  if (limit > max_half_distance)
    throw InternalError("distances up to tau do not fit (scale of the guide); scale it by less");
  return {guide,        margins,
          grid,         batch,
          groups,       plan,
          phase.window, phase.window / 2,
          phase.group,  65535 - static_cast<int>(limit)};
}

void match(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
           const Batch& batch, const PhaseParams& phase, const MatchPlan& plan,
           const Groups& groups, cudaStream_t stream) {
  const MatchArgs args = arguments(guide, margins, grid, batch, phase, plan, groups);
  const KernelChoice& choice =
      *std::find_if(std::begin(choices), std::end(choices), [&](const KernelChoice& c) {
        return c.chunk == plan.chunk && c.union_pitch == plan.union_pitch;
      });
  const Kernel kernel = phase.group <= 16 ? choice.of_16 : choice.of_32;
  cuda::allow_shared_memory(kernel);
  const dim3 grid_size(batch.blocks_x, batch.blocks_y);
  kernel<<<grid_size, threads, plan.shared_bytes, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
