#include "c/src/session.h"

#include <utility>

using lull::Frame;
using lull::InvalidArgument;
using namespace lull::c;

lull_session::lull_session(OpenedSession opened, const lull_session_options& options)
    : input_(opened.input),
      results_(opened.results),
      device_(std::move(opened.device)),
      margin_(opened.margin),
      latency_(opened.denoiser->latency()),
      is_volume_(opened.is_volume),
      options_(options),
      frames_(opened.input.frame, opened.gpu, opened.host),
      outputs_(opened.results, std::nullopt, opened.host),
      denoiser_(std::move(opened.denoiser)) {}

void lull_session::check_open() const {
  if (is_cancelled_)
    throw StatusError(LULL_CANCELLED,
                      "the session is cancelled (by lull_cancel(), or by its "
                      "progress function); open another");
  if (!denoiser_)
    throw StatusError(LULL_CLOSED, "the session is closed (an earlier call failed); open another");
}

template <class Work>
auto lull_session::computed(Work work) {
  try {
    return work();
  } catch (...) {
    ready_.clear();
    denoiser_.reset();
    throw;
  }
}

void lull_session::add_result(Frame frame) {
  ready_.push_back(std::move(frame));
  ++finished_;
  report_progress();
}

void lull_session::report_progress() {
  if (options_.progress != nullptr && options_.progress(pushed_, finished_, options_.user) != 0)
    is_cancelled_ = true;
}

lull_status lull_session::push(const lull_frame& given, const std::shared_ptr<FrameOwner>& owner) {
  const std::lock_guard lock(mutex_);
  check_open();
  if (is_draining_)
    throw InvalidArgument(
        "a frame in the middle of lull_drain() (results of the previous clip remain); call it "
        "until it returns LULL_NONE");
  Frame noisy = frames_.frame_of(given, owner);
  if (starts_clip_) pushed_ = finished_ = 0;
  starts_clip_ = false;
  noisy.pts = static_cast<std::int64_t>(pushed_);
  noisy.duration = 1;
  noisy.time_base = {1, 25};
  if (input_.is_volume) noisy.slice = number_of(given);
  tags_.push_back(given.tag);
  ++pushed_;
  return computed([&] {
    if (auto result = denoiser_->push(std::move(noisy))) add_result(*std::move(result));
    while (!is_cancelled_) {
      auto result = denoiser_->next();
      if (!result) break;
      add_result(*std::move(result));
    }
    check_open();
    return LULL_OK;
  });
}

lull_frame lull_session::checked_result(lull_frame* result) const {
  const lull_frame to = read_struct(result, "result");
  outputs_.check(to, "result");
  return to;
}

lull_status lull_session::give(lull_frame* result, const lull_frame& to) {
  if (ready_.empty()) return LULL_NONE;
  outputs_.store(ready_.front(), to);
  result->tag = tags_.front();
  ready_.pop_front();
  tags_.pop_front();
  return LULL_OK;
}

lull_status lull_session::next(lull_frame* result) {
  const lull_frame to = checked_result(result);
  const std::lock_guard lock(mutex_);
  check_open();
  return give(result, to);
}

lull_status lull_session::drain(lull_frame* result) {
  const lull_frame to = checked_result(result);
  const std::lock_guard lock(mutex_);
  check_open();
  if (ready_.empty()) {
    computed([&] {
      is_draining_ = true;
      if (auto last = denoiser_->drain()) {
        add_result(*std::move(last));
        check_open();
      } else {
        is_draining_ = false;
        starts_clip_ = true;
      }
    });
  }
  return give(result, to);
}

lull_session_info lull_session::info() const {
  lull_session_info info{};
  copy_text(device_, info.device);
  info.is_volume = is_volume_ ? 1 : 0;
  info.latency = latency_;
  info.before = margin_.before;
  info.after = margin_.after;
  info.pushed = pushed_;
  info.finished = finished_;
  return info;
}

lull_status lull_session_open(const lull_format* format, const lull_params* params,
                              const lull_session_options* options, lull_session** session) {
  return guarded([&] {
    checked(session, "session") = nullptr;
    const InputFormat input = read_format(format);
    const lull_session_options chosen =
        options != nullptr ? read_struct(options, "options") : lull_session_options{};
    if (chosen.result_memory != LULL_HOST && chosen.result_memory != LULL_CUDA)
      throw InvalidArgument("options->result_memory = " + std::to_string(chosen.result_memory) +
                            " (must be LULL_HOST or LULL_CUDA); choose one of these");
    *session = new lull_session(
        open_denoiser(input, checked(params, "params"), chosen.result_memory == LULL_CUDA), chosen);
    return LULL_OK;
  });
}

lull_status lull_session_format(const lull_session* session, lull_format* format) {
  return guarded([&] {
    write_struct(format, checked(session, "session").format(), "format");
    return LULL_OK;
  });
}

lull_status lull_session_get(const lull_session* session, lull_session_info* info) {
  return guarded([&] {
    write_struct(info, checked(session, "session").info(), "info");
    return LULL_OK;
  });
}

namespace {

/// Runs a call for a session. If the call fails, the session stores the text of the error.
template <class Work>
lull_status guarded_call(lull_session* session, Work work) {
  return guarded([&] { return work(checked(session, "session")); },
                 session != nullptr ? &session->error() : nullptr);
}

}  // namespace

lull_status lull_push(lull_session* session, const lull_frame* frame) {
  return guarded([&] {
    const lull_frame given = read_struct(frame, "frame");
    const auto owner = std::make_shared<FrameOwner>(given.release, given.user);
    return guarded_call(session, [&](lull_session& called) { return called.push(given, owner); });
  });
}

lull_status lull_next(lull_session* session, lull_frame* result) {
  return guarded_call(session, [&](lull_session& called) { return called.next(result); });
}

lull_status lull_drain(lull_session* session, lull_frame* result) {
  return guarded_call(session, [&](lull_session& called) { return called.drain(result); });
}

lull_status lull_cancel(lull_session* session) {
  return guarded([&] {
    checked(session, "session").cancel();
    return LULL_OK;
  });
}

const char* lull_session_error(const lull_session* session) {
  return session != nullptr ? session->error().get() : "";
}

void lull_session_close(lull_session* session) { delete session; }
