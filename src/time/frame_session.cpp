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
        inside_(slots_) {
    for (Inside& frame : inside_) frame.identities.reserve(max_repeats + 1);
  }

  int latency() const noexcept override { return plan_.margin().after + worker_->in_flight(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (const Likeness likeness = likeness_of(noisy); likeness != Likeness::repeats)
      add(noisy, likeness);
    else
      inside(timeline_.count() - 1).identities.push_back(identity_of(noisy));
    started_ = true;
    return next();
  }

  std::optional<Frame> next() override { return next_ready(worker_->in_flight()); }

  std::optional<Frame> drain() override {
    while (ready_.empty() && finished_ < timeline_.count()) advance();
    if (ready_.empty()) {
      timeline_.clear();
      turn_ = finished_ = 0;
      started_ = false;
      return std::nullopt;
    }
    return next_ready(0);
  }

 private:
  /// A distinct frame that is not finished.
  struct Inside {
    std::vector<Frame> identities;  // its own, and of those that repeat it
    int aside = 0;                  // Frame::aside
  };

  int slot_of(int n) const { return n % slots_; }
  Inside& inside(int n) { return inside_[slot_of(n)]; }

  /// `may_wait`: so many results are left under way.
  std::optional<Frame> next_ready(int may_wait) {
    if (ready_.empty()) return std::nullopt;
    if (Ready& next = ready_.front(); next.on_its_way) {
      if (on_their_way_ <= may_wait) return std::nullopt;
      worker_->await();
      --on_their_way_;
    }
    std::optional<Frame> frame = std::move(ready_.front().frame);
    ready_.pop_front();
    return frame;
  }

  /// Gives the worker the frame unless it need not see it.
  Likeness likeness_of(const Frame& noisy) {
    const bool alone = plan_.radius == 0 || !started_;
    if (!alone && noisy.likeness == Likeness::repeats) return Likeness::repeats;
    worker_->take(noisy);
    if (alone) return timeline_.judge(Relation::fresh);
    if (noisy.likeness != Likeness::unknown) return noisy.likeness;
    return timeline_.judge(relation_of(worker_->difference()));
  }

  /// A distinct frame.
  void add(const Frame& noisy, Likeness likeness) {
    const int n = timeline_.count(), slot = slot_of(n);
    worker_->load(slot);
    timeline_.add(likeness == Likeness::shares_noise, predictor_of(n));
    inside(n).identities.assign(1, identity_of(noisy));
    inside(n).aside = noisy.aside;
    advance();
  }

  static Frame identity_of(const Frame& frame) {
    Frame identity;
    identity.take_identity(frame);
    return identity;
  }

  /// How many frames back the nearest one is that shows the scene of frame `n`.
  int predictor_of(int n) {
    if (plan_.scene_cut == 0) return 1;
    const std::uint32_t noise = coarse_noise(plan_.main_sigma);
    for (int back = 1; back <= std::min(plan_.radius, n); ++back)
      if (!another_scene(worker_->prediction(slot_of(n), slot_of(n - back)), noise,
                         plan_.scene_cut))
        return back;
    return 0;
  }

  /// One turn: the references of one frame in each phase, and at the start of a scene of several.
  /// Turn n comes with frame n; after the last frame turns go on without.
  void advance() {
    const int radius = plan_.radius, n = turn_++;
    for (int k = 0; k < plan_.phases; ++k) {
      const int whole = n - 2 * k * radius;  // no estimate of the phase before is missing
      if (k > 0 && is_there(whole))
        worker_->finish_phase(static_cast<Phase>(k - 1), slot_of(whole));
      filter_all(static_cast<Phase>(k), whole - radius);
    }
    if (const int last = n - plan_.margin().after; is_there(last)) finish(last);
  }

  /// The references whose last neighbour is `radius` after frame `n`: n, and earlier ones that look
  /// further. No turn is too late for these: what they look at is later than the frames that end.
  void filter_all(Phase phase, int n) {
    for (int further = plan_.radius; further >= 0; --further)
      if (const int at = n - further; is_there(at) && timeline_.extra_ahead(at) == further &&
                                      !(plan_.looks_back && is_last(at)))
        filter(phase, at, further, 0);
    if (plan_.looks_back && n == timeline_.count() - plan_.radius) filter_last(phase, n);
  }

  /// The references of frame `first` and those that follow, which are the last of the clip: now
  /// that no frame comes any more, all their neighbours are there. They look further back, to where
  /// the next turn would be too late.
  void filter_last(Phase phase, int first) {
    for (int at = std::max(first, 0); at < timeline_.count(); ++at)
      if (is_last(at)) filter(phase, at, 0, timeline_.extra_back(at));
  }

  /// Whether frame `n` has no `radius` frames after it, at the end of the clip, and does not look
  /// further ahead as a first frame of a scene does.
  bool is_last(int n) const {
    return turn_ > timeline_.count() && n >= timeline_.count() - plan_.radius &&
           timeline_.extra_ahead(n) == 0;
  }

  /// Whether a result that is wanted depends on estimates of this phase from the references of
  /// frame `n`, which look further than the radius, ahead and back.
  bool is_needed(Phase phase, int n, int further, int back) {
    const int later = plan_.phases - 1 - static_cast<int>(phase);  // phases that follow
    const int aside = inside(n).aside;
    if (plan_.gathers) return aside == 0;
    const int reach = (2 * later + 1) * plan_.radius;
    return -(reach + further) <= aside && aside <= reach + back;
  }

  bool is_there(int n) const { return n >= 0 && n < timeline_.count(); }

  void filter(Phase phase, int n, int further, int back) {
    if (!is_needed(phase, n, further, back)) return;
    std::array<SlotFrame, max_frames> frames;
    frames[0] = {0, slot_of(n)};
    const Neighbours others = timeline_.neighbours(n, back);
    for (int i = 0; i < others.count; ++i)
      frames[i + 1] = {others.offset[i], slot_of(n + others.offset[i])};
    worker_->filter(phase, {frames.data(), static_cast<std::size_t>(others.count) + 1});
  }

  /// Frames that repeat others share their samples.
  void finish(int n) {
    const Frame result = worker_->finish(slot_of(n));
    ++on_their_way_;
    bool first = true;
    for (const Frame& identity : inside(n).identities) {
      ready_.push_back({result, std::exchange(first, false)});
      ready_.back().frame.take_identity(identity);
    }
    inside(n).identities.clear();
    finished_ = n + 1;
  }

  SessionPlan plan_;
  FrameFormat format_;
  std::unique_ptr<FrameWorker> worker_;
  int slots_;
  Timeline timeline_;  // of the distinct frames
  int turn_ = 0, finished_ = 0;
  std::vector<Inside> inside_;  // for each slot
  struct Ready {
    Frame frame;
    bool on_its_way;  // its result was not waited for
  };
  std::deque<Ready> ready_;
  int on_their_way_ = 0;  // results in ready_ that were not waited for
  bool started_ = false;  // a frame of this clip was pushed
};

}  // namespace

std::unique_ptr<Denoiser> open_session(const SessionPlan& plan, const FrameFormat& format,
                                       std::unique_ptr<FrameWorker> worker) {
  return std::make_unique<FrameSession>(plan, format, std::move(worker));
}

}  // namespace lull
