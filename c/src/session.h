#pragma once
// A session of the C interface.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "c/include/lull.h"
#include "c/src/formats.h"
#include "c/src/memory.h"
#include "c/src/parameters.h"
#include "c/src/support.h"
#include "core/denoiser.h"

namespace lull::c {

/// A denoiser, and the properties that describe it.
struct OpenedSession {
  InputFormat input;
  std::unique_ptr<Denoiser> denoiser;
  Margin margin;
  std::string device;      // "cpu", "cuda:0,1"
  std::optional<int> gpu;  // the GPU whose memory frames may be in; empty: only host memory
  std::pmr::memory_resource* host = nullptr;  // memory for copies of frames
  FrameFormat results;
  bool is_volume = false;
};

/// Opens the denoiser that the command `lull` opens for a file with such frames.
/// @throws InvalidArgument, DeviceUnavailable, OutOfDeviceMemory, DeviceFailure
[[nodiscard]] OpenedSession open_denoiser(const InputFormat& input, const lull_params& params,
                                          bool results_on_gpu);

}  // namespace lull::c

/// Calls of push(), next() and drain() run one after the other.
struct lull_session {
 public:
  lull_session(lull::c::OpenedSession opened, const lull_session_options& options);

  lull_status push(const lull_frame& given, const std::shared_ptr<lull::c::FrameOwner>& owner);
  lull_status next(lull_frame* result);
  lull_status drain(lull_frame* result);
  void cancel() noexcept { is_cancelled_ = true; }
  lull_session_info info() const;
  lull_format format() const { return format_of(results_, input_); }
  lull::c::ErrorText& error() const { return error_; }

 private:
  void check_open() const;
  lull_frame checked_result(lull_frame* result) const;
  /// Runs `work`, which uses the denoiser. If `work` fails, the function closes the denoiser.
  template <class Work>
  auto computed(Work work);
  void add_result(lull::Frame frame);
  void report_progress();
  lull_status give(lull_frame* result, const lull_frame& to);

  mutable lull::c::ErrorText error_;
  std::mutex mutex_;
  lull::c::InputFormat input_;
  lull::FrameFormat results_;
  std::string device_;
  lull::Margin margin_;
  int latency_;
  bool is_volume_;
  lull_session_options options_;
  lull::c::ProgramMemory frames_, outputs_;
  std::unique_ptr<lull::Denoiser> denoiser_;  // null after a failure
  std::deque<lull::Frame> ready_;
  std::deque<std::int64_t> tags_;  // tags of frames whose results have not been taken, in order
  bool is_draining_ = false, starts_clip_ = false;
  std::atomic<bool> is_cancelled_{false};
  std::atomic<std::uint64_t> pushed_{0}, finished_{0};
};
