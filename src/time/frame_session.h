#pragma once
// The session around a backend's work on frames: which frame is worked on when, which frames share
// their patches, and what comes out under which identity. It knows no samples.

#include <memory>
#include <span>

#include "core/denoiser.h"
#include "time/frame_relation.h"
#include "time/frames.h"

namespace lull {

/// What a session over frames needs to know of its method.
struct SessionPlan {
  int radius = 0;  // R: patches come from so many frames before and after, 0..max_temporal
  int phases = 2;  // 1 to 3
  /// A frame begins a new scene where a greater share of it than this is not predicted by the
  /// frames before (frame_relation.h), 0..1; 0: never.
  float scene_cut = 0.5f;
  float main_sigma = 0;  // of the noise in the main plane
  /// The estimates of a frame's references are its own alone: frames are gathered from, not added
  /// to. In one phase.
  bool gathers = false;
  /// The last references of a clip look further back than R (Timeline::extra_back), as its first
  /// ones look further ahead. Not with `gathers`.
  bool looks_back = false;

  Margin margin() const { return gathers ? gathering_margin(radius) : margin_of(radius, phases); }
  /// Slots for frames: for those that are not out yet, and the one that comes.
  int slots() const { return margin().after + 1; }
};

/// The slot of a frame.
using SlotFrame = FrameAt<int>;

/// What a backend does with frames. It has SessionPlan::slots() slots.
class FrameWorker {
 public:
  virtual ~FrameWorker() = default;
  /// Takes the next frame of a clip.
  virtual void take(const Frame& frame) = 0;
  /// How the frame taken last differs from the one taken before it.
  [[nodiscard]] virtual FrameDifference difference() = 0;
  /// Puts the samples of the frame taken last into a slot.
  virtual void load(int slot) = 0;
  /// What the frame in `slot` costs when it is predicted from that in `earlier`.
  [[nodiscard]] virtual PredictionCost prediction(int slot, int earlier) = 0;
  /// Matches and filters the groups of all reference patches of frames[0], from the patches of all
  /// `frames` (in the order of group.h), and adds the estimates to the sums of their frames.
  virtual void filter(Phase phase, std::span<const SlotFrame> frames) = 0;
  /// After the last filter() for this frame in a phase that is not the last: its sums become an
  /// estimate, and the next phase can begin.
  virtual void finish_phase(Phase phase, int slot) = 0;
  /// The same at the end of the last phase: the result. Its identity is the session's business.
  [[nodiscard]] virtual Frame finish(int slot) = 0;
  /// Results of finish() whose samples may be still on their way.
  [[nodiscard]] virtual int in_flight() const noexcept { return 0; }
  /// Waits for the samples of the oldest result that was not waited for.
  virtual void await() {}
};

/// The plan and `format` are valid; with radius 0 each frame comes out of its push().
[[nodiscard]] std::unique_ptr<Denoiser> open_session(const SessionPlan& plan,
                                                     const FrameFormat& format,
                                                     std::unique_ptr<FrameWorker> worker);

}  // namespace lull
