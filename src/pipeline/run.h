#pragma once
// The run loop: source -> denoiser -> sink, a thread for each, bounded queues between them.

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
  std::int64_t frames = 0;            // written
  std::int64_t skipped = 0;           // of these, done before the run; whoever knows sets it
  double seconds = 0;                 // wall time since the start
  std::array<double, stages> busy{};  // seconds inside read | push and drain | write and finish
  bool cancelled = false;             // stopped by the token before the sink was finished

  double fps() const { return seconds > 0 ? static_cast<double>(frames - skipped) / seconds : 0; }
  /// Share of the wall time in which a stage worked rather than waited for its neighbours, 0..1.
  double busy_share(Stage stage) const {
    return seconds > 0 ? busy[static_cast<int>(stage)] / seconds : 0;
  }
  /// The stage that was busy for the longest: the one that sets the speed.
  Stage busiest() const;
};

[[nodiscard]] const char* stage_name(Stage stage);

struct PipelineOptions {
  std::size_t queue_frames = 4;  // in each of the two queues at most, from 1
  /// Called after each written frame, by the thread that writes: it must be quick.
  std::function<void(const PipelineStats&)> observer{};
};

/// Moves every frame of `source` through `denoiser` into `sink` and finishes the sink. Frames in
/// memory are bounded by the two queues, the denoiser's latency and one in the hands of each stage.
///
/// After a failure of any stage, or a stop by the token, the other stages end after the call that
/// they are in, the sink is not finished, and the first failure is rethrown once all have ended.
/// @throws BadData   the source has no frame, or its format changes on the way
/// @throws InternalError  the denoiser gave back more or fewer frames than went in
/// @throws whatever a stage threw
PipelineStats run(FrameSource& source, Denoiser& denoiser, FrameSink& sink,
                  const PipelineOptions& options = {}, std::stop_token stop = {});

}  // namespace lull::pipeline
