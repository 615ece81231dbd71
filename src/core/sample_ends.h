#pragma once
// Where samples end, and what becomes of results that lie beyond, for hosts and devices alike.
//
// Noise that was clipped is taken away by a filter whose results err to both sides. Limited one by
// one they would err to one side alone, and black areas would come out brighter than black. So what
// is beyond is taken off those that are not, near by: the nearest picture, in the least squares'
// sense, that stays between the ends and keeps the mean of its surroundings. It is found by a toll
// on all samples close to the end (a projection onto a simplex: Held, Wolfe, Crowder 1974,
// doi:10.1007/BF01580223), which is the less for those the farther away they are, so that other
// content does not pay.

#include <algorithm>

#include "core/image.h"

namespace lull {

/// One end of the samples on the 0..255 scale.
struct SampleEnd {
  float at = 0;
  float inward = 1;  // 1: samples lie above it; -1: below
  float reach = 0;   // samples closer than that pay a toll; 0: samples do not end

  constexpr bool is_there() const { return reach > 0; }
  /// How far inside v is; what is no number is nowhere near.
  constexpr float depth(float v) const { return inward * (v - at); }
  constexpr bool is_near(float depth) const { return depth < reach; }
  /// Of a toll, for a sample that is near.
  constexpr float share(float depth) const {
    const float share = 2 - 2 * depth / reach;
    return share < 1 ? share : 1;
  }
  /// The depth that is left; below 0 what is to be 0.
  constexpr float after(float depth, float toll) const { return depth - toll * share(depth); }
  constexpr float kept(float v, float toll) const {
    const float before = depth(v);
    if (!is_near(before)) return v;
    const float left = after(before, toll);
    return at + inward * (left > 0 ? left : 0);
  }
};

struct SampleEnds {
  SampleEnd low, high{.at = 255, .inward = -1};
};

/// Tolls are found for cells of so many samples a side, each from the cell and half a cell around
/// it, and linear between their middles.
inline constexpr int toll_cell = 64, toll_window = 2 * toll_cell;
constexpr int toll_cells(int size) { return (size + toll_cell - 1) / toll_cell; }

/// The toll of a window, for which the sum of what is left is that of the depths: Newton's method,
/// which gets there from below, as the sum is convex in the toll.
struct TollSums {
  static constexpr int rounds = 6;
  float left = 0, shares = 0;  // of the samples that are not at the end

  constexpr void add(const SampleEnd& end, float depth, float toll) {
    const float after = end.after(depth, toll);
    if (!(after > 0)) return;
    left += after;
    shares += end.share(depth);
  }
  /// @param depths  their sum
  constexpr float next(const SampleEnd& end, float depths, float toll) const {
    const float wanted = depths > 0 ? depths : 0;
    if (!(left > wanted) || !(shares > 0)) return toll;
    const float next = toll + (left - wanted) / shares, most = end.reach / 2;
    return next < most ? next : most;
  }
};

/// Where a row or column of samples lies among cells.
struct TollPlace {
  int before, behind;
  float share;  // of the second
  constexpr TollPlace(int place, int cells) : before(0), behind(0), share(0) {
    const float at = (static_cast<float>(place) + 0.5f) / toll_cell - 0.5f;
    if (at <= 0) return;
    before = static_cast<int>(at);
    if (before >= cells - 1) before = cells - 1;
    behind = before < cells - 1 ? before + 1 : before;
    share = at - static_cast<float>(before);
    if (behind == before) share = 0;
  }
};

/// At one sample, of the tolls of `columns` cells a row.
constexpr float toll_at(const float* tolls, int columns, const TollPlace& x, const TollPlace& y) {
  const float* above = tolls + y.before * columns;
  const float* below = tolls + y.behind * columns;
  const float a = above[x.before] + x.share * (above[x.behind] - above[x.before]);
  const float b = below[x.before] + x.share * (below[x.behind] - below[x.before]);
  return a + y.share * (b - a);
}

/// `plane` on the 0..255 scale: nothing lies beyond the ends any more.
void keep_between(const SampleEnds& ends, PlaneView<float> plane);

}  // namespace lull
