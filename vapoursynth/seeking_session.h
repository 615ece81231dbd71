#pragma once
// A session of lull for a host that asks for any frame: what is asked for in order goes on in it;
// for any other frame it begins anew, so much earlier that the result is that of the whole clip.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "choose/choose.h"
#include "core/repeats.h"

namespace lull::vapoursynth {

/// Frames of a clip, both in it; none where `last` is less.
struct Frames {
  int first = 0, last = -1;
  bool empty() const { return last < first; }
};

/// Frame::pts is a frame's number in its clip, from 0.
class SeekingSession {
 public:
  using Fetch = std::function<Frame(int)>;
  using Keep = std::function<void(const Frame&)>;

  /// @param frames  of the clip
  /// @throws whatever open_chosen() throws
  SeekingSession(const SessionChoice& choice, const FrameFormat& format, int frames);

  /// Frame `n` is wanted: which frames are needed first, if any.
  Frames begin(int n);
  /// The result of the frame that is wanted, or nothing: then `more` frames are needed. `fetch`
  /// gives those that were asked for since begin(), `keep` takes results of later frames.
  std::optional<Frame> go_on(const Fetch& fetch, const Keep& keep, Frames& more);
  /// After a failure.
  void give_up() { session_.reset(); }

 private:
  /// A frame that repeats none.
  struct Distinct {
    int number;
    RepeatState repeat_state;
  };

  void open();
  void restart();
  bool find_start(const Fetch& fetch, const Keep& keep, Frames& more);
  void lead_in(const Fetch& fetch, const Keep& keep, const std::vector<Distinct>& distinct);
  void feed(Frame frame, const Keep& keep);
  void take(Frame result, const Keep& keep);
  void drain(const Keep& keep);
  int ahead_of(int n) const;

  SessionChoice choice_;
  FrameFormat format_;
  int frames_;
  std::unique_ptr<Denoiser> session_;
  Margin margin_;
  int latency_ = 0;
  bool on_gpu_ = false, used_ = false;     // the session holds frames
  std::unique_ptr<RepeatFinder> repeats_;  // null: nobody looks for them
  bool notes_ = false;                     // frames come with their repeat_state
  int wanted_ = 0;
  int fed_ = 0, out_ = 0;  // the next frame to go in, and to come out
  int asked_ = -1;         // the last frame that was asked for
  int window_ = -1;        // where the start is looked for from; -1: it is known
  RepeatState repeat_state_ = RepeatState::unknown;  // of the wanted frame, with notes
  std::optional<Frame> result_;
};

}  // namespace lull::vapoursynth
