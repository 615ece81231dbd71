#pragma once
// Sinks for jobs that several processes share (io/jobs.h). One sink writes the plan, one encodes
// segments, and one joins the segments.

#include <memory>
#include <string>

#include "io/encode/encoder.h"
#include "io/jobs.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Throws an error if lull cannot encode the output `path` in segments.
/// @throws InvalidArgument
void refuse_segments(const std::string& path, const FileSource& source, const Container& container,
                     const SegmentOptions& segments);

/// Compares the settings, the input and the library versions of this process with the plan.
/// @throws InvalidArgument  one of them differs
void check_facts(const JobPlan& plan, const FileSource& source, const Container& container,
                 const SinkOptions& options, const Encoder& encoder);

/// Advances `times`, the timestamps of an encoder, as if the encoder had encoded the first
/// `pictures` pictures of `index`. Pictures outside the selection do not count.
void advance_times(const FrameIndex& index, const FileSource& source, std::int64_t pictures,
                   FrameTimes& times);

/// Opens the sink for one part of a shared job (options.segments). The parameters and errors are
/// the same as for open_sink().
std::unique_ptr<MediaSink> open_plan_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_task_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_join_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);

}  // namespace lull::io
