#pragma once
// The stages of the reference backend, one by one, so that tests can hold the stages of the other
// backends against them. Everything is double.

#include <array>
#include <complex>
#include <span>
#include <vector>

#include "bm3d/group.h"
#include "bm3d/motion.h"
#include "bm3d/params.h"
#include "bm3d/transforms.h"
#include "core/image.h"

namespace lull::bm3d {

/// Mean squared difference of the patches at (ax, ay) of `a` and (bx, by) of `b`.
[[nodiscard]] double patch_distance(PlaneView<const float> a, int ax, int ay,
                                    PlaneView<const float> b, int bx, int by);

/// A plane of a frame, `offset` frames after that of the reference patch.
struct FramePlane {
  int offset = 0;
  PlaneView<const float> samples;
  Motion motion{};  // of the reference patch to this frame, for match()
};

/// Grouping: the patches of the search windows around (x, y), clipped to the picture, that are most
/// similar to the reference patch at (x, y) of guides[0]; see group.h.
[[nodiscard]] Group match(std::span<const FramePlane> guides, int x, int y,
                          const PhaseParams& phase);

/// The patches of a group: samples or coefficients, in the order of its members.
template <class Coefficient>
using GroupStack = std::vector<Block<Coefficient>>;

/// `planes`: of all frames that the group has patches of.
template <class Coefficient>
[[nodiscard]] GroupStack<Coefficient> gather(std::span<const FramePlane> planes, int x, int y,
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
  /// Adds the estimate of one patch, at (x, y), weighted by `weight` and the separable `window`.
  template <class Coefficient>
  void add(const Block<Coefficient>& estimate, int x, int y, double weight,
           const std::array<float, patch>& window);
  /// 0 where no patch covers a sample.
  void divide(PlaneView<float> estimate) const;
  void clear();

 private:
  int width_;
  std::vector<double> numerator_, denominator_;
};

}  // namespace lull::bm3d
