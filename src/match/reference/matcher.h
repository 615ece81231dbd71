#pragma once
// Matching for the reference backend: follows the papers directly, for patches of any shape.

#include <memory>
#include <span>

#include "core/image.h"
#include "match/group.h"
#include "match/match_params.h"
#include "match/patch_shape.h"
#include "noise/holes.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull {

/// Returns the mean squared difference of the patches at (ax, ay) of `a` and (bx, by) of `b`.
[[nodiscard]] double patch_distance(PlaneView<const float> a, int ax, int ay,
                                    PlaneView<const float> b, int bx, int by,
                                    PatchShape shape = square_8);

/// The data of a frame that the matcher reads: one plane and the motion of the reference patch.
struct SamplePlane {
  PlaneView<const float> samples;
  // Motion vector of the reference patch from the reference frame to this frame.
  Motion motion{};
  const Holes* holes = nullptr;
};
using FramePlane = FrameAt<SamplePlane>;

/// Returns the group of the reference patch at (x, y) of guides[0], by the rules of group.h.
[[nodiscard]] Group match(std::span<const FramePlane> guides, int x, int y,
                          const MatchParams& params, PatchShape shape = square_8);

/// Makes the group of the reference patch at (x, y) by propagation (propagation.h). `members` are
/// displacements from stored groups.
[[nodiscard]] Group propagate(std::span<const FramePlane> guides, int x, int y,
                              std::span<const std::uint32_t> members, const MatchParams& params,
                              PatchShape shape = square_8);

namespace reference {

/// Interface of the matchers of the reference backend.
class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Prepares the matcher for the reference patches of guides[0]. The data of `guides` must remain
  /// valid until the last find().
  virtual void begin(std::span<const FramePlane>, const MatchParams&, PatchShape) {}
  [[nodiscard]] virtual Group find(std::span<const FramePlane> guides, int x, int y,
                                   const MatchParams& params, PatchShape shape) const = 0;
};
/// Returns a matcher that searches complete windows.
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher();
/// Returns a matcher that takes its candidates from clusters (match/clusters.h), for patches of the
/// shape square_8.
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher();
/// Returns a matcher that calls the cluster matcher if MatchParams::clusters has a value, and
/// otherwise the exhaustive matcher.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher();

}  // namespace reference
}  // namespace lull
