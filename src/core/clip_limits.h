#pragma once
// Clips filter results to the limits of the samples and preserves local means. Host code and device
// code use the same functions.

// The errors of a filter have both signs. If clipping only removed the negative errors, it would
// brighten black areas. To preserve the local mean, clipping therefore also moves other samples
// near a limit towards the limit. The samples nearest to the limit move by the clipping shift.

// Clipping preserves the local means of the filter's result. Of all pictures within the limits that
// have these means, the clipped picture is nearest to the filter's result in the least-squares
// sense (projection onto a simplex: Held, Wolfe, Crowder 1974, doi:10.1007/BF01580223). Samples far
// from a limit do not change.

#include <algorithm>

#include "core/image.h"

namespace lull {

/// One end of the range of the samples, on the 0..255 scale.
struct ClipLimit {
  float at = 0;
  float inward = 1;  // 1: samples lie above the limit; -1: below
  float reach = 0;   // samples closer to the limit than this are shifted; 0: there is no limit

  constexpr bool is_enabled() const { return reach > 0; }
  /// Returns the distance of the sample `v` from the limit, positive inside the range. If `v` is
  /// NaN, the result is NaN, and is_near() returns false for this result.
  constexpr float depth(float v) const { return inward * (v - at); }
  constexpr bool is_near(float depth) const { return depth < reach; }
  /// Returns the share of the clipping shift by which clipping moves a sample. The share is 1 for
  /// distances up to `reach` / 2, and decreases linearly to 0 at the distance `reach`.
  /// @param depth  distance of the sample from the limit, less than `reach`
  constexpr float share(float depth) const {
    const float share = 2 - 2 * depth / reach;
    return share < 1 ? share : 1;
  }
  /// Moves a sample towards the limit by `shift` * share(depth), and returns the new distance. If
  /// the new distance is negative, the caller must replace it by 0.
  /// @param depth  distance of the sample from the limit, less than `reach`
  constexpr float shifted(float depth, float shift) const { return depth - shift * share(depth); }
  constexpr float clipped(float v, float shift) const {
    const float before = depth(v);
    if (!is_near(before)) return v;
    const float left = shifted(before, shift);
    return at + inward * (left > 0 ? left : 0);
  }
};

struct ClipLimits {
  ClipLimit low, high{.at = 255, .inward = -1};
};

/// Clipping moves samples near a limit towards the limit, by at most the clipping shift. Each cell
/// of clip_shift_cell x clip_shift_cell samples has a clipping shift. This shift depends on the
/// samples of a window that exceeds the cell by half a cell on each side. Linear interpolation
/// gives the shift between the centres of cells.
inline constexpr int clip_shift_cell = 64, clip_shift_window = 2 * clip_shift_cell;
constexpr int clip_shift_cells(int size) { return (size + clip_shift_cell - 1) / clip_shift_cell; }

/// Sums for one step of Newton's method, over the samples near a limit in one window. The method
/// finds the shift: the maximum distance by which clipping moves these samples towards the limit.
/// The steps approach the shift from below, because the method solves a convex equation.
struct ClipShiftSums {
  static constexpr int rounds = 6;
  float left = 0, shares = 0;  // sums over the samples within the limit after the shift

  constexpr void add(const ClipLimit& limit, float depth, float shift) {
    const float shifted = limit.shifted(depth, shift);
    if (!(shifted > 0)) return;
    left += shifted;
    shares += limit.share(depth);
  }
  /// Returns the next estimate of the clipping shift, the maximum distance by which clipping moves
  /// samples towards the limit, by one step of Newton's method.
  /// @param depths  sum of the distances of the samples from the limit before clipping
  /// @param shift  the current estimate
  constexpr float next(const ClipLimit& limit, float depths, float shift) const {
    const float wanted = depths > 0 ? depths : 0;
    if (!(left > wanted) || !(shares > 0)) return shift;
    const float next = shift + (left - wanted) / shares, most = limit.reach / 2;
    return next < most ? next : most;
  }
};

/// For a row or column, clip_shift_at() interpolates between the clipping shifts of two cells. The
/// row or column lies between the centres of these cells. At a border of the picture, the two cells
/// are the same.
struct ClipShiftPosition {
  int before, behind;
  float share;  // weight of `behind`
  constexpr ClipShiftPosition(int place, int cells) : before(0), behind(0), share(0) {
    const float at = (static_cast<float>(place) + 0.5f) / clip_shift_cell - 0.5f;
    if (at <= 0) return;
    before = static_cast<int>(at);
    if (before >= cells - 1) before = cells - 1;
    behind = before < cells - 1 ? before + 1 : before;
    share = at - static_cast<float>(before);
    if (behind == before) share = 0;
  }
};

/// Returns the clipping shift at a sample: the maximum distance by which clipping moves samples
/// near the limit towards the limit. `shifts` contains the clipping shift of each cell, with
/// `columns` cells per row. The function interpolates linearly between cells.
constexpr float clip_shift_at(const float* shifts, int columns, const ClipShiftPosition& x,
                              const ClipShiftPosition& y) {
  const float* above = shifts + y.before * columns;
  const float* below = shifts + y.behind * columns;
  const float a = above[x.before] + x.share * (above[x.behind] - above[x.before]);
  const float b = below[x.before] + x.share * (below[x.behind] - below[x.before]);
  return a + y.share * (b - a);
}

/// Clips the samples of `plane`, on the 0..255 scale, to the limits, and preserves local means.
void clip_preserving_mean(const ClipLimits& limits, PlaneView<float> plane);

}  // namespace lull
