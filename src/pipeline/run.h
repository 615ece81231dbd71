#pragma once
// The run loop connects source, denoiser and sink. Each of these stages has its own thread. A
// bounded queue connects each stage to the next stage.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "core/denoiser.h"
#include "core/stream.h"

namespace lull::pipeline {

enum class Stage { decode, denoise, encode };
inline constexpr int stages = 3;

struct PipelineStats {
  std::int64_t frames = 0;  // written frames
  /// Number of frames in `frames` that an earlier run has written. The caller of run() sets
  /// `skipped`.
  std::int64_t skipped = 0;
  double seconds = 0;                 // wall time since the start
  std::array<double, stages> busy{};  // seconds in: read | push and drain | write and finish
  bool cancelled = false;             // the token stopped the run before the sink was finished

  double fps() const { return seconds > 0 ? static_cast<double>(frames - skipped) / seconds : 0; }
  /// Returns the share (0..1) of the wall time in which a stage worked. In the remaining time, the
  /// stage waited for other stages.
  double busy_share(Stage stage) const {
    return seconds > 0 ? busy[static_cast<int>(stage)] / seconds : 0;
  }
  /// Returns the busiest stage, which limits the speed.
  Stage busiest() const;
};

[[nodiscard]] const char* stage_name(Stage stage);

struct PipelineOptions {
  std::size_t queue_frames = 4;  // maximum number of frames in each of the two queues, at least 1
  /// The thread that writes to the sink calls this function after each frame. The function must
  /// return quickly.
  std::function<void(const PipelineStats&)> observer{};
};

/// Passes every frame of `source` through `denoiser` to `sink`, and finishes the sink.

/// Failures: if a stage fails or the token stops the run, the sink remains unfinished. The other
/// stages end after their current call. run() rethrows the first failure after all stages have
/// ended.

/// Memory: the frames in memory are the frames in the two queues, the frames in the denoiser (its
/// latency), and one frame for each stage.
/// @throws BadData  the source has no frame, or its format changes
/// @throws InternalError  the denoiser returned more or fewer frames than it received
/// @throws any exception of a stage
PipelineStats run(FrameSource& source, Denoiser& denoiser, FrameSink& sink,
                  const PipelineOptions& options = {}, std::stop_token stop = {});

}  // namespace lull::pipeline
