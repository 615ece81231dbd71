// Grouping: for each reference patch the most similar patches of its search window, exactly.
//
// The squared distance of two patches is |a|^2 + |b|^2 - 2ab, and the products ab of 16 reference
// patches with 8 candidates are one 16x64 by 64x8 product of 8-bit integers, two instructions on
// the tensor cores. So a thread block takes 4x4 neighbouring reference patches and the union of
// their windows, and works in bands of the union's rows, as many as fit in shared memory:
//   1. load the band's samples (at every place the word of the 4 samples that start there, so that
//      no later load is unaligned) and half norms;
//   2. warps fill the table of scores, 16 bits for each pair of reference and candidate; a score is
//      65535 minus a scaled distance, 0 for what is no candidate;
//   3. each warp takes the scores of one reference patch and merges the band's best into its list.
// Step 3 first finds a bound that at least N candidates reach (the N-th best of the best of each
// lane), so that few candidates pass; these are gathered, sorted and merged, 32 at a time. Keys
// hold score and place, so that the order is total and the result the same in any order of work.

#include "bm3d/group.h"
#include "bm3d/kernels.h"
#include "bm3d/warp.cuh"
#include "cuda/check.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

constexpr int warps = block_references;  // one reference patch for each warp in step 3
constexpr int threads = warps * 32;
constexpr int pending_slots = 96;  // 31 left over and two ballots
constexpr std::uint32_t best_key = 0xffffffffu;

struct MatchArgs {
  Guide guide;
  Margins margins;
  ReferenceGrid grid;
  Batch batch;
  Groups groups;
  MatchPlan plan;
  int window, radius;
  int keep;       // N
  int shift;      // of half distances, so that tau fits 16 bits
  int min_score;  // score at distance tau
};

/// The part of a block that all its threads know.
struct Tile {
  int first_x, first_y;  // origin of the block's first reference patch
  int x0, y0;            // place of the union's first candidate; may lie in the margin
};

__device__ Tile tile_of(const MatchArgs& a) {
  const int first_x = a.grid.x((a.batch.x0 + blockIdx.x) * block_side);
  const int first_y = a.grid.y((a.batch.y0 + blockIdx.y) * block_side);
  return {first_x, first_y, first_x - a.radius, first_y - a.radius};
}

struct SharedTables {
  std::uint32_t* samples;  // [band_rows + 7][tile_pitch]
  std::int32_t* norms;     // [band_rows][union_width]
  std::uint32_t* scores;   // [16][score_pitch], two scores to a word
  std::uint32_t* pending;  // [warps][pending_slots]

  __device__ SharedTables(std::uint32_t* memory, const MatchPlan& plan)
      : samples(memory),
        norms(reinterpret_cast<std::int32_t*>(samples +
                                              (plan.band_rows + patch - 1) * plan.tile_pitch)),
        scores(reinterpret_cast<std::uint32_t*>(norms + plan.band_rows * plan.union_width)),
        pending(scores + block_references * plan.score_pitch) {}
};

/// Four samples that start anywhere, as a word.
__device__ std::uint32_t load_unaligned(const std::uint8_t* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  return __funnelshift_r(words[0], words[1], 8 * (address & 3));
}

/// Step 1. The tile starts at the aligned word at or before x0, `skew` samples before it.
__device__ void load_band(const MatchArgs& a, const Tile& tile, int band, int rows,
                          const SharedTables& shared) {
  const int start = a.margins.at(tile.x0, tile.y0 + band);
  const int skew = start & 3;
  const int quads = a.plan.tile_pitch / 4;
  for (int i = threadIdx.x; i < (rows + patch - 1) * quads; i += threads) {
    const int y = i / quads, q = i - y * quads;
    const auto* words = reinterpret_cast<const std::uint32_t*>(a.guide.samples + start - skew +
                                                               y * a.margins.pitch) +
                        q;
    const std::uint32_t low = words[0], high = words[1];
    *reinterpret_cast<uint4*>(&shared.samples[y * a.plan.tile_pitch + 4 * q]) =
        make_uint4(low, __funnelshift_r(low, high, 8), __funnelshift_r(low, high, 16),
                   __funnelshift_r(low, high, 24));
  }
  for (int i = threadIdx.x; i < rows * a.plan.union_width; i += threads) {
    const int y = i / a.plan.union_width, x = i - y * a.plan.union_width;
    shared.norms[i] = a.guide.half_norms[start + y * a.margins.pitch + x];
  }
}

/// One lane's part of the 16 reference patches: rows `quad` .. `quad` + 3 of one half (4 samples)
/// of patches g and g + 8. The order of the 64 terms of a product is free; this one makes the next
/// row of candidates cost a single new load.
struct References {
  std::uint32_t words[8];  // two mma operands
  int base[2];             // score before the product: the greatest, less the half norm
};

__device__ References load_references(const MatchArgs& a, int lane) {
  const int g = lane >> 2, t = lane & 3;
  const int half = 4 * (t & 1), quad = 4 * (t >> 1);
  References result;
  for (int which = 0; which < 2; ++which) {
    const int r = g + 8 * which;
    const int x = a.grid.x((a.batch.x0 + blockIdx.x) * block_side + r % block_side);
    const int y = a.grid.y((a.batch.y0 + blockIdx.y) * block_side + r / block_side);
    const int at = a.margins.at(x, y);
    for (int row = 0; row < 4; ++row)
      result.words[row * 2 + which] =
          load_unaligned(a.guide.samples + at + (quad + row) * a.margins.pitch + half);
    result.base[which] = (65535 << a.shift) - a.guide.half_norms[at];
  }
  return result;
}

/// Step 2: a warp takes units of 8 candidate columns by `unit_rows` rows.
__device__ void score_band(const MatchArgs& a, const Tile& tile, const References& references,
                           int rows, const SharedTables& shared) {
  constexpr int unit_rows = 4;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int g = lane >> 2, t = lane & 3;
  const int half = 4 * (t & 1), quad = 4 * (t >> 1);
  const int skew = a.margins.at(tile.x0, tile.y0) & 3;
  const int pitch = a.plan.tile_pitch, width = a.plan.union_width;
  const int columns = width / 8, units = columns * (rows / unit_rows);

  for (int unit = warp; unit < units; unit += warps) {
    const int y = unit / columns * unit_rows, x = (unit % columns) * 8;
    const std::uint32_t* sample = &shared.samples[(y + quad) * pitch + skew + x + g + half];
    const auto* norm = reinterpret_cast<const int2*>(&shared.norms[y * width + x + 2 * t]);
    std::uint32_t* score = &shared.scores[g * a.plan.score_pitch + (y * width + x) / 2 + t];
    std::uint32_t w[4] = {sample[0], sample[pitch], sample[2 * pitch], 0};
    sample += 3 * pitch;
#pragma unroll
    for (int row = 0; row < unit_rows; ++row) {
      w[(row + 3) & 3] = *sample;
      sample += pitch;
      const int2 n = norm[row * width / 2];
      int c[4] = {references.base[0] - n.x, references.base[0] - n.y, references.base[1] - n.x,
                  references.base[1] - n.y};
      mma_u8(c, references.words, w[row & 3], w[(row + 1) & 3]);
      mma_u8(c, references.words + 4, w[(row + 2) & 3], w[(row + 3) & 3]);
      score[row * width / 2] = pack_saturated(c[1] >> a.shift, c[0] >> a.shift);
      score[row * width / 2 + 8 * a.plan.score_pitch] =
          pack_saturated(c[3] >> a.shift, c[2] >> a.shift);
    }
  }
}

/// A score at least as great as the N-th best of those in the lanes' maxima (one in each half
/// word).
template <int N>
__device__ std::uint32_t bound_of(std::uint32_t maxima, int lane) {
  const std::uint32_t low = maxima & 0xffffu, high = maxima >> 16;
  if constexpr (N == 16) {
    return __shfl_sync(~0u, sort_descending(max(low, high), lane), N - 1);
  } else {
    const std::uint32_t a = sort_descending(low, lane), b = sort_descending(high, lane);
    return warp_min(max(a, __shfl_sync(~0u, b, 31 - lane)));
  }
}

/// The best keys so far of one reference patch: lane i holds the i-th.
struct BestList {
  std::uint32_t key;    // score << 16 | (65535 - place in the window); 0: none
  std::uint32_t worst;  // of the N best; 0 while there are fewer

  __device__ void merge(const std::uint32_t* pending, int count, int keep, int lane) {
    const std::uint32_t fresh = sort_descending(lane < count ? pending[lane] : 0u, lane);
    key = merge_descending(max(key, __shfl_sync(~0u, fresh, 31 - lane)), lane);
    worst = __shfl_sync(~0u, key, keep - 1);
  }
};

/// Step 3, for one reference patch at (dx, dy) from the block's first.
template <int N>
__device__ void select_band(const MatchArgs& a, int reference, int dx, int dy, int band, int rows,
                            const SharedTables& shared, BestList& best) {
  constexpr int chunk = 32;  // words in a lane's registers
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int row_words = a.plan.union_width / 2;
  const int from = max(band, dy), to = min(band + rows, dy + a.window);
  const int words = (to - from) * row_words;
  const std::uint32_t* scores =
      &shared.scores[reference * a.plan.score_pitch + (from - band) * row_words];
  std::uint32_t* pending = &shared.pending[warp * pending_slots];
  const int centre = a.radius * a.window + a.radius;
  // Division by row_words as a product; exact, as words < 2^20 / row_words.
  const std::uint32_t inverse = ((1u << 20) + row_words - 1) / row_words;

  // The scores at word i, without those of columns outside this reference patch's own window.
  const auto scores_at = [&](int i, int column) {
    const int c = 2 * column - dx;
    std::uint32_t word = scores[i];
    if (static_cast<unsigned>(c) >= static_cast<unsigned>(a.window)) word &= 0xffff0000u;
    if (static_cast<unsigned>(c + 1) >= static_cast<unsigned>(a.window)) word &= 0xffffu;
    return word;
  };

  int count = 0;
  for (int base = lane; base - lane < words; base += 32 * chunk) {
    std::uint32_t v[chunk], maxima = 0;
    int column = base - static_cast<int>((base * inverse) >> 20) * row_words;
    const int advance = 32 % row_words;
#pragma unroll
    for (int k = 0; k < chunk; ++k) {
      const int i = base + 32 * k;
      v[k] = i < words ? scores_at(i, column) : 0u;
      maxima = __vmaxu2(maxima, v[k]);
      column += advance;
      if (column >= row_words) column -= row_words;
    }
    const std::uint32_t bound = max(max(bound_of<N>(maxima, lane), best.worst >> 16),
                                    static_cast<std::uint32_t>(a.min_score));
    const std::uint32_t below = (bound - 1) * 0x10001u;
    std::uint32_t hits = 0;  // words of this lane that hold a score at or over the bound
#pragma unroll
    for (int k = 0; k < chunk; ++k)
      if (__vmaxu2(v[k], below) != below) hits |= 1u << k;

    while (__any_sync(~0u, hits != 0)) {
      const int i = base + 32 * (hits != 0 ? __ffs(hits) - 1 : 0);
      const int y = static_cast<int>((i * inverse) >> 20), x = i - y * row_words;
      const std::uint32_t word = hits != 0 ? scores_at(i, x) : 0u;
      hits &= hits - 1;
      const int place = (from - dy + y) * a.window + 2 * x - dx;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t score = half != 0 ? word >> 16 : word & 0xffffu;
        const std::uint32_t key = score << 16 | (65535u - static_cast<std::uint32_t>(place + half));
        const bool hit = score >= bound && key > best.worst && place + half != centre;
        const std::uint32_t ballot = __ballot_sync(~0u, hit);
        if (hit) pending[count + __popc(ballot & ((1u << lane) - 1))] = key;
        count += __popc(ballot);
      }
      while (count >= 32) {
        __syncwarp();
        best.merge(pending, 32, a.keep, lane);
        const std::uint32_t moved0 = lane + 32 < count ? pending[lane + 32] : 0u;
        const std::uint32_t moved1 = lane + 64 < count ? pending[lane + 64] : 0u;
        __syncwarp();
        pending[lane] = moved0;
        pending[lane + 32] = moved1;
        count -= 32;
        __syncwarp();
      }
    }
  }
  __syncwarp();
  if (count > 0) best.merge(pending, count, a.keep, lane);
  __syncwarp();
}

/// Writes the list as a group: the reference patch, then the others by distance.
__device__ void store_group(const MatchArgs& a, int reference, const BestList& best) {
  const int lane = threadIdx.x & 31;
  const int found = __popc(__ballot_sync(~0u, best.key != 0 && lane < a.keep));
  const int log2_count = 31 - __clz(found);
  const int place = 65535 - static_cast<int>(best.key & 0xffffu);
  const int y = place / a.window, x = place - y * a.window;
  const int index = (blockIdx.y * a.batch.blocks_x + blockIdx.x) * block_references + reference;
  if (lane < (1 << log2_count))
    a.groups.displacements[index * a.groups.capacity + lane] =
        lane == 0 ? 0u : pack_displacement(x - a.radius, y - a.radius);
  if (lane == 0) a.groups.log2_count[index] = static_cast<std::uint8_t>(log2_count);
}

template <int N>
__global__ void __launch_bounds__(threads, 2) match_kernel(const MatchArgs a) {
  extern __shared__ std::uint32_t memory[];
  const SharedTables shared(memory, a.plan);
  const Tile tile = tile_of(a);
  const int lane = threadIdx.x & 31, reference = threadIdx.x >> 5;
  const References references = load_references(a, lane);
  const int dx =
      a.grid.x((a.batch.x0 + blockIdx.x) * block_side + reference % block_side) - tile.first_x;
  const int dy =
      a.grid.y((a.batch.y0 + blockIdx.y) * block_side + reference / block_side) - tile.first_y;

  BestList best{lane == 0 ? best_key : 0u, a.keep == 1 ? best_key : 0u};
  for (int band = 0; band < a.plan.union_height; band += a.plan.band_rows) {
    const int rows = min(a.plan.band_rows, a.plan.union_height - band);
    load_band(a, tile, band, rows, shared);
    __syncthreads();
    score_band(a, tile, references, rows, shared);
    __syncthreads();
    if (band < dy + a.window && band + rows > dy)
      select_band<N>(a, reference, dx, dy, band, rows, shared, best);
    __syncthreads();
  }
  store_group(a, reference, best);
}

constexpr int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

MatchPlan::MatchPlan(const PhaseParams& phase, std::size_t shared_limit) {
  const int span = phase.window + (block_side - 1) * phase.step;
  union_width = round_up(span, 8);
  union_height = round_up(span, 4);
  // 4 modulo 8: rows that are 4 apart then lie 16 banks apart. 7 words of a patch, 3 of skew.
  tile_pitch = union_width + 12;
  const auto bytes = [&](int rows) {
    const int scores = round_up(rows * union_width / 2, 32) + 4;  // 4: references in other banks
    return sizeof(std::uint32_t) *
           (static_cast<std::size_t>(rows + patch - 1) * tile_pitch + rows * union_width +
            block_references * scores + warps * pending_slots);
  };
  int bands = 1;
  do {
    band_rows = round_up((union_height + bands - 1) / bands, 4);
    ++bands;
  } while (bytes(band_rows) > shared_limit && band_rows > 4);
  score_pitch = round_up(band_rows * union_width / 2, 32) + 4;
  shared_bytes = bytes(band_rows);
}

void match(const Guide& guide, const Margins& margins, const ReferenceGrid& grid,
           const Batch& batch, const PhaseParams& phase, const MatchPlan& plan,
           const Groups& groups, cudaStream_t stream) {
  MatchArgs args{guide,        margins,          grid,        batch, groups, plan,
                 phase.window, phase.window / 2, phase.group, 0,     0};
  // Half the squared distance of patches at mean squared distance tau, in the guide's units.
  const double limit = 0.5 * patch * patch * phase.tau * guide.scale * guide.scale;
  while (limit / (1 << args.shift) > 65534) ++args.shift;
  args.min_score = 65535 - static_cast<int>(limit / (1 << args.shift));

  const auto kernel = phase.group <= 16 ? match_kernel<16> : match_kernel<32>;
  cuda::allow_shared_memory(kernel);
  const dim3 grid_size(batch.blocks_x, batch.blocks_y);
  kernel<<<grid_size, threads, plan.shared_bytes, stream>>>(args);
  cuda::check(cudaGetLastError());
}

}  // namespace lull::bm3d
