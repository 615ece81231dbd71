#pragma once
// The seam between the sessions (open/), which know frames, and the backends, which know planes of
// float samples on the 0..255 scale. weights.h has the formulas. Samples are numbers within
// least_seen..greatest_seen (float_range.h). Results are deterministic on each backend, whatever
// the number of threads, and within a backend equal for equal surroundings: a sample's result
// depends on what weights.h says and on nothing else, so that parts of a clip or a volume give the
// bytes of the whole.

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

// ---- pictures, also over time --------------------------------------------------------------

/// Planes of one size that share their weights.
using PlaneViews = std::array<PlaneView<const float>, 3>;

/// What the engine of such planes needs to know of them.
struct FramePlan {
  Params params;  // valid, of pictures
  int width = 0, height = 0;
  int planes = 1;  // whose samples are averaged, 1..3
  int guides = 1;  // that distances are taken in, 1..3
  /// a_c of each guide plane: what makes of a squared difference its share of D.
  std::array<float, 3> guide_weight{};
  /// The guide planes are the first of the planes: load() gets none.
  bool guides_itself = true;
  int slots = 1;  // for frames
  /// log2 of how much smaller the planes are than those that motion was found in.
  int shift_x = 0, shift_y = 0;

  /// Of a motion cell, in samples; those at the right and below may be smaller. Cells begin with
  /// sample (0, 0).
  int cell_width() const { return motion_cell >> shift_x; }
  int cell_height() const { return motion_cell >> shift_y; }
  /// The cell of a sample.
  int cell_at(int x, int y) const {
    return y / cell_height() * ((width + cell_width() - 1) / cell_width()) + x / cell_width();
  }
};

/// A frame that candidates come from. The first of a list has offset 0: it is the one whose result
/// is wanted.
struct CandidateFrame {
  int slot = 0;
  /// From the wanted frame to this one, of each cell, row by row, in samples of the planes that it
  /// was found in; empty: none moves. Vectors keep their cell within the planes, give or take a
  /// sample.
  std::span<const Motion> motion;
};

class FrameEngine {
 public:
  virtual ~FrameEngine() = default;
  /// The planes of a frame, which may change after the call. `guides`: unused where
  /// plan.guides_itself. `holes`: null for none, and without plan.params.holes.
  virtual void load(int slot, const PlaneViews& samples, const PlaneViews& guides,
                    const Holes* holes = nullptr) = 0;
  /// The results of the planes of frames.front(), from all `frames` (1..max_frames).
  virtual void estimate(std::span<const CandidateFrame> frames,
                        const std::array<PlaneView<float>, 3>& results) = 0;
};

[[nodiscard]] std::unique_ptr<FrameEngine> make_reference_frame_engine(const FramePlan& plan);
/// `threads`: 0 takes every core.
[[nodiscard]] std::unique_ptr<FrameEngine> make_cpu_frame_engine(const FramePlan& plan,
                                                                 int threads);

// ---- volumes -------------------------------------------------------------------------------

/// What the engine of one plane of a volume needs to know of it.
struct VolumePlan {
  Params params;  // valid, of volumes
  int width = 0, height = 0;
  float guide_weight = 0;  // a_c: 1 / sigma^2 of the guide's noise
  bool guides_itself = true;
};

/// Slices are loaded in order, each once.
class VolumeEngine {
 public:
  virtual ~VolumeEngine() = default;
  /// A volume begins, or what is seen of it, with slice `z`.
  virtual void begin(int z) = 0;
  /// The next slice. `guide`: unused where plan.guides_itself.
  virtual void load(int z, PlaneView<const float> samples, PlaneView<const float> guide) = 0;
  /// The results of the slices `wanted`, at most slices_at_a_time() of them, one view each. Calls
  /// rise along z. `there`: the slices that exist, of which those up to reach_slices() from the
  /// wanted ones are loaded; none before wanted.first - reach_slices() is asked for any more.
  virtual void estimate(SliceSpan wanted, SliceSpan there,
                        std::span<const PlaneView<float>> results) = 0;
  /// Slices that the engine would rather have at a time: so many more are in memory then, and come
  /// out later.
  virtual int slices_at_a_time() const { return 1; }
};

[[nodiscard]] std::unique_ptr<VolumeEngine> make_reference_volume_engine(const VolumePlan& plan);
/// `threads`: 0 takes every core.
[[nodiscard]] std::unique_ptr<VolumeEngine> make_cpu_volume_engine(const VolumePlan& plan,
                                                                   int threads);

}  // namespace lull::nlm
