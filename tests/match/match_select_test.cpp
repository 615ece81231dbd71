// Tests step 3 of match.cu, which is the selection by a warp. The warp is simulated without a GPU,
// and the result is compared with sorting all candidates.

#include "support/warp.h"

// These headers need the simulated warp above.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "match/cuda/match_select.cuh"

namespace lull {
namespace {

using namespace match_detail;
using test_support::Warp;

enum class Content { noise, constant, halves, two_levels, few_levels, one_better };

/// Scores of a window, row by row.
struct Window {
  int side;
  std::vector<std::uint16_t> scores;

  Window(int window, Content content, unsigned seed) : side(window), scores(window * window) {
    std::mt19937 rng{seed};
    for (int i = 0; i < side * side; ++i) {
      int score = 65535;
      if (content == Content::noise) score = 30000 + static_cast<int>(rng() % 30000);
      if (content == Content::halves && i % side > side / 2)
        score = 20000 + static_cast<int>(rng() % 40000);
      if (content == Content::two_levels) score = rng() % 8 == 0 ? 65535 : 65100;
      if (content == Content::few_levels) score = 65535 - static_cast<int>(rng() % 40);
      if (content == Content::one_better) score = i == side * side - 1 ? 65535 : 65000;
      scores[i] = static_cast<std::uint16_t>(score);
    }
    scores[side * side / 2] = 0;  // the reference patch itself
  }

  /// Returns the keys of the list, best first.
  std::vector<std::uint32_t> by_sorting(int keep, int min_score) const {
    std::vector<std::uint32_t> keys{best_key};
    for (int i = 0; i < side * side; ++i)
      if (scores[i] >= min_score) keys.push_back(std::uint32_t{scores[i]} << 16 | (65535 - i));
    std::sort(keys.begin(), keys.end(), std::greater<>());
    keys.resize(std::min<std::size_t>(keys.size(), keep));
    return keys;
  }
};

struct Selection {
  std::vector<std::uint32_t> keys;
  std::int64_t operations;  // number of operations of the complete warp
};

/// The scan works like match_own(): in bands of rows, one scan each.
template <int N, int chunk>
Selection select_by_warp(const Window& window, int keep, int min_score, int band_rows, int odd) {
  const int row_words = (window.side + 1) / 2;
  const auto row_inverse = static_cast<std::uint32_t>(((1 << 20) + row_words - 1) / row_words);
  std::vector<std::uint32_t> table(band_rows * row_words + 32 * chunk), gathered(gathered_words);
  std::array<std::uint32_t, 32> keys{};
  const auto program = [&](int lane) {
    BestList best{lane == 0 ? best_key : 0u, keep == 1 ? best_key : 0u};
    Gathering gathering(gathered.data());
    for (int first = 0; first < window.side; first += band_rows) {
      const Scan scan{std::min(band_rows, window.side - first),
                      odd,
                      first * window.side,
                      window.side,
                      row_words,
                      row_inverse,
                      table.data()};
      if (lane == 0) {
        std::fill(table.begin(), table.end(), 0xffffffffu);  // the gaps contain arbitrary values
        for (int y = 0; y < scan.rows; ++y)
          for (int x = 0; x < window.side; ++x)
            *scan.score(y, x) = window.scores[(first + y) * window.side + x];
      }
      __syncwarp();
      clear_gaps<chunk>(scan, lane);
      select<N, chunk>(scan, keep, min_score, gathering, best);
    }
    keys[lane] = lane < keep ? best.key : 0;
  };
  Selection selection{{}, Warp::run(program)};
  for (const std::uint32_t key : keys)
    if (key != 0) selection.keys.push_back(key);
  return selection;
}

template <int N, int chunk>
void expect_sorted(int side, int keep, int min_score, int band_rows) {
  for (const Content content : {Content::noise, Content::constant, Content::halves,
                                Content::two_levels, Content::few_levels, Content::one_better})
    for (const int odd : {0, 1}) {
      const Window window(side, content, 20240607 + odd);
      ASSERT_EQ((select_by_warp<N, chunk>(window, keep, min_score, band_rows, odd).keys),
                window.by_sorting(keep, min_score))
          << "content " << static_cast<int>(content) << ", window " << side << ", group " << keep
          << ", band of " << band_rows << " rows, words at a time " << chunk;
    }
}

TEST(MatchSelect, FindsTheBestInOrder) {
  for (const int keep : {1, 2, 8, 16}) expect_sorted<16, 11>(25, keep, 1, 25);
  expect_sorted<16, 6>(19, 16, 65100, 19);
  expect_sorted<32, 25>(39, 32, 1, 39);
  expect_sorted<32, 25>(39, 32, 65101, 39);
}

TEST(MatchSelect, ContinuesAcrossBandsAndChunks) {
  expect_sorted<16, 6>(25, 16, 1, 8);
  expect_sorted<32, 6>(25, 32, 1, 25);
  expect_sorted<16, 4>(19, 8, 1, 16);
  expect_sorted<32, 11>(39, 32, 40000, 16);
}

TEST(MatchSelect, TakesNoLongerForEqualScores) {
  const auto expect_as_fast = [](auto select) {
    const auto of = [&](Content content, int side) {
      std::int64_t most = 0;
      for (unsigned seed = 1; seed < 6; ++seed)
        most = std::max(most, select(Window(side, content, seed)));
      return most;
    };
    for (const int side : {19, 25, 39})
      for (const Content content : {Content::constant, Content::one_better})
        EXPECT_LE(of(content, side), of(Content::noise, side) * 5 / 4)
            << "content " << static_cast<int>(content) << ", window " << side;
  };
  expect_as_fast(
      [](const Window& w) { return select_by_warp<16, 11>(w, 16, 1, w.side, 0).operations; });
  expect_as_fast(
      [](const Window& w) { return select_by_warp<32, 25>(w, 32, 1, w.side, 0).operations; });
}

}  // namespace
}  // namespace lull
