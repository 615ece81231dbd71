#pragma once
// Functions that run jobs in segments and interrupt them.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/support/clip.h"

namespace lull::io::test {

/// Returns a clip with frames of unequal duration, sound and subtitles.
inline ClipSpec varied() {
  ClipSpec spec;
  spec.frames = 29;
  spec.time_base = {1, 1000};
  std::int64_t time = 40;
  for (int i = 0; i < spec.frames; ++i) spec.pts.push_back(time += 3 + (i * i * 7) % 61);
  spec.audio = "flac";
  spec.audio_seconds = 1.2;
  spec.subtitles = "srt";
  return spec;
}

struct Job {
  std::string in, out;
  SourceOptions source{};
  SinkOptions sink{};
};

inline Job job_in(const TemporaryFolder& folder, const std::string& out = "out.mkv") {
  return {folder / "in.mkv", folder / out, {}, {.segments = SegmentOptions{.frames = 6}}};
}

inline constexpr int all = 1 << 20;

inline bool holds(const std::vector<FrameRange>& ranges, std::int64_t number) {
  return std::ranges::any_of(
      ranges, [&](const FrameRange& r) { return number >= r.first && number <= r.last; });
}

/// Runs the job until `frames` are written and then drops it, like a process that ends. Returns the
/// notes of the sink. Frames that the sink does not need have no samples.
inline std::vector<std::string> run(Job job, bool resume, int frames = all) {
  job.sink.segments->resume = resume;
  const auto source = open_source(job.in, job.source);
  const auto sink = open_sink(job.out, *source, job.sink);
  const std::vector<FrameRange> wanted = sink->needed_frames();
  for (int i = 0; i < frames; ++i) {
    std::optional<Frame> frame = source->read();
    if (!frame) {
      sink->finish();
      break;
    }
    if (!holds(wanted, i)) {
      frame->pixels.reset();
      frame->planes = {};
    }
    sink->write(*std::move(frame));
  }
  return sink->notes();
}

/// Returns the bytes of the job's output without an interruption.
inline std::vector<std::uint8_t> whole(Job job) {
  const std::filesystem::path out(job.out);
  job.out = (out.parent_path() / ("whole" + out.extension().string())).string();
  (void)run(job, false);
  return read_file(job.out);
}

}  // namespace lull::io::test
