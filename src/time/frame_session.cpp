#include "time/frame_session.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

#include "core/error.h"
#include "time/timeline.h"

namespace lull {
namespace {

class FrameSession : public Denoiser {
 public:
  FrameSession(const SessionPlan& plan, const FrameFormat& format,
               std::unique_ptr<FrameWorker> worker)
      : plan_(plan),
        format_(format),
        worker_(std::move(worker)),
        slots_(plan.slots()),
        timeline_(plan.radius),
        pending_(slots_) {
    for (PendingFrame& frame : pending_) frame.infos.reserve(max_repeats + 1);
  }

  int latency() const noexcept override { return plan_.margin().after + worker_->in_flight(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (const RepeatState repeat_state = repeat_state_of(noisy);
        repeat_state != RepeatState::repeats)
      add(noisy, repeat_state);
    else
      pending(timeline_.count() - 1).infos.push_back(noisy);
    started_ = true;
    return next();
  }

  std::optional<Frame> next() override { return next_ready(worker_->in_flight()); }

  std::optional<Frame> drain() override {
    while (ready_.empty() && finished_ < timeline_.count()) advance();
    if (ready_.empty()) {
      timeline_.clear();
      step_ = finished_ = 0;
      started_ = false;
      return std::nullopt;
    }
    return next_ready(0);
  }

 private:
  /// A distinct frame (timeline.h) whose result the session has not yet returned.
  struct PendingFrame {
    std::vector<FrameInfo> infos;  // frame info of the frame and of its repetitions
    int context_distance = 0;      // Frame::context_distance
  };

  int slot_of(int n) const { return n % slots_; }
  PendingFrame& pending(int n) { return pending_[slot_of(n)]; }

  /// Returns the next result in order, if it is ready. If more than `may_wait` results are
  /// incomplete on the device, waits for the oldest result first.
  std::optional<Frame> next_ready(int may_wait) {
    if (ready_.empty()) return std::nullopt;
    if (Ready& next = ready_.front(); next.is_in_flight) {
      if (in_flight_ <= may_wait) return std::nullopt;
      worker_->await();
      --in_flight_;
    }
    std::optional<Frame> frame = std::move(ready_.front().frame);
    ready_.pop_front();
    return frame;
  }

  /// Returns the repeat state of a frame. Also passes the frame to the worker, unless the caller
  /// has marked the frame as a repeated frame (Frame::repeat_state).
  RepeatState repeat_state_of(const Frame& noisy) {
    const bool alone = plan_.radius == 0 || !started_;
    if (!alone && noisy.repeat_state == RepeatState::repeats) return RepeatState::repeats;
    worker_->take(noisy);
    if (alone) return timeline_.classify(Relation::independent);
    if (noisy.repeat_state != RepeatState::unknown) return noisy.repeat_state;
    return timeline_.classify(relation_of(worker_->difference()));
  }

  /// Adds a distinct frame (timeline.h), which does not repeat the previous frame.
  void add(const Frame& noisy, RepeatState repeat_state) {
    const int n = timeline_.count(), slot = slot_of(n);
    worker_->load(slot);
    timeline_.add(repeat_state == RepeatState::shares_noise, predictor_of(n));
    pending(n).infos.assign(1, noisy);
    pending(n).context_distance = noisy.context_distance;
    advance();
  }

  /// Returns the distance in frames from frame `n` to the nearest earlier frame of the same scene,
  /// or 0 if none of the previous `radius` frames belongs to the scene.
  int predictor_of(int n) {
    if (plan_.scene_cut == 0) return 1;
    const std::uint32_t noise = coarse_noise(plan_.main_sigma);
    for (int back = 1; back <= std::min(plan_.radius, n); ++back)
      if (!is_another_scene(worker_->prediction(slot_of(n), slot_of(n - back)), noise,
                            plan_.scene_cut))
        return back;
    return 0;
  }

  /// Performs step n, after the arrival of frame n. In each phase (time/frames.h), a step filters
  /// the reference patches of one frame, or of several frames at the start of a scene.
  void advance() {
    const int radius = plan_.radius, n = step_++;
    for (int k = 0; k < plan_.phases; ++k) {
      // Index of the last frame that has received all its estimates of phase k - 1.
      const int whole = n - 2 * k * radius;
      if (k > 0 && exists(whole)) worker_->finish_phase(static_cast<Phase>(k - 1), slot_of(whole));
      filter_all(static_cast<Phase>(k), whole - radius);
    }
    if (const int last = n - plan_.margin().after; exists(last)) finish(last);
  }

  /// Filters the reference patches of all frames whose search for neighbours ends at frame n +
  /// radius: frame n and, at the start of a scene, earlier frames (Timeline::extra_ahead()).
  void filter_all(Phase phase, int n) {
    for (int further = plan_.radius; further >= 0; --further)
      if (const int at = n - further;
          exists(at) && timeline_.extra_ahead(at) == further && !(plan_.looks_back && is_last(at)))
        filter(phase, at, further, 0);
    if (plan_.looks_back && n == timeline_.count() - plan_.radius) filter_last(phase, n);
  }

  /// Filters the reference patches of the last frames of the clip. Groups of these patches also
  /// contain patches of earlier frames. The session therefore filters all last frames in one step,
  /// before the worker finishes these earlier frames.
  void filter_last(Phase phase, int first) {
    for (int at = std::max(first, 0); at < timeline_.count(); ++at)
      if (is_last(at)) filter(phase, at, 0, timeline_.extra_back(at));
  }

  /// Returns true if fewer than `radius` frames follow frame `n` before the known end of the clip,
  /// and Timeline::extra_ahead() of frame `n` is 0.
  bool is_last(int n) const {
    return step_ > timeline_.count() && n >= timeline_.count() - plan_.radius &&
           timeline_.extra_ahead(n) == 0;
  }

  /// Returns whether a required result depends on the estimates of `phase` from the groups of frame
  /// `n`. These groups contain patches of the frames from n - radius - `back` to n + radius +
  /// `further`.
  bool is_needed(Phase phase, int n, int further, int back) {
    const int later = plan_.phases - 1 - static_cast<int>(phase);  // number of following phases
    const int context_distance = pending(n).context_distance;
    if (plan_.gathers) return context_distance == 0;
    const int reach = (2 * later + 1) * plan_.radius;
    return -(reach + further) <= context_distance && context_distance <= reach + back;
  }

  bool exists(int n) const { return n >= 0 && n < timeline_.count(); }

  void filter(Phase phase, int n, int further, int back) {
    if (!is_needed(phase, n, further, back)) return;
    std::array<SlotFrame, max_frames> frames;
    frames[0] = {0, slot_of(n)};
    const NeighbourFrames others = timeline_.neighbours(n, back);
    for (int i = 0; i < others.count; ++i)
      frames[i + 1] = {others.offset[i], slot_of(n + others.offset[i])};
    worker_->filter(phase, {frames.data(), static_cast<std::size_t>(others.count) + 1});
  }

  /// Adds the results of frame `n` and of its repetitions to `ready_`. These results share their
  /// samples.
  void finish(int n) {
    const Frame result = worker_->finish(slot_of(n));
    ++in_flight_;
    bool first = true;
    for (const FrameInfo& info : pending(n).infos) {
      ready_.push_back({result, std::exchange(first, false)});
      ready_.back().frame.copy_info(info);
    }
    pending(n).infos.clear();
    finished_ = n + 1;
  }

  SessionPlan plan_;
  FrameFormat format_;
  std::unique_ptr<FrameWorker> worker_;
  int slots_;
  Timeline timeline_;  // entries for the distinct frames
  int step_ = 0, finished_ = 0;
  std::vector<PendingFrame> pending_;  // one entry for each slot
  struct Ready {
    Frame frame;
    bool is_in_flight;  // the session has not yet waited for the samples
  };
  std::deque<Ready> ready_;
  int in_flight_ = 0;     // number of results in ready_ that are in flight
  bool started_ = false;  // at least one frame of this clip was pushed
};

}  // namespace

std::unique_ptr<Denoiser> open_session(const SessionPlan& plan, const FrameFormat& format,
                                       std::unique_ptr<FrameWorker> worker) {
  return std::make_unique<FrameSession>(plan, format, std::move(worker));
}

}  // namespace lull
