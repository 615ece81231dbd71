#include "pipeline/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "core/error.h"
#include "pipeline/bounded_queue.h"
#include "pipeline/thread_name.h"

namespace lull::pipeline {
namespace {

using Clock = std::chrono::steady_clock;

/// State of one run, shared by its three threads.
class Run {
 public:
  Run(FrameSource& source, Denoiser& denoiser, FrameSink& sink, const PipelineOptions& options)
      : source_(source),
        denoiser_(denoiser),
        sink_(sink),
        options_(options),
        noisy_(options.queue_frames),
        clean_(options.queue_frames) {}

  PipelineStats operator()(const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [this] { cancel(); });
    std::vector<std::jthread> threads;
    try {
      threads.emplace_back([this] { guard("lull-decode", &Run::decode); });
      threads.emplace_back([this] { guard("lull-denoise", &Run::denoise); });
      threads.emplace_back([this] { guard("lull-encode", &Run::encode); });
    } catch (...) {  // a thread could not be started: the others must not wait for ever
      cancel();
      throw;
    }
    threads.clear();  // joins
    if (failure_) std::rethrow_exception(failure_);
    PipelineStats stats = snapshot();
    stats.cancelled = !finished_;
    return stats;
  }

 private:
  template <class Work>
  auto timed(Stage stage, Work&& work) {
    struct Timer {
      std::atomic<std::int64_t>& sum;
      Clock::time_point start = Clock::now();
      ~Timer() { sum += std::chrono::nanoseconds(Clock::now() - start).count(); }
    } timer{busy_[static_cast<int>(stage)]};
    return work();
  }

  void guard(const char* name, void (Run::*stage)()) noexcept {
    name_this_thread(name);
    try {
      (this->*stage)();
    } catch (...) {
      {
        const std::lock_guard lock(failure_mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      cancel();
    }
  }

  void cancel() {
    source_.interrupt();  // the source may wait for ever at a pipe
    noisy_.cancel();
    clean_.cancel();
  }

  void decode() {
    const FrameFormat format = source_.format();
    std::int64_t frames = 0;
    while (std::optional<Frame> frame = timed(Stage::decode, [&] { return source_.read(); })) {
      if (frame->format != format)
        throw BadData("frame " + std::to_string(frames) + " is " + describe(frame->format) +
                      " (the first was " + describe(format) + "); cut the input there");
      ++frames;
      if (!noisy_.push(std::move(*frame))) return;
    }
    if (frames == 0)
      throw BadData("the input contains no frame (it ends before the first); check the file");
    noisy_.close();
  }

  void denoise() {
    std::int64_t in = 0, out = 0;
    while (std::optional<Frame> noisy = noisy_.pop()) {
      ++in;
      std::optional<Frame> ready =
          timed(Stage::denoise, [&] { return denoiser_.push(std::move(*noisy)); });
      for (; ready; ready = timed(Stage::denoise, [&] { return denoiser_.next(); })) {
        ++out;
        if (!clean_.push(std::move(*ready))) return;
      }
    }
    if (noisy_.cancelled()) return;
    while (std::optional<Frame> ready = timed(Stage::denoise, [&] { return denoiser_.drain(); })) {
      ++out;
      if (!clean_.push(std::move(*ready))) return;
    }
    if (in != out)
      throw InternalError("the denoiser returned " + std::to_string(out) + " of " +
                          std::to_string(in) + " frames");
    clean_.close();
  }

  void encode() {
    while (std::optional<Frame> frame = clean_.pop()) {
      timed(Stage::encode, [&] { sink_.write(std::move(*frame)); });
      ++frames_;
      if (options_.observer) options_.observer(snapshot());
    }
    // The sink has received all results, unless the queue is cancelled.
    if (clean_.cancelled()) return;
    timed(Stage::encode, [&] { sink_.finish(); });
    finished_ = true;
  }

  PipelineStats snapshot() const {
    PipelineStats stats;
    stats.frames = frames_;
    stats.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    for (int i = 0; i < stages; ++i) stats.busy[i] = static_cast<double>(busy_[i]) * 1e-9;
    return stats;
  }

  FrameSource& source_;
  Denoiser& denoiser_;
  FrameSink& sink_;
  const PipelineOptions& options_;
  BoundedQueue<Frame> noisy_, clean_;
  const Clock::time_point start_ = Clock::now();
  std::array<std::atomic<std::int64_t>, stages> busy_{};  // nanoseconds
  std::atomic<std::int64_t> frames_ = 0;
  std::atomic<bool> finished_ = false;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace

Stage PipelineStats::busiest() const {
  return static_cast<Stage>(std::max_element(busy.begin(), busy.end()) - busy.begin());
}

const char* stage_name(Stage stage) {
  constexpr const char* names[stages] = {"decode", "denoise", "encode"};
  return names[static_cast<int>(stage)];
}

PipelineStats run(FrameSource& source, Denoiser& denoiser, FrameSink& sink,
                  const PipelineOptions& options, std::stop_token stop) {
  return Run(source, denoiser, sink, options)(stop);
}

}  // namespace lull::pipeline
