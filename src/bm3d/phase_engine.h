#pragma once
// The seam between the host's frames (host_session.h), which know planes and colour, and the two
// host backends, which know planes of float samples. (The cuda backend has its own session: its
// planes never leave the device.)

#include <array>
#include <memory>
#include <span>

#include "bm3d/motion.h"
#include "bm3d/params.h"
#include "core/image.h"

namespace lull::bm3d {

/// Weighted estimates of a plane and their weights, which engines add up. Cleared when made.
class PhaseSums {
 public:
  virtual ~PhaseSums() = default;
};

/// The planes of one frame that share their groups, all of one size.
struct PhaseFrame {
  int offset = 0;                               // in frames from that of the reference patches
  PlaneView<const float> guide;                 // where patches are matched
  std::span<const Motion> motion;               // to it, for each block (MotionGrid); empty: none
  std::array<PlaneView<const float>, 3> noisy;  // at least patch x patch samples
  std::array<PlaneView<const float>, 3> basic;  // basic estimates; unused in the first phase
  std::array<PhaseSums*, 3> sums{};             // for each noisy plane
};

/// The groups of one frame's reference patches. Samples are on the 0..255 scale.
struct PhaseInput {
  Phase phase = Phase::first;
  std::span<const PhaseFrame> frames;  // the frame of the reference patches, then others (group.h)
  std::span<const float> sigma;        // one for each noisy plane, > 0
  float guide_sigma = 0;               // of the noise in the guides; 0: they are estimates
};

class PhaseEngine {
 public:
  virtual ~PhaseEngine() = default;
  [[nodiscard]] virtual std::unique_ptr<PhaseSums> make_sums(int width, int height) = 0;
  /// Matches, filters and adds the estimates to the frames' sums. `params` gives both phases'
  /// parameters.
  virtual void run(const Params& params, const PhaseInput& input) = 0;
  /// The estimate that `sums` amount to, 0 where no patch covers a sample; clears them. `phase`:
  /// those of the run() before.
  virtual void finish(const PhaseParams& phase, PhaseSums& sums, PlaneView<float> estimate) = 0;
};

[[nodiscard]] std::unique_ptr<PhaseEngine> make_reference_engine();
/// `threads`: 0 takes every core.
[[nodiscard]] std::unique_ptr<PhaseEngine> make_cpu_engine(int threads);

}  // namespace lull::bm3d
