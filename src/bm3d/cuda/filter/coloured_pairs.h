#pragma once
// The contributions of pairs of members to the noise variance of each group coefficient
// (coloured_group.cuh). This file is independent of CUDA.

// For two members of a group, the tables contain r = 1 - c(d) / c(0), one minus the correlation of
// the noise, in half precision. c(d) is the noise covariance of a coefficient in two patches at
// displacement d (noise/patch_covariance.h). Half precision is more accurate for small r than for
// correlations near 1.

// Variance of a group coefficient, in units of c(0): The coefficient is the sum of n members with
// signs s_i = 1 or -1, divided by sqrt(n). With r_ij = 1 - c(d_ij) / c(0) for the members i and j,
// let v be the sum of s_i * s_j * r_ij over all pairs, multiplied by -2 / n. The variance is n + v
// for the mean, whose signs are all 1, and v for all other coefficients.

// A constant matrix maps the values r_ij of all pairs of members to the noise variances of the
// group coefficients. There is one matrix for each number of members.

// The matrices contain the pairs of members m and m' in the order of x = m XOR m'. With the Haar
// transform, the elements of a pair depend on the position of the highest 1 bit of x. The elements
// also depend on the bits of m at all other positions. Therefore, values of x with the same highest
// 1 bit share a matrix (HaarPairs::matrix_of).

namespace lull::bm3d::filter_detail {

/// Number of pairs of members in one matrix product on the tensor cores.
inline constexpr int pairs_of_chunk = 16;

/// A pair of members of a group. If a chunk has more elements than pairs, the unused elements
/// contain two equal members.
struct MemberPair {
  int first = 0, second = 0;
};

/// Returns the value of the highest set bit of x, or 0 if x is 0.
constexpr int highest_bit(int x) {
  int bit = x == 0 ? 0 : 1;
  while (2 * bit <= x && bit != 0) bit *= 2;
  return bit;
}

/// Returns pair `index` of a group of N = 2^log2_members members: m and m XOR x, with x = index /
/// (N / 2). The indices N / 2 to N^2 / 2 - 1 enumerate all pairs. For all other indices, both
/// members of the result are 0.
constexpr MemberPair pair_of(int log2_members, int index) {
  const int members = 1 << log2_members, half = members / 2;
  if (half == 0) return {};
  const int x = index / half, q = index % half;
  if (x == 0 || x >= members) return {};
  // In binary, the function inserts a 0 bit into q at the position of the highest 1 bit of x, and
  // moves the higher bits of q up. The result is m. At the position of the inserted bit, m has a 0
  // bit, and m XOR x has a 1 bit. Therefore, each pair (m, m XOR x) occurs only once. Example for N
  // = 8: index 11 has x = 10b and q = 11b, so the members are 101b and 111b.
  const int above = highest_bit(x);
  const int first = (q & (above - 1)) + 2 * (q & ~(above - 1));
  return {first, first ^ x};
}

/// Returns the number of chunks of 16 pairs that contain all pairs of a group.
constexpr int chunks_of(int log2_members) {
  const int places = (1 << 2 * log2_members) / 2;
  return log2_members == 0 ? 0 : (places + pairs_of_chunk - 1) / pairs_of_chunk;
}

/// A matrix element: sign / 2^shift, or 0 if the sign is 0.
struct Term {
  int sign = 0, shift = 0;
};

constexpr int log2_of(int power) {
  int log = 0;
  while (1 << log < power) ++log;
  return log;
}

/// The contributions of pairs of members to the noise variances of the Haar coefficients, in the
/// order of filter.cuh. In groups of 32 members, coefficients 16..31 are the differences of two
/// adjacent members.
struct HaarPairs {
  /// Returns the index of the sign matrix for a chunk of pairs.
  static constexpr int matrix_of(int chunk) {
    return chunk == 0 ? 0 : log2_of(2 * highest_bit(chunk));
  }

  /// Returns the weight of `pair` in the noise variance of Haar coefficient 16 * set + k, where
  /// `set` is 0 or 1, and k is 0..15. The variance is a constant plus a weighted sum over all pairs
  /// of members. The terms of the sum are one minus the correlation of the noise of the two
  /// members.
  static constexpr Term term(int log2_members, int set, int k, MemberPair pair) {
    const int i = 16 * set + k, members = 1 << log2_members;
    if (i >= members || pair.first == pair.second) return {};
    const int before = i == 0 ? 1 : highest_bit(i);  // number of coefficients with a larger support
    const int n = members / before, start = i == 0 ? 0 : (i - before) * n;
    const auto sign = [&](int m) {
      const int place = m - start;
      return place < 0 || place >= n ? 0 : i == 0 || place < n / 2 ? 1 : -1;
    };
    return {-sign(pair.first) * sign(pair.second), log2_of(n) - 1};
  }
};

/// The contributions of pairs of members to the noise variances of the Walsh-Hadamard coefficients.
/// Groups of 32 members have two sets of 16 coefficients: the transforms of the 16 sums (set 0) and
/// of the 16 differences (set 1) of adjacent members. Smaller groups have only set 0, the transform
/// of the members.
struct WalshHadamardPairs {
  static constexpr int matrix_of(int chunk) { return chunk; }

  static constexpr Term term(int log2_members, int set, int k, MemberPair pair) {
    int w = 0;
    if (log2_members == 5) {
      w = 2 * k + set;
    } else {
      const int times = 16 >> log2_members;
      if (set != 0 || k % times != 0) return {};
      w = k / times;
    }
    if (pair.first == pair.second) return {};
    int odd = 0;
    for (int bits = w & (pair.first ^ pair.second); bits != 0; bits /= 2) odd ^= bits & 1;
    return {odd != 0 ? 1 : -1, log2_members - 1};
  }
};

}  // namespace lull::bm3d::filter_detail
