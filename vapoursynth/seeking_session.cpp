#include "vapoursynth/seeking_session.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace lull::vapoursynth {

SeekingSession::SeekingSession(const SessionChoice& choice, const FrameFormat& format, int frames)
    : choice_(choice), format_(format), frames_(frames) {
  open();
}

void SeekingSession::open() {
  ChosenSession chosen = open_chosen(choice_, format_);
  session_ = std::move(chosen.denoiser);
  margin_ = chosen.margin;
  latency_ = session_->latency();
  on_gpu_ = chosen.backend.kind == bm3d::BackendKind::cuda;
  used_ = false;
  if (repeats_ || choice_.method != "bm3d" || choice_.temporal == 0) return;
  bm3d::Params params = bm3d::make_params(bm3d::Profile::balanced, choice_.noise, choice_.temporal);
  repeats_ = bm3d::open_repeat_finder(params, format_);
}

/// On a GPU a session is dear to open: what is inside is let out instead.
void SeekingSession::restart() {
  if (session_ && used_ && on_gpu_)
    while (session_->drain()) continue;
  else if (!session_ || used_)
    open();
  used_ = false;
  result_.reset();
}

int SeekingSession::ahead_of(int n) const {
  return std::min(n + std::max(latency_, margin_.after), frames_ - 1);
}

Frames SeekingSession::begin(int n) {
  wanted_ = n;
  result_.reset();
  const int worth_going_on = margin_.before + margin_.after + latency_ + 4;
  const bool goes_on = session_ && used_ && window_ < 0 && n >= out_ && n <= out_ + worth_going_on;
  asked_ = ahead_of(n);
  if (goes_on) return {fed_, asked_};
  restart();
  const bool alone = margin_ == Margin{};
  window_ = alone ? -1 : std::max(n - margin_.before - 2, 0);
  fed_ = out_ = alone ? n : 0;
  notes_ = false;
  if (window_ == 0) window_ = -1;  // from the first frame on the session sees what the clip is
  return {window_ > 0 ? window_ : fed_, asked_};
}

std::optional<Frame> SeekingSession::go_on(const Fetch& fetch, const Keep& keep, Frames& more) {
  if (window_ > 0 && !find_start(fetch, keep, more)) return std::nullopt;
  while (!result_ && fed_ <= asked_) {
    Frame frame = fetch(fed_);
    if (notes_)
      frame.repeat_state = fed_ == wanted_ && repeat_state_ != RepeatState::unknown
                               ? std::exchange(repeat_state_, RepeatState::unknown)
                               : repeats_->find(frame);
    ++fed_;
    feed(std::move(frame), keep);
  }
  if (!result_ && fed_ == frames_) drain(keep);
  if (result_) return std::exchange(result_, std::nullopt);
  if (fed_ == frames_)
    throw InternalError("a session gave fewer frames than it was given; report it");
  asked_ = std::min(fed_ + std::max(margin_.after, 1), frames_ - 1);
  more = {fed_, asked_};
  return std::nullopt;
}

/// The session begins with as many distinct frames before the wanted one as its result depends on.
/// What a frame is to the one before depends on earlier ones as far as the last that is wholly
/// another (Timeline::is_distinct), so that frames count from such a one on.
bool SeekingSession::find_start(const Fetch& fetch, const Keep& keep, Frames& more) {
  repeats_->clear();
  std::vector<Distinct> distinct;
  bool known = false;
  for (int k = window_; k <= wanted_; ++k) {
    repeat_state_ = repeats_->find(fetch(k));
    known = known || (k > window_ && repeat_state_ == RepeatState::independent);
    if (known && repeat_state_ != RepeatState::repeats) distinct.push_back({k, repeat_state_});
  }
  if (static_cast<int>(distinct.size()) > margin_.before) {
    lead_in(fetch, keep, distinct);
    return true;
  }
  const int before = window_;
  window_ = std::max(wanted_ - 2 * (wanted_ - window_), 0);
  more = {window_, before - 1};
  if (window_ > 0) return false;
  // The clip's own beginning: everything from there on.
  window_ = -1;
  repeat_state_ = RepeatState::unknown;
  fed_ = 0;
  return false;
}

/// Puts in the frames before the wanted one. A repetition also needs the frame that it repeats.
void SeekingSession::lead_in(const Fetch& fetch, const Keep& keep,
                             const std::vector<Distinct>& distinct) {
  notes_ = true;
  window_ = -1;
  out_ = fed_ = wanted_;
  const bool repeats = distinct.back().number != wanted_;
  const int last = static_cast<int>(distinct.size()) - (repeats ? 1 : 2);
  for (int i = static_cast<int>(distinct.size()) - 1 - margin_.before; i <= last; ++i) {
    Frame frame = fetch(distinct[i].number);
    frame.repeat_state = distinct[i].repeat_state;
    frame.context_distance = i - static_cast<int>(distinct.size()) + 1;
    feed(std::move(frame), keep);
  }
}

void SeekingSession::feed(Frame frame, const Keep& keep) {
  used_ = true;
  for (auto result = session_->push(std::move(frame)); result; result = session_->next())
    take(*std::move(result), keep);
}

void SeekingSession::take(Frame result, const Keep& keep) {
  if (result.pts < out_) return;  // of the lead
  ++out_;
  if (result.pts == wanted_)
    result_ = std::move(result);
  else if (result.pts > wanted_)
    keep(result);
}

void SeekingSession::drain(const Keep& keep) {
  while (auto result = session_->drain()) take(*std::move(result), keep);
  used_ = false;
}

}  // namespace lull::vapoursynth
