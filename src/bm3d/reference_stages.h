#pragma once
// The stages of the reference backend, one by one, so that tests can hold the stages of the other
// backends against them. Everything is double.

#include <array>
#include <complex>
#include <span>
#include <vector>

#include "bm3d/group.h"
#include "bm3d/params.h"
#include "bm3d/transforms.h"
#include "core/image.h"

namespace lull::bm3d {

/// Mean squared difference of the patches at (ax, ay) and (bx, by).
[[nodiscard]] double patch_distance(PlaneView<const float> guide, int ax, int ay, int bx, int by);

/// Grouping: the patches of the search window around (x, y), clipped to the picture, that are most
/// similar to the reference patch at (x, y); see group.h.
[[nodiscard]] Group match(PlaneView<const float> guide, int x, int y, const PhaseParams& phase);

/// The patches of a group: samples or coefficients, in the order of its members.
template <class Coefficient>
using GroupStack = std::vector<Block<Coefficient>>;

template <class Coefficient>
[[nodiscard]] GroupStack<Coefficient> gather(PlaneView<const float> plane, int x, int y,
                                             const Group& group);

/// Collaborative hard threshold of `stack` in place: coefficients of magnitude <= `threshold`
/// become 0; for those of the mean over the group (coefficient 0 of the group transform) the limit
/// is `mean_threshold`. Gives the group's weight.
template <class Coefficient>
double hard_threshold(GroupStack<Coefficient>& stack, const PatchTransform<Coefficient>& transform,
                      GroupTransform across, double threshold, double mean_threshold);

/// Collaborative Wiener filter of `stack` in place, with the spectrum of `basic` (patches of the
/// basic estimate) as that of the signal and `noise` = mu2 sigma^2. Gives the group's weight.
template <class Coefficient>
double wiener(GroupStack<Coefficient>& stack, GroupStack<Coefficient> basic,
              const PatchTransform<Coefficient>& transform, GroupTransform across, double noise);

/// Aggregation: the weighted mean of all estimates of a sample.
class Accumulator {
 public:
  Accumulator(int width, int height);
  /// Adds each patch of `stack` at its place, weighted by `weight` and the separable `window`.
  template <class Coefficient>
  void add(const GroupStack<Coefficient>& stack, int x, int y, const Group& group, double weight,
           const std::array<float, patch>& window);
  /// Every sample must have been covered by a patch.
  void divide(PlaneView<float> estimate) const;

 private:
  int width_;
  std::vector<double> numerator_, denominator_;
};

}  // namespace lull::bm3d
