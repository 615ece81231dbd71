#pragma once
// The interface between the sessions of non-local means (open/) and their backends, which process
// float planes on the 0..255 scale. Samples must be finite and within
// filter_range_min..filter_range_max (float_range.h).

// Results do not depend on the number of threads. A part of a clip or volume, with its margin,
// gives the same results as the whole, bit for bit.

#include <array>
#include <memory>
#include <span>

#include "core/image.h"
#include "core/slices.h"
#include "nlm/params.h"
#include "noise/holes.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull::nlm {

// ---- frames --------------------------------------------------------------------------------

/// Planes of equal size that the engine filters with the same weights.
using PlaneViews = std::array<PlaneView<const float>, 3>;

/// Parameters of a FrameEngine, and layout of its planes.
struct FramePlan {
  Params params;  // valid, for pictures
  int width = 0, height = 0;
  int planes = 1;  // number of planes to average, 1..3
  int guides = 1;  // number of planes in which distances are measured, 1..3
  /// Weights a_c of the guide planes in the distance D (formula 1 of weights.h). The engine
  /// multiplies the squared differences in guide plane c by a_c.
  std::array<float, 3> guide_weight{};
  /// True if the first `guides` sample planes are also the guide planes. load() then ignores its
  /// argument `guides`.
  bool is_self_guided = true;
  int slots = 1;  // number of frames that can be loaded
  /// Log2 of the subsampling factors, relative to the planes in which the session estimates motion.
  int shift_x = 0, shift_y = 0;

  /// Returns the width of a motion block (time/motion.h) in samples. The last block of a row or
  /// column may be smaller.
  int cell_width() const { return motion_cell >> shift_x; }
  int cell_height() const { return motion_cell >> shift_y; }
  /// Returns the index of the motion block that contains a sample.
  int cell_at(int x, int y) const {
    return y / cell_height() * ((width + cell_width() - 1) / cell_width()) + x / cell_width();
  }
};

/// A frame in which the engine searches candidates. The first frame of a list is the target frame.
struct CandidateFrame {
  int slot = 0;
  /// Motion vectors from the target frame to this frame, one for each motion block, row by row.
  /// Their unit is a sample of the plane in which the session estimates motion. If empty, there is
  /// no motion.
  std::span<const Motion> motion;
};

class FrameEngine {
 public:
  virtual ~FrameEngine() = default;
  /// Loads the planes of a frame, which the caller may change afterwards. The engine ignores
  /// `guides` if plan.is_self_guided is true. `holes` is null if the frame has no holes.
  virtual void load(int slot, const PlaneViews& samples, const PlaneViews& guides,
                    const Holes* holes = nullptr) = 0;
  /// Computes the results of the target frame `frames.front()`. `frames` contains 1 to max_frames
  /// frames, in which the engine searches candidates.
  virtual void estimate(std::span<const CandidateFrame> frames,
                        const std::array<PlaneView<float>, 3>& results) = 0;
};

[[nodiscard]] std::unique_ptr<FrameEngine> make_reference_frame_engine(const FramePlan& plan);
/// Makes the engine of the cpu backend. If `threads` is 0, the engine uses all cores.
[[nodiscard]] std::unique_ptr<FrameEngine> make_cpu_frame_engine(const FramePlan& plan,
                                                                 int threads);

// ---- volumes -------------------------------------------------------------------------------

/// Parameters of a VolumeEngine, and layout of its plane.
struct VolumePlan {
  Params params;  // valid, for volumes
  int width = 0, height = 0;
  float guide_weight = 0;  // a_c: 1 / sigma^2 of the guide's noise
  bool is_self_guided = true;
};

/// Processes the slices of a volume. The caller loads each slice once, in order.
class VolumeEngine {
 public:
  virtual ~VolumeEngine() = default;
  /// Begins a volume. `z` is the first slice that the session receives.
  virtual void begin(int z) = 0;
  /// Loads the next slice. The engine ignores `guide` if plan.is_self_guided is true.
  virtual void load(int z, PlaneView<const float> samples, PlaneView<const float> guide) = 0;
  /// Computes the results of the slices `wanted`, at most slices_at_a_time(), in ascending order.
  /// `available` is the range of slices that exist. The results depend on up to
  /// Params::reach_slices() slices before and after `wanted`, which the caller must load first if
  /// they are available. Later calls do not need the slices before wanted.first - reach_slices().
  virtual void estimate(SliceSpan wanted, SliceSpan available,
                        std::span<const PlaneView<float>> results) = 0;
  /// Returns the preferred number of slices per call of estimate(). A larger number needs more
  /// memory and increases the latency.
  virtual int slices_at_a_time() const { return 1; }
};

[[nodiscard]] std::unique_ptr<VolumeEngine> make_reference_volume_engine(const VolumePlan& plan);
/// Makes the engine of the cpu backend. If `threads` is 0, the engine uses all cores.
[[nodiscard]] std::unique_ptr<VolumeEngine> make_cpu_volume_engine(const VolumePlan& plan,
                                                                   int threads);

}  // namespace lull::nlm
