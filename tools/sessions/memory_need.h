#pragma once
// Estimates the host memory that a job needs, and determines the limit of host memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/frame.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Returns half of the memory that is available without swapping, or half of the limit of the
/// process's control groups, whichever is less; 0: no limit is known. The other half is for
/// encoders and decoders.
/// @param root the folder that contains proc and sys
[[nodiscard]] std::int64_t default_max_memory(const std::string& root = "/");

struct PlannedSessions {
  Method params;
  FrameFormat frame;  // format of the input
  std::vector<bm3d::Backend> backends;
  double other_bytes = 0;  // memory that other parts of the run need, in bytes
};

/// Returns the number of frames of a part. If a clip is filtered temporally by several sessions,
/// each session filters one part of consecutive frames at a time. The frames around each part are
/// filtered twice, so long parts are more efficient. The parts in host memory, one more than there
/// are sessions, may use a quarter of the limit of host memory, but at least 1 GiB and at most 8
/// GiB. If the number of frames is known, the parts have equal lengths.
/// @param clips  number of clips that are in memory at the same time; the fields of each parity are
///     a separate clip
[[nodiscard]] int part_frames(const Method& method, const FrameFormat& format, std::size_t sessions,
                              int clips);

/// Estimates the memory in bytes for the frames inside the sessions and in the queues before and
/// after the sessions.
[[nodiscard]] std::int64_t host_memory(const PlannedSessions& plan);

/// @throws OutOfMemory  the estimated memory exceeds the limit that the options state
void check_memory(const InputOptions& options, const PlannedSessions& plan);

}  // namespace lull::tools
