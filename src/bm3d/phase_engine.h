#pragma once
// The seam between the host's frames (open/host_session.h), which know planes and colour, and the
// two host backends, which know planes of float samples. (The cuda backend has its own session: its
// planes never leave the device.)

#include <array>
#include <memory>
#include <span>

#include "bm3d/phase_plan.h"
#include "core/image.h"
#include "match/cpu/matcher.h"
#include "match/guide_view.h"
#include "match/kept_groups.h"
#include "match/reference/matcher.h"

namespace lull::bm3d {

/// Weighted estimates of a plane and their weights, which engines add up. Cleared when made.
class PhaseSums {
 public:
  virtual ~PhaseSums() = default;
};

/// The planes of one frame that share their groups, all of one size.
struct PhasePlanes {
  GuideView guide;
  std::array<PlaneView<const float>, 3> noisy;  // at least patch x patch samples
  std::array<PlaneView<const float>, 3> basic;  // basic estimates; unused in the first phase
  std::array<PhaseSums*, 3> sums{};             // for each noisy plane
};
using PhaseFrame = FrameAt<PhasePlanes>;

/// The groups of one frame's reference patches. Samples are on the 0..255 scale.
struct PhaseInput {
  const PhasePlan& plan;
  const PlaneSet& set;                 // which of the plan's sets the planes are
  std::span<const PhaseFrame> frames;  // the frame of the reference patches, then others (group.h)
  float guide_sigma = 0;               // of the noise in the guides; 0: they are estimates
  /// Where PlaneSet::kept is not 0: the groups of the reference patches that searched, for those
  /// that propagate them.
  KeptGroups* groups = nullptr;

  bool propagates() const { return plan.propagates(set); }
  bool takes_groups() const { return plan.takes_groups(set); }
  /// Whether run() keeps what it finds: without propagation it searches for the next phase.
  bool keeps() const { return set.kept > 0 && plan.phase == Phase::first && !propagates(); }
  std::size_t planes() const { return set.planes.size(); }
  /// Of the k-th plane of the set, whose sigma is above 0.
  const PlaneNoise& noise(std::size_t k) const { return plan.noise.plane(set.planes[k]); }
};

class PhaseEngine {
 public:
  virtual ~PhaseEngine() = default;
  [[nodiscard]] virtual std::unique_ptr<PhaseSums> make_sums(int width, int height) = 0;
  /// Before run() where the first phase propagates: searches for the reference patches that are
  /// PhasePlan::search_step apart and keeps what they find. Motion in `input` is that of bundles of
  /// these.
  virtual void search(const PhaseInput& input) = 0;
  /// Finds groups, filters them and adds the estimates to the frames' sums.
  virtual void run(const PhaseInput& input) = 0;
  /// The estimate that `sums` amount to, 0 where no patch covers a sample; clears them. `plan`:
  /// that of the run() before.
  virtual void finish(const PhasePlan& plan, PhaseSums& sums, PlaneView<float> estimate) = 0;
};

/// Square patches up to square_8, whatever finds their groups.
/// @throws InvalidArgument  another shape
[[nodiscard]] std::unique_ptr<PhaseEngine> make_reference_engine(
    std::unique_ptr<reference::Matcher> matcher = reference::make_matcher(),
    PatchShape shape = square_8);
/// Makes a matcher for so many threads.
using CpuMatcherFactory = std::unique_ptr<cpu::Matcher> (*)(int threads);
/// `threads`: 0 takes every core.
[[nodiscard]] std::unique_ptr<PhaseEngine> make_cpu_engine(
    int threads, CpuMatcherFactory make_matcher = cpu::make_matcher);

}  // namespace lull::bm3d
