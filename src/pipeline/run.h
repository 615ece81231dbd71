#pragma once
// The run loop: source -> denoiser -> sink, with one thread each and bounded queues between them.

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
  /// number of the written frames that were finished before the run; set by run()'s caller
  std::int64_t skipped = 0;
  double seconds = 0;                 // wall time since the start
  std::array<double, stages> busy{};  // seconds in: read | push and drain | write and finish
  bool cancelled = false;             // the token stopped the run before the sink was finished

  double fps() const { return seconds > 0 ? static_cast<double>(frames - skipped) / seconds : 0; }
  /// Returns the share of the wall time in which a stage worked rather than waited for other
  /// stages, 0..1.
  double busy_share(Stage stage) const {
    return seconds > 0 ? busy[static_cast<int>(stage)] / seconds : 0;
  }
  /// Returns the stage that was busy for the longest time. This stage limits the speed.
  Stage busiest() const;
};

[[nodiscard]] const char* stage_name(Stage stage);

struct PipelineOptions {
  std::size_t queue_frames = 4;  // maximum number of frames in each of the two queues, at least 1
  /// The writing thread calls this function after each written frame. It must return quickly.
  std::function<void(const PipelineStats&)> observer{};
};

/// Passes every frame of `source` through `denoiser` to `sink`, and finishes the sink. The two
/// queues, the denoiser's latency, and one frame per stage limit the number of frames in memory.
///
/// If a stage fails or the token stops the run, the other stages end after their current call, and
/// the sink is not finished. The first failure is rethrown after all stages have ended.
/// @throws BadData  the source has no frame, or its format changes
/// @throws InternalError  the denoiser returned more or fewer frames than were pushed
/// @throws any exception of a stage
PipelineStats run(FrameSource& source, Denoiser& denoiser, FrameSink& sink,
                  const PipelineOptions& options = {}, std::stop_token stop = {});

}  // namespace lull::pipeline
