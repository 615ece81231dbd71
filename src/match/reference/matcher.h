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

/// A plane of a frame.
struct SamplePlane {
  PlaneView<const float> samples;
  Motion motion{};                   // motion from the reference patch to this frame, for match()
  PlaneView<const float> partner{};  // the second frame of patches of depth 2
  const Holes* holes = nullptr;
  Motion second_half{};  // displacement of second from first halves (second_half.h)
};
using FramePlane = FrameAt<SamplePlane>;

/// Returns the group of the reference patch at (x, y) of guides[0]: the most similar patches of the
/// search windows around it, clipped to the picture. group.h has the rules.
[[nodiscard]] Group match(std::span<const FramePlane> guides, int x, int y,
                          const MatchParams& params, PatchShape shape = square_8);

/// Returns the group that the reference patch at (x, y) finds by propagation (propagation.h).
/// `members` are the displacements of the kept members that it tests.
[[nodiscard]] Group propagate(std::span<const FramePlane> guides, int x, int y,
                              std::span<const std::uint32_t> members, const MatchParams& params,
                              PatchShape shape = square_8);

namespace reference {

/// Finds groups for the reference backend.
class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Prepares the matcher. It is called before the reference patches of guides[0] are matched. The
  /// data behind `guides` must stay valid until the last of them.
  virtual void begin(std::span<const FramePlane>, const MatchParams&, PatchShape) {}
  [[nodiscard]] virtual Group find(std::span<const FramePlane> guides, int x, int y,
                                   const MatchParams& params, PatchShape shape) const = 0;
};
/// Returns a matcher that uses match().
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher();
/// Returns a matcher by clusters (match/clusters.h) for patches of the shape square_8.
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher();
/// Returns a matcher that selects the exhaustive or the cluster matcher by MatchParams::clusters.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher();

}  // namespace reference
}  // namespace lull
