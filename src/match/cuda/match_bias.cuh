#pragma once
// Distance bias for coloured noise (MatchParams::bias), applied to scores between steps 2 and 3 of
// match.cu.

#include <cmath>
#include <cstdlib>

#include "match/cuda/match_tables.cuh"

namespace lull::match_detail {

/// Returns the index of the bias, |dy * correlation_lags + dx|, which is equal for opposite
/// displacements.
constexpr int bias_place(int dx, int dy) {
  const int place = dy * correlation_lags + dx;
  return place < 0 ? -place : place;
}
inline constexpr int bias_places = bias_place(correlation_reach, correlation_reach) + 1;

/// The distance bias in the unit of scores.
struct ScoreBias {
  std::int32_t of[bias_places];

  ScoreBias(const DistanceBias& bias, const Guide& guide) {
    // The constructor clamps the bias to the range of scores, because a larger bias has the same
    // effect.
    constexpr double most = 65535;
    for (int dy = 0; dy <= correlation_reach; ++dy)
      for (int dx = dy == 0 ? 0 : -correlation_reach; dx <= correlation_reach; ++dx) {
        const double half = half_distance(static_cast<double>(bias[lag_index(dx, dy)]), guide);
        of[bias_place(dx, dy)] = static_cast<std::int32_t>(std::lrint(half > most    ? most
                                                                      : half < -most ? -most
                                                                                     : half));
      }
  }
};

/// The distance bias in shared memory.
struct SharedBias {
  const std::int32_t* of;

  /// Copies the bias to shared memory at `memory`. The thread block must synchronise before it
  /// reads the bias.
  __device__ SharedBias(const ScoreBias& bias, std::int32_t (&memory)[bias_places]) : of(memory) {
    if (threadIdx.x < bias_places) memory[threadIdx.x] = bias.of[threadIdx.x];
  }

  /// Applies the bias to all scores except 0, which means no candidate. `scan` contains the scores
  /// of some rows of the search window of a reference patch. The reference patch is in column
  /// `radius` and row `own_row` of `scan`. `own_row` may be above the first row or below the last
  /// row of `scan`.
  __device__ __forceinline__ void apply(const Scan& scan, int own_row, int radius, int lane) const {
    if (own_row + correlation_reach < 0 || own_row - correlation_reach >= scan.rows) return;
    for (int i = lane; i < correlation_lags * correlation_lags; i += 32) {
      const int dy = i / correlation_lags - correlation_reach;
      const int dx = i % correlation_lags - correlation_reach, row = own_row + dy;
      if (row < 0 || row >= scan.rows || dx < -radius || dx > radius || (dx == 0 && dy == 0))
        continue;
      std::uint16_t& score = *scan.score(row, radius + dx);
      if (score != 0)
        score = static_cast<std::uint16_t>(min(max(score - of[bias_place(dx, dy)], 0), 65535));
    }
  }
};

}  // namespace lull::match_detail
