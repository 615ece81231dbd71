#pragma once
// The host memory of a job, and the limit of host memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/frame.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Returns half of the memory that is available without swapping, or half of the control group
/// limit if this limit is lower, or 0 if both are unknown. Encoders and decoders use the other
/// half.
/// @param root  the folder that contains proc and sys
[[nodiscard]] std::int64_t default_max_memory(const std::string& root = "/");
/// Sets the memory limit of the options to default_max_memory(), unless the options have a limit.
/// A command that filters or estimates noise must call this function before it opens the input.
void set_default_max_memory(InputOptions& options);

struct PlannedSessions {
  Method params;
  FrameFormat frame;  // format of the input
  std::vector<bm3d::Backend> backends;
  double other_bytes = 0;  // memory that other parts of the run need, in bytes
};

/// Returns the number of frames in each part of a clip. Several temporal sessions filter different
/// parts of the clip. The frames of all parts together may use a quarter of the memory limit, but
/// at least 1 GiB and at most 8 GiB.
/// @param clips  number of denoisers that share this memory
[[nodiscard]] int part_frames(const Method& method, const FrameFormat& format, std::size_t sessions,
                              int clips);

/// Estimates the memory in bytes of the frames in the sessions and in the queues before and after
/// the sessions.
[[nodiscard]] std::int64_t host_memory(const PlannedSessions& plan);

/// @throws OutOfMemory  the estimated memory exceeds the limit in the options
void check_memory(const InputOptions& options, const PlannedSessions& plan);

}  // namespace lull::tools
