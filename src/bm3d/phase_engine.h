#pragma once
// The seam between the host session, which knows frames and colour, and the two host backends,
// which know planes of float samples. (The cuda backend has its own session: its planes never leave
// the device.)

#include <memory>
#include <span>

#include "bm3d/params.h"
#include "core/image.h"

namespace lull::bm3d {

/// One phase over planes of one size that share their groups. Samples are on the 0..255 scale.
struct PhaseInput {
  PlaneView<const float> guide;                   // where patches are matched
  float guide_sigma = 0;                          // of the noise in `guide`; 0: an estimate
  std::span<const PlaneView<const float>> noisy;  // 1..3 planes, at least patch x patch samples
  std::span<const PlaneView<const float>> basic;  // basic estimates; empty in the first phase
  std::span<const float> sigma;                   // one for each noisy plane, > 0
  std::span<const PlaneView<float>> estimate;     // results, one for each noisy plane
};

class PhaseEngine {
 public:
  virtual ~PhaseEngine() = default;
  /// First phase if `input.basic` is empty, else the second. `params` gives both phases'
  /// parameters.
  virtual void run(const Params& params, const PhaseInput& input) = 0;
};

[[nodiscard]] std::unique_ptr<PhaseEngine> make_reference_engine();
/// `threads`: 0 takes every core.
[[nodiscard]] std::unique_ptr<PhaseEngine> make_cpu_engine(int threads);

}  // namespace lull::bm3d
