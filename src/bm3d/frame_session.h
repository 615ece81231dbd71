#pragma once
// The session around a backend's work on frames: which frame is worked on when, which frames share
// their patches, and what comes out under which identity. It knows no samples.

#include <memory>
#include <span>

#include "bm3d/frame_relation.h"
#include "bm3d/params.h"
#include "core/denoiser.h"

namespace lull::bm3d {

/// A frame in its slot, `offset` frames after the one whose reference patches are worked on.
struct SlotFrame {
  int slot = 0, offset = 0;
};

/// What a backend does with frames. It has slots for so many, slots_for().
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
  /// After the last filter() of the first phase for this frame: its sums become its basic estimate,
  /// and the second phase can begin.
  virtual void finish_basic(int slot) = 0;
  /// The same at the end of the last phase: the result. Its identity is the session's business.
  [[nodiscard]] virtual Frame finish(int slot) = 0;
  /// Results of finish() whose samples may be still on their way.
  [[nodiscard]] virtual int in_flight() const noexcept { return 0; }
  /// Waits for the samples of the oldest result that was not waited for.
  virtual void await() {}
};

/// Slots that a session needs: for the frames that are not out yet, and the one that comes.
constexpr int slots_for(const Params& params) { return margin(params).after + 1; }

/// `params` and `format` are valid; with Params::temporal = 0 each frame comes out of its push().
[[nodiscard]] std::unique_ptr<Denoiser> open_session(const Params& params,
                                                     const FrameFormat& format,
                                                     std::unique_ptr<FrameWorker> worker);

}  // namespace lull::bm3d
