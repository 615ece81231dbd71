#pragma once
// Sinks for jobs that several processes share (io/jobs.h): one for the plan, one for segments, one
// that joins them.

#include <memory>
#include <string>

#include "io/encode/encoder.h"
#include "io/jobs.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Checks whether the output can be made in segments.
/// @throws InvalidArgument  it cannot
void refuse_segments(const std::string& path, const FileSource& source, const Container& container,
                     const SegmentOptions& segments);

/// Compares the facts of this process with those of the plan.
/// @throws InvalidArgument  they differ
void check_facts(const JobPlan& plan, const FileSource& source, const Container& container,
                 const SinkOptions& options, const Encoder& encoder);

/// Advances `times` as if the selected frames among the first `pictures` pictures of the index had
/// been encoded.
void advance_times(const FrameIndex& index, const FileSource& source, std::int64_t pictures,
                   FrameTimes& times);

/// These functions do the same as open_sink(), each for one part of a job (options.segments).
std::unique_ptr<MediaSink> open_plan_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_task_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_join_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);

}  // namespace lull::io
