#pragma once
// The interface between the session on the host (open/host_session.h), which handles planes and
// colour, and the two host backends, which process planes of float samples. (The cuda backend has
// its own session, because its planes stay on the device.)

#include <array>
#include <memory>
#include <span>

#include "bm3d/phase_plan.h"
#include "core/frame.h"
#include "core/image.h"
#include "match/cpu/matcher.h"
#include "match/guide_view.h"
#include "match/kept_groups.h"
#include "match/reference/matcher.h"

namespace lull::bm3d {

/// Weighted sums of a plane's estimates, and sums of their weights. New sums are zero.
class PhaseSums {
 public:
  virtual ~PhaseSums() = default;
};

/// The planes of one frame that share their groups. All have the same size.
struct PhasePlanes {
  GuideView guide;
  /// The noisy planes, at least patch x patch samples. They are empty if the engine loads them from
  /// `frame` (PhaseEngine::loads_samples()).
  std::array<PlaneView<const float>, 3> noisy;
  const Frame* frame = nullptr;
  std::array<PlaneView<const float>, 3> basic;  // basic estimates; unused in the first phase
  std::array<PhaseSums*, 3> sums{};             // for each noisy plane
};
using PhaseFrame = FrameAt<PhasePlanes>;

/// One phase over the reference patches of one frame. Samples are on the 0..255 scale.
struct PhaseInput {
  const PhasePlan& plan;
  const PlaneSet& set;  // the set of the plan that the planes belong to
  /// The frame of the reference patches, then the neighbouring frames in the order of group.h.
  std::span<const PhaseFrame> frames;
  /// Standard deviation of the noise in the guides; 0: the guides are estimates.
  float guide_sigma = 0;
  /// The groups of the reference patches that searched, as candidates for the patches that
  /// propagate. They are used if PlaneSet::kept is not 0.
  KeptGroups* groups = nullptr;

  bool propagates() const { return plan.propagates(set); }
  bool reuses_groups() const { return plan.reuses_groups(set); }
  /// Returns whether run() stores the groups that it finds. It does so if the first phase searches
  /// for the second one and does not propagate itself.
  bool keeps() const { return set.kept > 0 && plan.phase == Phase::first && !propagates(); }
  std::size_t planes() const { return set.planes.size(); }
  /// Returns the noise of the k-th plane of the set; its sigma is above 0.
  const PlaneNoise& noise(std::size_t k) const { return plan.noise.plane(set.planes[k]); }
};

class PhaseEngine {
 public:
  virtual ~PhaseEngine() = default;
  /// Returns whether the engine accepts noisy planes as samples of a frame, on the scale of
  /// load_plane(). These take less memory than floats.
  [[nodiscard]] virtual bool loads_samples() const { return false; }
  [[nodiscard]] virtual std::unique_ptr<PhaseSums> make_sums(int width, int height) = 0;
  /// Searches for the reference patches at distance PhasePlan::search_step and stores their groups.
  /// The session calls it before run() if the first phase propagates. The motion in `input` is that
  /// of the bundles of these reference patches.
  virtual void search(const PhaseInput& input) = 0;
  /// Finds groups, filters them and adds the estimates to the frames' sums.
  virtual void run(const PhaseInput& input) = 0;
  /// Writes the estimate of the summed patches, 0 where no patch covers a sample, and clears the
  /// sums. `plan` is the plan of the preceding run().
  virtual void finish(const PhasePlan& plan, PhaseSums& sums, PlaneView<float> estimate) = 0;
};

/// Makes the reference engine: square patches of up to 8x8 samples, with any matcher.
/// @throws InvalidArgument  `shape` is another shape
[[nodiscard]] std::unique_ptr<PhaseEngine> make_reference_engine(
    std::unique_ptr<reference::Matcher> matcher = reference::make_matcher(),
    PatchShape shape = square_8);
/// Makes a matcher for this number of threads. The engine's other matchers share its memory.
using CpuMatcherFactory =
    std::unique_ptr<cpu::Matcher> (*)(int threads, const std::shared_ptr<cpu::GuideMemory>& memory);
/// Makes the cpu engine. `threads` = 0: one thread per core.
[[nodiscard]] std::unique_ptr<PhaseEngine> make_cpu_engine(
    int threads, CpuMatcherFactory make_matcher = cpu::make_matcher);

}  // namespace lull::bm3d
