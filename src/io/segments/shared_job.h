#pragma once
// Sinks for jobs that several processes share (io/jobs.h): one that writes the plan, one that
// encodes segments, and one that joins the segments.

#include <memory>
#include <string>

#include "io/encode/encoder.h"
#include "io/jobs.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Throws an error if the output cannot be encoded in segments.
/// @throws InvalidArgument
void refuse_segments(const std::string& path, const FileSource& source, const Container& container,
                     const SegmentOptions& segments);

/// Compares the facts (settings, input, versions) of this process with the facts of the plan.
/// @throws InvalidArgument  the facts differ
void check_facts(const JobPlan& plan, const FileSource& source, const Container& container,
                 const SinkOptions& options, const Encoder& encoder);

/// Brings `times` into the state that it has after the encoding of the selected frames among the
/// first `pictures` pictures of the index.
void advance_times(const FrameIndex& index, const FileSource& source, std::int64_t pictures,
                   FrameTimes& times);

/// Each of these functions opens the sink for one part of a shared job (options.segments).
/// Parameters and errors are the same as for open_sink().
std::unique_ptr<MediaSink> open_plan_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_task_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_join_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);

}  // namespace lull::io
