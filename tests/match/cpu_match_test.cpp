// Compares the matching of the cpu backend with brute force on the same bytes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "match/cpu/kernels.h"

namespace lull::cpu {
namespace {

/// A guide of integers and the other data that matching needs.
class Matching {
 public:
  Matching(int width, int height, int window, int step, int range, unsigned seed)
      : geometry_{width, height, window}, step_(step), range_(range), picture_(width, height) {
    std::mt19937 rng{seed};
    std::uniform_int_distribution<int> level{0, range};
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) picture_.view()(x, y) = static_cast<float>(level(rng));
    const int before = window / step + 2, padding = window + 2 * patch;
    const int elements = before + width / step + max_lanes + padding;
    phase_stride_ = round_up(elements, 32);
    std::uint16_t* const pairs = pairs_.reserve(phase_stride_ * step * (height + 2 * padding));
    std::vector<std::int8_t> bytes(static_cast<std::size_t>(elements) * step + 1);
    for (int y = -padding; y < height + padding; ++y) {
      const int inside = std::min(std::max(y, 0), height - 1);
      pair_row({picture_.view().row(inside), static_cast<std::size_t>(width)},
               {static_cast<float>(range) / 2, 1},
               {pairs + (y + padding) * phase_stride_ * step, phase_stride_, -before, elements,
                step, bytes.data()});
    }
    guide_ = {pairs + padding * phase_stride_ * step + before, phase_stride_ * step, phase_stride_,
              step};
    if (scores_by_products(step)) make_quads(before, elements, padding);
    for (int c = 0; c < window * window; ++c)
      displacements_.push_back(pack_displacement(c % window - window / 2, c / window - window / 2));
  }

  /// `by_products` selects scores_by_products() where the step supports it.
  std::vector<Group> groups_of_row(const Block& block, int row, int group, std::uint16_t limit,
                                   bool by_products = false) {
    const int window = geometry_.window, lanes = lanes_of(block.columns, step_);
    const Scores scores{
        values_.reserve(static_cast<std::size_t>(block.rows) * window * window * lanes),
        minima_.reserve(static_cast<std::size_t>(block.rows) * 2 * group * lanes),
        sums_.reserve(sums_size(block.rows, lanes)),
        outside_.reserve(static_cast<std::size_t>(window + 1) * lanes),
        lanes,
        2 * group};
    if (by_products)
      score_block_by_products(quads_, geometry_, block, scores, bias_);
    else
      score_block(guide_, geometry_, block, scores, bias_);
    std::vector<Ranking> rankings(block.columns);
    rank_candidates({group, limit, displacements_.data()}, geometry_, block, step_, row, scores,
                    {keys_.reserve(select_scratch_size)}, rankings);
    std::vector<Group> groups;
    for (const Ranking& ranking : rankings) groups.push_back(group_of(ranking));
    return groups;
  }

  /// Returns the group by the definition in group.h, candidate by candidate.
  std::vector<std::uint32_t> expected(int x, int y, int group, int limit) const {
    const auto view = picture_.view();
    const int radius = geometry_.window / 2;
    std::vector<std::pair<int, std::uint32_t>> all;
    for (int dy = -radius; dy <= radius; ++dy)
      for (int dx = -radius; dx <= radius; ++dx) {
        const int u = x + dx, v = y + dy;
        const bool inside = u >= 0 && v >= 0 && u + patch <= view.width && v + patch <= view.height;
        if (!inside || (dx == 0 && dy == 0)) continue;
        int sum = 0;
        for (int j = 0; j < patch; ++j)
          for (int i = 0; i < patch; ++i) {
            const int d = static_cast<int>(view(x + i, y + j) - view(u + i, v + j));
            sum += d * d;
          }
        sum = std::min(sum, saturated);
        if (bias_ != nullptr && within_lags(dx, dy)) {
          sum = std::min(sum + bias_->added[lag_index(dx, dy)], saturated);
          if (sum < saturated) sum = std::max(0, sum - bias_->subtracted[lag_index(dx, dy)]);
        }
        if (sum <= limit) all.emplace_back(sum, pack_displacement(dx, dy));
      }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t count = 1;
    while (2 * count <= std::min<std::size_t>(all.size() + 1, group)) count *= 2;
    std::vector<std::uint32_t> members{pack_displacement(0, 0)};
    for (std::size_t m = 1; m < count; ++m) members.push_back(all[m - 1].second);
    return members;
  }

  void expect_right(const Block& block, int group, std::uint16_t limit) {
    expect_right(block, group, limit, false);
    if (scores_by_products(step_)) expect_right(block, group, limit, true);
  }

  void expect_right(const Block& block, int group, std::uint16_t limit, bool by_products) {
    for (int row = 0; row < block.rows; ++row) {
      const std::vector<Group> groups = groups_of_row(block, row, group, limit, by_products);
      for (int column = 0; column < block.columns; ++column) {
        const int x = block.x + column * step_, y = block.y + row * step_;
        const Group& actual = groups[column];
        ASSERT_EQ(std::vector<std::uint32_t>(actual.members.begin(),
                                             actual.members.begin() + actual.count),
                  expected(x, y, group, limit))
            << "step " << step_ << ", window " << geometry_.window << ", group " << group
            << ", limit " << limit << ", reference at " << x << ", " << y
            << (by_products ? ", by products" : "");
      }
    }
  }

  void set_bias(const ScoreBias& bias) { bias_ = &bias; }

  /// Returns all reference patches of the picture that are on the grid, as one block.
  Block whole() const {
    return {0, 0, (geometry_.width - patch) / step_ + 1, (geometry_.height - patch) / step_ + 1};
  }

 private:
  void make_quads(int before, int elements, int padding) {
    const std::ptrdiff_t stride = phase_stride_ * step_;
    const int rows = geometry_.height + 2 * padding;
    // The samples beyond the last row are read, but must not affect the result.
    const std::size_t all = stride * rows + lane_multiple;
    std::int32_t *const quads = quad_samples_.reserve(all), *const norms = norms_.reserve(all);
    std::fill_n(quads, all, 0);
    std::vector<std::int8_t> bytes(static_cast<std::size_t>(elements) * step_ + 3);
    const Quantiser quantiser{static_cast<float>(range_) / 2, 1};
    for (int y = -padding; y < geometry_.height + padding; ++y) {
      const int inside = std::min(std::max(y, 0), geometry_.height - 1);
      quad_row(
          {picture_.view().row(inside), static_cast<std::size_t>(geometry_.width)}, quantiser,
          {quads + (y + padding) * stride, phase_stride_, -before, elements, step_, bytes.data()});
    }
    quads_.quads = {quads + padding * stride + before, stride, phase_stride_, step_};
    quads_.norms = {norms + padding * stride + before, stride, phase_stride_, step_};
    fill_norms(quads_.quads, quads, rows - patch + 1, static_cast<int>(phase_stride_), norms);
  }

  static constexpr int saturated = 65535;
  MatchGeometry geometry_;
  int step_, range_;
  Plane<float> picture_;
  std::ptrdiff_t phase_stride_;
  PairedGuide guide_;
  QuadGuide quads_;
  std::vector<std::uint32_t> displacements_;
  const ScoreBias* bias_ = nullptr;
  Buffer<std::uint16_t> pairs_, values_, minima_, sums_, outside_;
  Buffer<std::int32_t> quad_samples_, norms_;
  Buffer<std::uint32_t> keys_;
};

constexpr std::uint16_t everything = 65534;

TEST(CpuMatch, AddsTheBiasOfSmallDisplacements) {
  ScoreBias bias{};
  std::mt19937 rng{6};
  for (std::size_t i = 0; i < bias.added.size(); ++i)
    (i % 3 == 0 ? bias.subtracted : bias.added)[i] = static_cast<std::uint16_t>(rng() % 4000);
  for (const int step : {1, 3, 6}) {
    Matching matching(61, 47, 21, step, 12, 9);  // scores around 64 * 26
    matching.set_bias(bias);
    matching.expect_right(matching.whole(), 16, everything);
    matching.expect_right(matching.whole(), 16, 1500);
  }
}

// A score that saturates 16 bits stays saturated, whatever the bias subtracts. A score that
// saturates because of the bias is excluded, too.
TEST(CpuMatch, AddsTheBiasToScoresThatSaturate) {
  ScoreBias bias{};
  std::mt19937 rng{7};
  for (std::size_t i = 0; i < bias.added.size(); ++i)
    (i % 2 == 0 ? bias.subtracted : bias.added)[i] = static_cast<std::uint16_t>(rng() % 65535);
  for (const int step : {2, 5}) {
    // The scores are around 64 * 850, and some exceed 16 bits.
    Matching matching(61, 47, 21, step, 70, 10);
    matching.set_bias(bias);
    matching.expect_right(matching.whole(), 32, everything);
  }
}

TEST(CpuMatch, EqualsBruteForceAtEveryStep) {
  for (const int step : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16})
    for (const int group : {2, 16, 32}) {
      // 30^2 * 64 is within 16 bits, so that no score saturates.
      Matching noise(45, 30, 11, step, 30, 10 * step + group);
      noise.expect_right(noise.whole(), group, everything);
      noise.expect_right(noise.whole(), group, 9000);
    }
}

TEST(CpuMatch, OrdersTiesByPosition) {
  for (const int step : {1, 3, 4}) {
    Matching coarse(40, 26, 13, step, 1, step);
    coarse.expect_right(coarse.whole(), 8, everything);
    coarse.expect_right(coarse.whole(), 32, 30);
    Matching flat(40, 26, 17, step, 0, step);
    static_assert(17 * 17 > max_keys);  // so that a list of keys is pruned during the search
    flat.expect_right(flat.whole(), 4, everything);
    flat.expect_right(flat.whole(), 32, 0);
  }
}

TEST(CpuMatch, AcceptsWindowsLargerThanThePicture) {
  for (const int window : {3, 39, 127}) {
    Matching small(17, 9, window, 2, 25, window);
    small.expect_right(small.whole(), 16, everything);
    Matching smallest(8, 8, window, 3, 25, window);
    smallest.expect_right(smallest.whole(), 16, everything);
  }
}

// Blocks in the last column or row begin off the grid.
TEST(CpuMatch, AcceptsBlocksOffTheGrid) {
  for (const int step : {2, 3, 5, 8}) {
    Matching picture(47, 33, 15, step, 28, step);
    picture.expect_right({39, 1, 1, 3}, 16, everything);
    picture.expect_right({5, 25, 2, 1}, 16, everything);
  }
}

TEST(CpuMatch, AcceptsBlocksOfManyVectors) {
  Matching wide(max_lanes + 20, 12, 9, 1, 25, 3);
  wide.expect_right({3, 1, max_lanes - extra_lanes(1), 2}, 16, everything);
}

// Scores beyond 16 bits must not wrap to small values, for either sign of the differences.
TEST(CpuMatch, LargestDifferencesDoNotOverflow) {
  Matching black_and_white(60, 20, 17, 4, 254, 9);
  const std::vector<Group> groups = black_and_white.groups_of_row({0, 0, 13, 4}, 1, 16, 20000);
  for (const Group& group : groups) EXPECT_EQ(group.count, 1);
}

// The guides of large pictures and of many frames have more elements than an `int` counts.
TEST(CpuMatch, BuffersHaveMoreElementsThanAnInt) {
  constexpr std::size_t count = (std::size_t{1} << 31) + 5;
  Buffer<std::int8_t> buffer;
  std::int8_t* const all = buffer.reserve(count);
  all[0] = 1;
  all[count - 1] = 2;  // all other pages remain unused
  EXPECT_EQ(buffer.reserve(count), all);
  EXPECT_EQ(buffer.data()[count - 1], 2);
}

TEST(CpuMatch, QuantisesToTheNearestUnit) {
  const std::vector<float> samples{-300.0f, 10.0f, 11.9f,  12.1f,
                                   12.9f,   13.1f, 500.0f, std::numeric_limits<float>::quiet_NaN()};
  constexpr int step = 3, elements = 5, first = -1;
  std::vector<std::int8_t> bytes(elements * step + 1);
  std::vector<std::uint16_t> pairs(static_cast<std::size_t>(step) * elements);
  pair_row(samples, {10, 2}, {pairs.data(), elements, first, elements, step, bytes.data()});
  const std::vector<int> expected{-127, -127, -127, -127, 0,    1,    1,    1,
                                  2,    127,  -127, -127, -127, -127, -127, -127};
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], expected[i]) << i;
  for (int m = 0; m < step; ++m)
    for (int i = 0; i < elements; ++i) {
      const auto low = static_cast<std::uint8_t>(expected[i * step + m]);
      const auto high = static_cast<std::uint8_t>(expected[i * step + m + 1]);
      EXPECT_EQ(pairs[m * elements + i], low | high << 8) << m << ", " << i;
    }
}

}  // namespace
}  // namespace lull::cpu
