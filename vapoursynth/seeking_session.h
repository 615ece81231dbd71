#pragma once
// A session for random access. A request for the next frame continues the session. Any other
// request restarts the session some frames before the requested frame, so that the result equals
// the result for the complete clip.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "choose/choose.h"
#include "core/repeats.h"

namespace lull::vapoursynth {

/// The frame indices from `first` to `last`, inclusive. Empty if `last` is less than `first`.
struct Frames {
  int first = 0, last = -1;
  bool empty() const { return last < first; }
};

/// Returns the result of any frame of a clip. In the frames from the host, Frame::pts must be the
/// index in the clip, from 0.
class SeekingSession {
 public:
  using Fetch = std::function<Frame(int)>;
  using Keep = std::function<void(const Frame&)>;

  /// @param frames  number of frames of the clip
  /// @throws any exception of open_chosen()
  SeekingSession(const SessionChoice& choice, const FrameFormat& format, int frames);

  /// Begins the request for frame `n`. Returns the frames that the host must provide before the
  /// call of process().
  Frames start(int n);
  /// Returns the result of the requested frame, or no value if the host must first provide the
  /// frames `more` and then call process() again. `fetch` returns frames of the host, and `keep`
  /// receives the results of later frames.
  std::optional<Frame> process(const Fetch& fetch, const Keep& keep, Frames& more);
  /// Discards the session. The caller must call this function after a failure.
  void reset() { session_.reset(); }

 private:
  /// A frame that does not repeat the previous frame.
  struct Distinct {
    int number;
    RepeatState repeat_state;
  };

  void open();
  void restart();
  bool find_start(const Fetch& fetch, const Keep& keep, Frames& more);
  void push_context(const Fetch& fetch, const Keep& keep, const std::vector<Distinct>& distinct);
  void push_frame(Frame frame, const Keep& keep);
  void accept_result(Frame result, const Keep& keep);
  void drain(const Keep& keep);
  int last_needed_for(int n) const;

  SessionChoice choice_;
  FrameFormat format_;
  int frames_;
  std::unique_ptr<Denoiser> session_;
  Margin margin_;
  int latency_ = 0;
  bool on_gpu_ = false, used_ = false;     // used_: the session contains frames
  std::unique_ptr<RepeatFinder> repeats_;  // null if no result depends on other frames
  bool uses_repeat_states_ = false;        // frames are pushed with their repeat_state
  int target_ = 0;
  int next_input_ = 0,
      next_result_ = 0;    // number of the next frame to push, and of the next result
  int requested_ = -1;     // the last frame that was requested
  int search_start_ = -1;  // first frame of the search for the start; -1: the start is known
  RepeatState repeat_state_ = RepeatState::unknown;  // of the target, if it is known
  std::optional<Frame> result_;
};

}  // namespace lull::vapoursynth
