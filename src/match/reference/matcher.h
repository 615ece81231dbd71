#pragma once
// Matching for the reference backend: straight from the papers, for patches of any shape.

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

/// Mean squared difference of the patches at (ax, ay) of `a` and (bx, by) of `b`.
[[nodiscard]] double patch_distance(PlaneView<const float> a, int ax, int ay,
                                    PlaneView<const float> b, int bx, int by,
                                    PatchShape shape = square_8);

/// A plane of a frame.
struct SamplePlane {
  PlaneView<const float> samples;
  Motion motion{};                   // of the reference patch to this frame, for match()
  PlaneView<const float> partner{};  // the second frame of patches of depth 2
  const Holes* holes = nullptr;
  Motion second_half{};  // how far beside their first half the second one lies (second_half.h)
};
using FramePlane = FrameAt<SamplePlane>;

/// The patches of the search windows around (x, y), clipped to the picture, that are most similar
/// to the reference patch at (x, y) of guides[0]; see group.h.
[[nodiscard]] Group match(std::span<const FramePlane> guides, int x, int y,
                          const MatchParams& params, PatchShape shape = square_8);

/// What (x, y) propagates (propagation.h), where `members` are those that it looks at, of groups
/// that were kept.
[[nodiscard]] Group propagate(std::span<const FramePlane> guides, int x, int y,
                              std::span<const std::uint32_t> members, const MatchParams& params,
                              PatchShape shape = square_8);

namespace reference {

/// How the reference backend finds groups.
class Matcher {
 public:
  virtual ~Matcher() = default;
  /// Before the reference patches of guides[0]. What `guides` refers to stays until the last.
  virtual void begin(std::span<const FramePlane>, const MatchParams&, PatchShape) {}
  [[nodiscard]] virtual Group find(std::span<const FramePlane> guides, int x, int y,
                                   const MatchParams& params, PatchShape shape) const = 0;
};
/// match().
[[nodiscard]] std::unique_ptr<Matcher> make_exhaustive_matcher();
/// By clusters (match/clusters.h), of patches of square_8.
[[nodiscard]] std::unique_ptr<Matcher> make_cluster_matcher();
/// The one that MatchParams::clusters asks for.
[[nodiscard]] std::unique_ptr<Matcher> make_matcher();

}  // namespace reference
}  // namespace lull
