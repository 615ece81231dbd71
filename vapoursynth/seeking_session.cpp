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
  if (!repeats_ && margin_ != Margin{}) repeats_ = open_repeat_finder(choice_, format_);
}

/// Prepares a session that contains no frames. On a GPU, the function drains and reuses the
/// existing session, because opening another session takes a long time.
void SeekingSession::restart() {
  if (session_ && used_ && on_gpu_)
    while (session_->drain()) continue;
  else if (!session_ || used_)
    open();
  used_ = false;
  result_.reset();
}

int SeekingSession::last_needed_for(int n) const {
  return std::min(n + std::max(latency_, margin_.after), frames_ - 1);
}

Frames SeekingSession::start(int n) {
  target_ = n;
  result_.reset();
  const int max_gap = margin_.before + margin_.after + latency_ + 4;
  const bool continues =
      session_ && used_ && search_start_ < 0 && n >= next_result_ && n <= next_result_ + max_gap;
  requested_ = last_needed_for(n);
  if (continues) return {next_input_, requested_};
  restart();
  const bool is_single_frame = margin_ == Margin{};
  search_start_ = is_single_frame ? -1 : std::max(n - margin_.before - 2, 0);
  next_input_ = next_result_ = is_single_frame ? n : 0;
  uses_repeat_states_ = false;
  if (search_start_ == 0)
    search_start_ = -1;  // the session starts with the first frame of the clip
  return {search_start_ > 0 ? search_start_ : next_input_, requested_};
}

std::optional<Frame> SeekingSession::process(const Fetch& fetch, const Keep& keep, Frames& more) {
  if (search_start_ > 0 && !find_start(fetch, keep, more)) return std::nullopt;
  while (!result_ && next_input_ <= requested_) {
    Frame frame = fetch(next_input_);
    if (uses_repeat_states_)
      frame.repeat_state = next_input_ == target_ && repeat_state_ != RepeatState::unknown
                               ? std::exchange(repeat_state_, RepeatState::unknown)
                               : repeats_->find(frame);
    ++next_input_;
    push_frame(std::move(frame), keep);
  }
  if (!result_ && next_input_ == frames_) drain(keep);
  if (result_) return std::exchange(result_, std::nullopt);
  if (next_input_ == frames_)
    throw InternalError("a session returned fewer frames than it received; please report it");
  requested_ = std::min(next_input_ + std::max(margin_.after, 1), frames_ - 1);
  more = {next_input_, requested_};
  return std::nullopt;
}

/// Finds the first frame that the session needs, and pushes the frames before the target. The
/// function skips repeated frames, because they do not count in the margin. It recognises repeated
/// frames only after a frame with independent noise (RepeatState::independent). Returns false if
/// the host must first provide the frames `more`.
bool SeekingSession::find_start(const Fetch& fetch, const Keep& keep, Frames& more) {
  repeats_->clear();
  std::vector<Distinct> distinct;
  bool known = false;
  for (int k = search_start_; k <= target_; ++k) {
    repeat_state_ = repeats_->find(fetch(k));
    known = known || (k > search_start_ && repeat_state_ == RepeatState::independent);
    if (known && repeat_state_ != RepeatState::repeats) distinct.push_back({k, repeat_state_});
  }
  if (static_cast<int>(distinct.size()) > margin_.before) {
    push_context(fetch, keep, distinct);
    return true;
  }
  const int before = search_start_;
  search_start_ = std::max(target_ - 2 * (target_ - search_start_), 0);
  more = {search_start_, before - 1};
  if (search_start_ > 0) return false;
  // The search has reached the start of the clip, so the session starts with the first frame.
  search_start_ = -1;
  repeat_state_ = RepeatState::unknown;
  next_input_ = 0;
  return false;
}

/// Pushes the earlier frames that affect the result of the target. If the target is a repeated
/// frame, also pushes the frame that the target repeats.
void SeekingSession::push_context(const Fetch& fetch, const Keep& keep,
                                  const std::vector<Distinct>& distinct) {
  uses_repeat_states_ = true;
  search_start_ = -1;
  next_result_ = next_input_ = target_;
  const bool repeats = distinct.back().number != target_;
  const int last = static_cast<int>(distinct.size()) - (repeats ? 1 : 2);
  for (int i = static_cast<int>(distinct.size()) - 1 - margin_.before; i <= last; ++i) {
    Frame frame = fetch(distinct[i].number);
    frame.repeat_state = distinct[i].repeat_state;
    frame.context_distance = i - static_cast<int>(distinct.size()) + 1;
    push_frame(std::move(frame), keep);
  }
}

void SeekingSession::push_frame(Frame frame, const Keep& keep) {
  used_ = true;
  for (auto result = session_->push(std::move(frame)); result; result = session_->next())
    accept_result(*std::move(result), keep);
}

void SeekingSession::accept_result(Frame result, const Keep& keep) {
  if (result.pts < next_result_) return;  // a context frame
  ++next_result_;
  if (result.pts == target_)
    result_ = std::move(result);
  else if (result.pts > target_)
    keep(result);
}

void SeekingSession::drain(const Keep& keep) {
  while (auto result = session_->drain()) accept_result(*std::move(result), keep);
  used_ = false;
}

}  // namespace lull::vapoursynth
