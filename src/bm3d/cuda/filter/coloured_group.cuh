#pragma once
// The noise variances of the coefficients of a group with coloured noise. Lane (g, t) = (lane / 4,
// lane % 4) needs the variances of the coefficients that it stores:
// - along the columns: the 8 patch coefficients with the horizontal frequency g
// - across the group: the group coefficients 2t, 2t + 1, 2t + 8 and 2t + 9

// To compute the noise variances, a warp multiplies two matrices. The left matrix has a row for
// each of the 16 coefficients in two rows of a patch. It has a column for each pair of members. Its
// elements are r = 1 - c(d) / c(0) (coloured_pairs.h). The right matrix contains signs.

// A table in memory contains the left matrix. In one access, a lane reads 8 half-precision elements
// of one pair of members. Eight lanes together read a table entry of 128 bytes.

// Cost of the noise variances: about 90 instructions per group for the table look-up, and about 36
// instructions per chunk of 16 pairs of members for all other steps.

#include "bm3d/cuda/filter/coloured_pairs.h"
#include "bm3d/cuda/filter/coloured_transforms.cuh"
#include "noise/patch_covariance.h"

namespace lull::bm3d::filter_detail {

template <class GroupTransform>
struct PairsOf;
template <>
struct PairsOf<Haar> : HaarPairs {};
template <>
struct PairsOf<WalshHadamard> : WalshHadamardPairs {};

/// The four pairs of members that one lane handles. The 32 lanes together handle eight chunks of 16
/// pairs. Lane 4g + t (t = 0..3) handles pairs of chunk g. `low` contains pairs 2t and 2t + 1.
/// `high` contains pairs 2t + 8 and 2t + 9. A word contains two pairs, with one byte per member.
struct alignas(8) LanePairs {
  std::uint32_t low, high;
};
struct PairTable {
  LanePairs up_to_16[4][32];  // [log2 of members - 1][lane]
  LanePairs of_32[4][32];     // [chunk / 8][lane]
};

constexpr PairTable make_pair_table() {
  PairTable table{};
  for (int row = 0; row < 8; ++row)
    for (int lane = 0; lane < 32; ++lane) {
      const int log2 = row < 4 ? row + 1 : 5, chunk = (row < 4 ? 0 : 8 * (row - 4)) + lane / 4;
      const auto word = [&](int place) {
        std::uint32_t packed = 0;
        for (int i = 0; i < 2; ++i) {
          const MemberPair pair = pair_of(log2, pairs_of_chunk * chunk + place + i);
          packed |= static_cast<std::uint32_t>(pair.first | pair.second << 8) << 16 * i;
        }
        return packed;
      };
      LanePairs& pairs = (row < 4 ? table.up_to_16[row] : table.of_32[row - 4])[lane];
      pairs.low = word(2 * (lane % 4));
      pairs.high = word(2 * (lane % 4) + 8);
    }
  return table;
}
__device__ const PairTable pair_table = make_pair_table();

/// The part of a matrix of signs that one lane passes to the tensor cores as the right operand.
/// Lane (g, t) = (lane / 4, lane % 4) contains elements of column g: rows 2t and 2t + 1 in at[0],
/// and rows 2t + 8 and 2t + 9 in at[1].
struct alignas(8) SignWords {
  std::uint32_t at[2];
};
/// The sign matrices for all group sizes, as [matrix][group coefficients 0..7 or 8..15][lane].
template <class GroupTransform>
struct SignTable {
  static constexpr int of_16 = PairsOf<GroupTransform>::matrix_of(7) + 1;
  static constexpr int of_32 = PairsOf<GroupTransform>::matrix_of(31) + 1;
  // Returns the index, in the array `up_to_16`, of the first matrix for 2^log2 members.
  static constexpr int first(int log2) { return log2 < 4 ? log2 - 1 : 4; }

  SignWords up_to_16[4 + of_16][2][32];
  SignWords wide[2][of_32][2][32];  // [set]
};

template <class GroupTransform>
constexpr SignWords sign_words(int log2, int set, int chunk, int block, int lane) {
  SignWords words{};
  for (int row = 0; row < 4; ++row) {
    const int place = 2 * (lane % 4) + 8 * (row / 2) + row % 2;
    const Term term = PairsOf<GroupTransform>::term(log2, set, lane / 4 + 8 * block,
                                                    pair_of(log2, pairs_of_chunk * chunk + place));
    words.at[row / 2] |= power_bits(term.sign, term.shift) << 16 * (row % 2);
  }
  return words;
}

template <class GroupTransform>
constexpr SignTable<GroupTransform> make_sign_table() {
  using Table = SignTable<GroupTransform>;
  Table table{};
  for (int block = 0; block < 2; ++block)
    for (int lane = 0; lane < 32; ++lane) {
      for (int log2 = 1; log2 <= 4; ++log2)
        for (int chunk = 0; chunk < chunks_of(log2); ++chunk)
          table.up_to_16[Table::first(log2) + PairsOf<GroupTransform>::matrix_of(chunk)][block]
                        [lane] = sign_words<GroupTransform>(log2, 0, chunk, block, lane);
      for (int set = 0; set < 2; ++set)
        for (int chunk = 1; chunk < chunks_of(5); ++chunk)
          table.wide[set][PairsOf<GroupTransform>::matrix_of(chunk)][block][lane] =
              sign_words<GroupTransform>(5, set, chunk, block, lane);
    }
  return table;
}
template <class GroupTransform>
__device__ const SignTable<GroupTransform> sign_table = make_sign_table<GroupTransform>();

/// Converts the displacement of a member to an integer key. If two members are in the same frame,
/// the difference of their keys identifies the displacement between them. If not, the difference is
/// larger than any difference within a frame.
__device__ __forceinline__ int displacement_key(std::uint32_t packed) {
  return displacement_t(packed) * (1 << 27) + displacement_y(packed) * (1 << 13) +
         displacement_x(packed);
}

/// Returns the byte offset, in the table, of column 0 of the entry for two members. The offset of
/// column u is this offset XOR 16 * u. All lanes of a warp must call this function.
/// @param member  in lane m, the displacement_key() of member m
/// @param pair  the indices of the two members, in the two low bytes
__device__ __forceinline__ std::uint32_t pair_offset(const CovarianceView& noise, int member,
                                                     std::uint32_t pair) {
  const int apart = __shfl_sync(~0u, member, static_cast<int>(pair & 0xff)) -
                    __shfl_sync(~0u, member, static_cast<int>(pair >> 8 & 0xff));
  const int dx = apart << 19 >> 19, dy = (apart - dx) >> 13;
  const bool near = abs(dx) <= noise.reach_x && abs(dy) <= noise.reach_y;
  const int place = near ? abs(noise.index(dx, dy)) : noise.uncorrelated;
  constexpr int bytes_of_place = patch * patch * sizeof(std::uint16_t);
  return static_cast<std::uint32_t>(place * bytes_of_place +
                                    CovarianceView::column(place, 0) * (bytes_of_place / patch));
}

/// The 16-bit table offsets for the pairs of one lane, in the order of LanePairs.
struct LaneOffsets {
  std::uint32_t low, high;

  __device__ __forceinline__ LaneOffsets(const CovarianceView& noise, int member,
                                         const LanePairs& pairs)
      : low(pair_offset(noise, member, pairs.low) | pair_offset(noise, member, pairs.low >> 16)
                                                        << 16),
        high(pair_offset(noise, member, pairs.high) | pair_offset(noise, member, pairs.high >> 16)
                                                          << 16) {}
};

/// The left operands of the matrix products for 16 pairs of members. word[i] is the operand for the
/// patch coefficients with the vertical frequencies 2 * i and 2 * i + 1. The elements are values of
/// CovarianceView::decorrelation: 1 minus the noise correlation of the two members of a pair.
struct ChunkRatios {
  std::uint32_t word[4][4];  // [i]

  /// Loads the operands for one chunk of 16 pairs. In all lanes together, `offsets` contains the
  /// table offsets for eight chunks, and `chunk` (0..7) selects one of these chunks.
  __device__ __forceinline__ ChunkRatios(const CovarianceView& noise, const LaneOffsets& offsets,
                                         int chunk, int lane) {
    const auto* const table = reinterpret_cast<const std::uint8_t*>(noise.decorrelation);
    const std::uint32_t own = 16 * (lane >> 2);  // the 8 half-precision numbers with u = g
    const int from = 4 * chunk + (lane & 3);
    const std::uint32_t low = __shfl_sync(~0u, offsets.low, from);
    const std::uint32_t high = __shfl_sync(~0u, offsets.high, from);
    const auto read = [&](std::uint32_t place, std::uint32_t(&to)[4]) {
      const uint4 eight = __ldg(reinterpret_cast<const uint4*>(table + (place ^ own)));
      to[0] = eight.x, to[1] = eight.y, to[2] = eight.z, to[3] = eight.w;
    };
    std::uint32_t of[4][4];
    read(low & 0xffffu, of[0]);
    read(low >> 16, of[1]);
    read(high & 0xffffu, of[2]);
    read(high >> 16, of[3]);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      word[j][0] = __byte_perm(of[0][j], of[1][j], 0x5410);
      word[j][1] = __byte_perm(of[0][j], of[1][j], 0x7632);
      word[j][2] = __byte_perm(of[2][j], of[3][j], 0x5410);
      word[j][3] = __byte_perm(of[2][j], of[3][j], 0x7632);
    }
  }
};

__device__ __forceinline__ float root(float x) {
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Limits two relative variances to values of at least min_group_variance. Returns their square
/// roots in the first phase, and the variances themselves in the second phase.
template <bool second_phase>
__device__ __forceinline__ __half2 stored_ratios(float a, float b) {
  constexpr auto least = static_cast<float>(min_group_variance);
  a = fmaxf(a, least), b = fmaxf(b, least);
  return second_phase ? __floats2half2_rn(a, b) : __floats2half2_rn(root(a), root(b));
}
template <bool second_phase>
__device__ __forceinline__ __half2 stored_ratios(std::uint32_t word) {
  const float2 ratios = __half22float2(halves_of(word));
  return stored_ratios<second_phase>(ratios.x, ratios.y);
}

/// Accumulators for the variances of 8 * `blocks` group coefficients. at[i][block] is for the
/// coefficients 2i and 2i + 1 along a column of a patch.
template <int blocks>
struct RatioSums {
  FloatSums at[4][blocks];

  /// Initialises the sums. If group coefficient 0 is the mean of the group, `members` is the number
  /// of members, and otherwise 0. The sum of this coefficient begins with `members`, and all other
  /// sums begin with 0.
  __device__ __forceinline__ RatioSums(int lane, int members) {
    if ((lane & 3) != 0) return;
#pragma unroll
    for (int j = 0; j < 4; ++j) at[j][0].at[0] = at[j][0].at[2] = static_cast<float>(members);
  }
  __device__ __forceinline__ void add(const ChunkRatios& chunk, int block, const SignWords& signs) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
      at[j][block] = multiply(chunk.word[j], signs.at[0], signs.at[1], at[j][block]);
  }
  template <bool second_phase>
  __device__ __forceinline__ void keep(Slots& ratio) const {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int i = 0; i < 2; ++i)
          ratio[2 * j + i][b] =
              stored_ratios<second_phase>(at[j][b].at[2 * i], at[j][b].at[2 * i + 1]);
  }
};

/// Stores the minimum variance for all coefficients of a set. Coefficients that are only rounding
/// errors, or only differences between copies of a patch, contain no noise and keep this variance.
template <bool second_phase>
__device__ __forceinline__ void store_minimum(Slots& ratio) {
#pragma unroll
  for (int k = 0; k < 8; ++k) ratio[k][0] = ratio[k][1] = stored_ratios<second_phase>(0, 0);
}

/// Stores the noise variances of the group coefficients that are differences of two adjacent
/// members. In units of the noise variance of one member, each result is one minus the correlation
/// of the noise of the two members. `chunk` contains these values for 16 pairs of members. `half`
/// selects pairs 0..7 (0) or 8..15 (1).
template <bool second_phase>
__device__ __forceinline__ void store_halves(const ChunkRatios& chunk, int half, int b,
                                             Slots& ratio) {
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ratio[2 * j + i][b] = stored_ratios<second_phase>(chunk.word[j][2 * half + i]);
}

/// Computes the noise variances of group coefficients 0..15, for groups of up to 16 members.
template <bool second_phase, class GroupTransform>
__device__ __forceinline__ void narrow_ratios(const CovarianceView& noise, int member, int log2,
                                              int lane, Slots& ratio) {
  constexpr bool is_haar = !GroupMatrix<GroupTransform>::transforms_differences;
  constexpr int blocks = is_haar ? 1 : 2;
  store_minimum<second_phase>(ratio);
  RatioSums<blocks> sums(lane, 1 << log2);
  if (log2 > 0) {
    const LaneOffsets offsets(noise, member, pair_table.up_to_16[log2 - 1][lane]);
    const int chunks = log2 < 3 ? 1 : log2 == 3 ? 2 : 8;
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const ChunkRatios ratios(noise, offsets, chunk, lane);
      const int bits = is_haar ? 32 - __clz(chunk) : chunk;  // as in matrix_of()
      const auto& signs = sign_table<GroupTransform>.up_to_16[(log2 < 4 ? log2 - 1 : 4) + bits];
#pragma unroll
      for (int block = 0; block < blocks; ++block) sums.add(ratios, block, signs[block][lane]);
      if (is_haar && log2 == 4 && chunk == 0)  // the second half of the chunk has x = 1
        store_halves<second_phase>(ratios, 1, 1, ratio);
    }
  }
  sums.template keep<second_phase>(ratio);
}

/// Computes the noise variances of the group coefficients for groups of 32 members. With the Haar
/// transform, the function processes all coefficients. With the Walsh-Hadamard transform, it
/// processes the 16 coefficients in Spectrum::set[set] (coloured_transforms.cuh).
template <bool second_phase, class GroupTransform>
__device__ __forceinline__ void wide_ratios(const CovarianceView& noise, int member, int set,
                                            int lane, Slots (&ratio)[2]) {
  constexpr bool is_haar = !GroupMatrix<GroupTransform>::transforms_differences;
  RatioSums<2> sums(lane, set == 0 ? 32 : 0);
#pragma unroll 1
  for (int round = 0; round < 4; ++round) {
    const LaneOffsets offsets(noise, member, pair_table.of_32[round][lane]);
#pragma unroll 1
    for (int chunk = round == 0 ? 1 : 0; chunk < 8; ++chunk) {
      const ChunkRatios ratios(noise, offsets, chunk, lane);
      const int x = 8 * round + chunk, bits = is_haar ? 32 - __clz(x) : x;
      const auto& signs = sign_table<GroupTransform>.wide[set][bits];
      sums.add(ratios, 0, signs[0][lane]);
      if (!is_haar || x < 4)
        // Haar coefficients 8..15 are differences within four consecutive members. Therefore, a
        // pair of members m and m' contributes only if m XOR m' is less than 4.
        sums.add(ratios, 1, signs[1][lane]);
      if (is_haar && x == 1) {
        store_halves<second_phase>(ratios, 0, 0, ratio[1]);
        store_halves<second_phase>(ratios, 1, 1, ratio[1]);
      }
    }
  }
  sums.template keep<second_phase>(ratio[set]);
}

/// Computes the noise variance of each coefficient of a group, divided by the noise variance of the
/// same coefficient in a single patch. Stores the results in `ratios`, in the format of
/// stored_ratios(). Each lane passes the `displacement` of one patch of the group.
template <bool second_phase, int S, class GroupTransform>
__device__ __forceinline__ void group_ratios(const CovarianceView& noise,
                                             std::uint32_t displacement, int log2, int lane,
                                             Spectrum<S>& ratios) {
  const int member =
      __shfl_sync(~0u, displacement_key(displacement), lane << ((S == 1 ? 4 : 5) - log2));
  if constexpr (S == 2) {
    if (log2 == 5) {
      wide_ratios<second_phase, GroupTransform>(noise, member, 0, lane, ratios.set);
      if constexpr (GroupMatrix<GroupTransform>::transforms_differences)
        wide_ratios<second_phase, GroupTransform>(noise, member, 1, lane, ratios.set);
      return;
    }
    store_minimum<second_phase>(ratios.set[1]);
  }
  narrow_ratios<second_phase, GroupTransform>(noise, member, log2, lane, ratios.set[0]);
}

/// Applies the hard threshold to a group with coloured noise. Before the call, `spectrum` contains
/// the standard deviations of the noise (group_ratios()). The function replaces them by the shrunk
/// coefficients. Returns the sum of the noise variances of the retained coefficients, in units of
/// sigma^2.
template <int S, class Transform2d, class GroupTransform>
__device__ __forceinline__ float coloured_threshold(const Slots (&patches)[S],
                                                    const GroupOperands& operands, float limit,
                                                    float mean_factor, const float* own,
                                                    const NoiseScale<S, GroupTransform>& noise,
                                                    int lane, Spectrum<S>& spectrum) {
  own += patch * (lane >> 2);
  float retained = 0;
  for_spectrum<HalfSums, GroupTransform>(
      patches, operands, [&](int set, int k, int b, const HalfSums& sums) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float scale = set == 0 ? noise.deviation[b] : sqrtf(noise.of_differences);
          const float deviation = __ldg(own + patch * patch + k + i);
          const __half2 roots = spectrum.set[set][k + i][b];
          __half2 bound =
              roots * broadcast(limit * deviation * scale * Butterflies<Transform2d>::gain(k + i));
          if (set == 0 && b == 0) {  // lanes with t = 0 have the means over the group
            if ((lane & 3) == 0) bound = bound * __floats2half2_rn(mean_factor, 1);
            if (k + i == 0 && lane == 0)
              bound = __halves2half2(__float2half_rn(-1), __high2half(bound));
          }
          const __half2 value = halves_of(sums.at[i]);
          const __half2 mask = __hgt2(__habs2(value), bound);
          spectrum.set[set][k + i][b] = value * mask;
          const float2 kept = __half22float2(roots * roots * mask);
          retained = fmaf(kept.x + kept.y, __ldg(own + k + i), retained);
        }
      });
  return warp_sum(retained);
}

/// Computes the Wiener factors of a group with coloured noise. Before the call, `factors` contains
/// the noise variances of the coefficients (group_ratios()). The function replaces them by the
/// Wiener factors. Returns the sum of the squared factors, each multiplied by its noise variance in
/// units of sigma^2.
template <int S, class Transform2d, class GroupTransform>
__device__ __forceinline__ float coloured_factors(const Slots (&patches)[S],
                                                  const GroupOperands& operands, float variance,
                                                  const float* own,
                                                  const NoiseScale<S, GroupTransform>& noise,
                                                  int lane, Spectrum<S>& factors) {
  own += patch * (lane >> 2);
  float energy = 0;
  for_spectrum<FloatSums, GroupTransform>(
      patches, operands, [&](int set, int k, int b, const FloatSums& sums) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float gain = Butterflies<Transform2d>::gain(k + i);
          const float scale = variance * (set == 0 ? noise.variance[b] : noise.of_differences);
          const float of_patch = __ldg(own + k + i);
          const float2 ratios = __half22float2(factors.set[set][k + i][b]);
          const float of_group[2] = {of_patch * ratios.x, of_patch * ratios.y};
          float f[2];
#pragma unroll
          for (int q = 0; q < 2; ++q) {
            const float c = sums.at[2 * i + q], noisy = of_group[q] * (scale * (gain * gain));
            f[q] = fmaf(-noisy, reciprocal(fmaf(c, c, noisy)), 1.0f);
            if (q == 0 && b == 0 && is_mean(lane, set, k + i)) f[q] = 1;
            energy = fmaf(f[q] * f[q], of_group[q], energy);
          }
          factors.set[set][k + i][b] = __floats2half2_rn(f[0], f[1]);
        }
      });
  return warp_sum(energy);
}

}  // namespace lull::bm3d::filter_detail
