// The kernels of the cuda backend compute the variances of a group from pairs of its members. These
// tests compare that computation with the definition; they need no GPU.

#include "bm3d/cuda/filter/coloured_pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "bm3d/reference/stages.h"
#include "support/coloured_noise.h"

namespace lull::bm3d {
namespace {

using namespace filter_detail;

/// Members of a group: some are near each other, some are apart, some occur twice, and some are in
/// other frames.
Group group_of(int log2_members, unsigned seed) {
  std::mt19937 rng{seed};
  Group group;
  group.count = 1 << log2_members;
  for (int m = 0; m < group.count; ++m)
    group.members[m] =
        pack_displacement(static_cast<int>(rng() % 25) - 12, static_cast<int>(rng() % 25) - 12,
                          rng() % 4 == 0 ? static_cast<int>(rng() % 3) - 1 : 0);
  group.members[0] = group.members[group.count - 1] = 0;
  return group;
}

TEST(ColouredPairs, ChunksListEveryPairOnce) {
  for (int log2 = 0; log2 <= 5; ++log2) {
    const int members = 1 << log2;
    std::set<std::pair<int, int>> pairs;
    for (int i = 0; i < pairs_of_chunk * chunks_of(log2); ++i) {
      const MemberPair pair = pair_of(log2, i);
      if (pair.first == pair.second) continue;
      ASSERT_GE(pair.first, 0);
      ASSERT_LT(pair.first, pair.second);
      ASSERT_LT(pair.second, members);
      EXPECT_TRUE(pairs.insert({pair.first, pair.second}).second) << pair.first << pair.second;
    }
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(members * (members - 1) / 2));
  }
}

template <class Pairs>
void expect_one_matrix_for_equal_chunks() {
  for (int log2 = 1; log2 <= 5; ++log2)
    for (int chunk = log2 == 5 ? 1 : 0; chunk < chunks_of(log2); ++chunk)
      for (int other = log2 == 5 ? 1 : 0; other < chunk; ++other) {
        if (Pairs::matrix_of(chunk) != Pairs::matrix_of(other)) continue;
        for (int set = 0; set < 2; ++set)
          for (int k = 0; k < 16; ++k)
            for (int place = 0; place < pairs_of_chunk; ++place) {
              const auto term = [&](int of) {
                return Pairs::term(log2, set, k, pair_of(log2, pairs_of_chunk * of + place));
              };
              ASSERT_EQ(term(chunk).sign, term(other).sign) << log2 << ": " << chunk << ", " << k;
              ASSERT_TRUE(term(chunk).sign == 0 || term(chunk).shift == term(other).shift);
            }
      }
}

TEST(ColouredPairs, ChunksWithTheSameMatrixHaveTheSameTerms) {
  expect_one_matrix_for_equal_chunks<HaarPairs>();
  expect_one_matrix_for_equal_chunks<WalshHadamardPairs>();
}

/// Returns the variances of coefficients 0..31 across a group, in units of c(0), for one
/// coefficient of a patch.
template <class Pairs>
std::vector<double> by_pairs(const PatchCovariance& covariance, const Group& group, int log2,
                             int coefficient) {
  const double own = covariance.at(0, 0)[coefficient];
  const auto apart = [&](MemberPair pair) {
    const std::uint32_t a = group.members[pair.first], b = group.members[pair.second];
    const int dx = displacement_x(a) - displacement_x(b);
    const int dy = displacement_y(a) - displacement_y(b);
    const bool share = displacement_t(a) == displacement_t(b) && covariance.reaches(dx, dy);
    return share ? 1 - covariance.at(dx, dy)[coefficient] / own : 1.0;
  };
  std::vector<double> variances(32);
  variances[0] = group.count;
  for (int i = 0; i < pairs_of_chunk * chunks_of(log2); ++i)
    for (int c = 0; c < 32; ++c) {
      const MemberPair pair = pair_of(log2, i);
      const Term term = Pairs::term(log2, c / 16, c % 16, pair);
      if (term.sign != 0) variances[c] += std::ldexp(term.sign, -term.shift) * apart(pair);
    }
  return variances;
}

/// Returns the position that coefficient `i` of a group of 2^log2 members has among the
/// coefficients 0..31.
int place_of(GroupTransform across, int log2, int i) {
  if (across == GroupTransform::haar) return i;
  return log2 == 5 ? 16 * (i % 2) + i / 2 : i * (16 >> log2);
}

TEST(ColouredPairs, SumToTheGroupVariances) {
  const PatchCovariance covariance({7, test_support::slanted_correlation()},
                                   axis_rows(Transform::dct));
  for (int log2 = 0; log2 <= 5; ++log2)
    for (const auto across : {GroupTransform::haar, GroupTransform::wht}) {
      const Group group = group_of(log2, 3 + log2);
      const GroupVariances expected = group_variances(covariance, group, across);
      for (const int coefficient : {0, 1, 8, 27, 63}) {
        const double own = covariance.at(0, 0)[coefficient];
        const std::vector<double> actual =
            across == GroupTransform::haar
                ? by_pairs<HaarPairs>(covariance, group, log2, coefficient)
                : by_pairs<WalshHadamardPairs>(covariance, group, log2, coefficient);
        for (int i = 0; i < group.count; ++i)
          EXPECT_NEAR(std::max(actual[place_of(across, log2, i)], min_group_variance),
                      expected[i][coefficient] / own, 1e-9)
              << "2^" << log2 << " members, across " << static_cast<int>(across) << ": " << i
              << ", " << coefficient;
      }
    }
}

// The kernels rely on this order of the pairs.
TEST(ColouredPairs, AdjacentMembersFormTheFinestHaarDifferences) {
  for (int j = 0; j < 8; ++j) {
    const MemberPair pair = pair_of(4, 8 + j);
    EXPECT_EQ(pair.first, 2 * j);
    EXPECT_EQ(pair.second, 2 * j + 1);
  }
  for (int j = 0; j < 16; ++j) {
    const MemberPair pair = pair_of(5, 16 + j);
    EXPECT_EQ(pair.first, 2 * j);
    EXPECT_EQ(pair.second, 2 * j + 1);
  }
}

}  // namespace
}  // namespace lull::bm3d
