#pragma once
// A session that decides when a backend filters a frame and which frames provide patches. The
// session also sets the time and the side data of results.

#include <memory>
#include <span>

#include "core/denoiser.h"
#include "time/frame_relation.h"
#include "time/frames.h"

namespace lull {

/// Properties of a method that determine the order in which a session filters frames.
struct SessionPlan {
  int radius = 0;  // R: patches come from R frames before and after, 0..max_temporal
  int phases = 2;  // 1 to 4
  /// Threshold for scene cuts, 0..1. A frame begins a new scene if earlier frames fail to predict a
  /// larger share of its content (frame_relation.h). If the threshold is 0, the session detects no
  /// scene cuts.
  float scene_cut = 0.5f;
  float main_sigma = 0;  // noise level of the luma (or green) plane
  /// If true, groups contain patches from several frames, but the worker adds estimates only to the
  /// frame of the reference patches. The method must have a single phase.
  bool gathers = false;
  /// If true, the last frames of a clip take patches from additional earlier frames
  /// (Timeline::extra_back). `looks_back` must be false if `gathers` is true.
  bool looks_back = false;

  Margin margin() const { return gathers ? gathering_margin(radius) : margin_of(radius, phases); }
  /// Returns the number of slots: one for each unfinished frame, and one for the next frame.
  int slots() const { return margin().after + 1; }
};

/// A neighbouring frame: its offset from the reference frame, and its slot.
using SlotFrame = FrameAt<int>;

/// Interface of a backend that filters the frames of a session. A worker has SessionPlan::slots()
/// slots, and each slot stores one frame.
class FrameWorker {
 public:
  virtual ~FrameWorker() = default;
  /// Accepts the next frame of a clip.
  virtual void take(const Frame& frame) = 0;
  /// Returns the difference between the two most recently accepted frames.
  [[nodiscard]] virtual FrameDifference difference() = 0;
  /// Stores the samples of the most recently accepted frame in a slot.
  virtual void load(int slot) = 0;
  /// Returns the cost of predicting the frame in slot `slot` from the frame in slot `earlier`.
  [[nodiscard]] virtual PredictionCost prediction(int slot, int earlier) = 0;
  /// Matches and filters the groups of frames[0], with patches from all `frames` (in the order of
  /// match/group.h). Adds each estimate to the sums of its frame.
  virtual void filter(Phase phase, std::span<const SlotFrame> frames) = 0;
  /// Converts the sums of the frame in `slot` to an estimate for the next phase, after the last
  /// filter() for the frame. The session does not call this function in the last phase.
  virtual void finish_phase(Phase phase, int slot) = 0;
  /// Returns the result of the frame in `slot`, after the last filter() for the frame in the last
  /// phase. The session sets the time and the side data.
  [[nodiscard]] virtual Frame finish(int slot) = 0;
  /// Returns the maximum number of results of finish() whose samples may be incomplete at the same
  /// time.
  [[nodiscard]] virtual int in_flight() const noexcept { return 0; }
  /// Waits for the samples of the oldest incomplete result.
  virtual void await() {}
};

/// Opens a session for temporal filtering. `plan` and `format` must be valid. If the temporal
/// radius is 0, push() returns the result of the same frame.
[[nodiscard]] std::unique_ptr<Denoiser> open_session(const SessionPlan& plan,
                                                     const FrameFormat& format,
                                                     std::unique_ptr<FrameWorker> worker);

}  // namespace lull
