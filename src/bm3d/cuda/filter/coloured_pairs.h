#pragma once
// Which pairs of a group's members make the variance of which coefficient across the group, and how
// (coloured_group.cuh). Nothing here needs a device.
//
// Let r be 1 - c(d) / c(0) for two members d apart, where c is the covariance of a coefficient of
// their patches (noise/patch_covariance.h): 0 for one place, 1 for patches that share no noise. A
// difference across members with signs s, n of which are not 0, has the variance, in units of c(0),
//     (1 / n) sum over m, m' of s_m s_m' (1 - r_mm') = -(2 / n) sum over pairs of s_m s_m' r_mm',
// as its signs add up to 0; for the mean n is added. So all variances are products of one matrix
// for each number of members with a vector of r. (With r in place of c a half resolves what is
// nearly nothing: the difference of neighbours.)
//
// Pairs are numbered by x = m ^ m' first. What Haar makes of a pair then depends on the highest bit
// of x and on the member without it, so that a few matrices do.

namespace lull::bm3d::filter_detail {

/// Pairs that are the terms of one product on the tensor cores.
inline constexpr int pairs_of_chunk = 16;

/// Members of a group; equal where a chunk has more places than there are pairs.
struct MemberPair {
  int first = 0, second = 0;
};

constexpr int highest_bit(int x) {  // 0 for 0
  int bit = x == 0 ? 0 : 1;
  while (2 * bit <= x && bit != 0) bit *= 2;
  return bit;
}

/// Pair `index` of a group of 2^log2_members members: index / half of them is x.
constexpr MemberPair pair_of(int log2_members, int index) {
  const int members = 1 << log2_members, half = members / 2;
  if (half == 0) return {};
  const int x = index / half, q = index % half;
  if (x == 0 || x >= members) return {};
  const int above = highest_bit(x);  // the first member has q's bits around a 0 there
  const int first = (q & (above - 1)) + 2 * (q & ~(above - 1));
  return {first, first ^ x};
}

/// Those that hold all pairs.
constexpr int chunks_of(int log2_members) {
  const int places = (1 << 2 * log2_members) / 2;
  return log2_members == 0 ? 0 : (places + pairs_of_chunk - 1) / pairs_of_chunk;
}

/// sign / 2^shift; nothing for a sign of 0.
struct Term {
  int sign = 0, shift = 0;
};

constexpr int log2_of(int power) {
  int log = 0;
  while (1 << log < power) ++log;
  return log;
}

/// Haar: coefficients as filter.cuh numbers them, those of differences of 16 pairs behind.
struct HaarPairs {
  /// Where all chunks with a number of equal highest bit have one matrix.
  static constexpr int matrix_of(int chunk) {
    return chunk == 0 ? 0 : log2_of(2 * highest_bit(chunk));
  }

  /// What r of a pair adds to the variance of coefficient 16 * set + k.
  static constexpr Term term(int log2_members, int set, int k, MemberPair pair) {
    const int i = 16 * set + k, members = 1 << log2_members;
    if (i >= members || pair.first == pair.second) return {};
    const int before = i == 0 ? 1 : highest_bit(i);  // coefficients of greater support
    const int n = members / before, start = i == 0 ? 0 : (i - before) * n;
    const auto sign = [&](int m) {
      const int place = m - start;
      return place < 0 || place >= n ? 0 : i == 0 || place < n / 2 ? 1 : -1;
    };
    return {-sign(pair.first) * sign(pair.second), log2_of(n) - 1};
  }
};

/// Walsh-Hadamard: in the transform of 16 each of 2^l members stands 16 / 2^l times, so that their
/// coefficients are so far apart; of 32, sums of pairs come first.
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
