#pragma once
// The interface between a session on the host (open/host_session.h) and the host backends. The
// session manages planes and colour, and the backends process planes of float samples.

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

/// Sums of the weighted estimates of a plane, and sums of the weights. New sums are zero.
class PhaseSums {
 public:
  virtual ~PhaseSums() = default;
};

/// The planes of one frame that share their groups. All planes have the same size.
struct PhasePlanes {
  GuideView guide;
  /// The noisy planes, with at least 8x8 samples. Empty if the engine loads the samples from
  /// `frame` (PhaseEngine::loads_samples()).
  std::array<PlaneView<const float>, 3> noisy;
  const Frame* frame = nullptr;
  std::array<PlaneView<const float>, 3> basic;  // basic estimates; not used in the first phase
  std::array<PhaseSums*, 3> sums{};             // sums of each noisy plane
};
using PhaseFrame = FrameAt<PhasePlanes>;

/// The work of one phase on the reference patches of one frame. Samples are on the 0..255 scale.
struct PhaseInput {
  const PhasePlan& plan;
  const PlaneSet& set;  // the set of planes, as planned
  /// All searched frames: first the frame of the reference patches, then the neighbouring frames in
  /// the order of match/group.h.
  std::span<const PhaseFrame> frames;
  /// Standard deviation of the noise in the guides; 0 if the guides are estimates.
  float guide_sigma = 0;
  /// The stored groups. In a phase that propagates groups, their members are the candidates of the
  /// reference patches. If PlaneSet::kept is 0, the engine does not use this pointer.
  KeptGroups* groups = nullptr;

  bool propagates() const { return plan.propagates(set); }
  bool reuses_groups() const { return plan.reuses_groups(set); }
  /// Returns true if run() must store the groups that it finds. The result is true in a first phase
  /// that does not propagate groups, if the second phase needs these groups.
  bool keeps() const { return set.kept > 0 && plan.phase == Phase::first && !propagates(); }
  std::size_t planes() const { return set.planes.size(); }
  /// Returns the noise of plane k of `set`. The sigma of this noise is above 0.
  const PlaneNoise& noise(std::size_t k) const { return plan.noise.plane(set.planes[k]); }
};

class PhaseEngine {
 public:
  virtual ~PhaseEngine() = default;
  /// Returns true if the engine reads noisy samples directly from a frame, which saves the memory
  /// of float planes.
  [[nodiscard]] virtual bool loads_samples() const { return false; }
  [[nodiscard]] virtual std::unique_ptr<PhaseSums> make_sums(int width, int height) = 0;
  /// Prepares a run() that propagates groups: finds and stores the groups of the reference patches
  /// at multiples of PhasePlan::search_step. `input` must contain one motion vector for each bundle
  /// (8x4 of these reference patches).
  virtual void search(const PhaseInput& input) = 0;
  /// Finds groups, filters them, and adds the estimates to the sums of the frames.
  virtual void run(const PhaseInput& input) = 0;
  /// Writes the estimate of each sample of a frame (0 if no patch covers the sample), and clears
  /// the sums. `plan` is the plan of the preceding run().
  virtual void finish(const PhasePlan& plan, PhaseSums& sums, PlaneView<float> estimate) = 0;
};

/// Makes the engine of the `reference` backend, for square patches of up to 8x8 samples and all
/// matchers.
/// @throws InvalidArgument  the engine does not support `shape`
[[nodiscard]] std::unique_ptr<PhaseEngine> make_reference_engine(
    std::unique_ptr<reference::Matcher> matcher = reference::make_matcher(),
    PatchShape shape = square_8);
/// Makes a matcher for `threads` threads. All matchers of an engine share `memory`.
using CpuMatcherFactory =
    std::unique_ptr<cpu::Matcher> (*)(int threads, const std::shared_ptr<cpu::GuideMemory>& memory);
/// Makes the engine of the `cpu` backend with `threads` threads, or with one thread per core if
/// `threads` is 0.
[[nodiscard]] std::unique_ptr<PhaseEngine> make_cpu_engine(
    int threads, CpuMatcherFactory make_matcher = cpu::make_matcher);

}  // namespace lull::bm3d
