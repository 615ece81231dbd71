#pragma once
// Sinks for jobs that several processes share (io/jobs.h): one that plans, one that makes segments,
// one that puts them together.

#include <memory>
#include <string>

#include "io/encode/encoder.h"
#include "io/jobs.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// @throws InvalidArgument  what cannot be made in segments
void refuse_segments(const std::string& path, const FileSource& source, const Container& container,
                     const SegmentOptions& segments);

/// @throws InvalidArgument  these are not the facts of the plan
void check_facts(const JobPlan& plan, const FileSource& source, const Container& container,
                 const SinkOptions& options, const Encoder& encoder);

/// As if the first so many pictures of the index had been encoded, those of them that are kept.
void advance_times(const FrameIndex& index, const FileSource& source, std::int64_t pictures,
                   FrameTimes& times);

/// As open_sink, with options.segments of each part.
std::unique_ptr<MediaSink> open_plan_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_task_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);
std::unique_ptr<MediaSink> open_join_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options);

}  // namespace lull::io
