#pragma once
// What a job keeps in the host's memory, against what it may.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/frame.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/method.h"

namespace lull::tools {

/// Half of what the system can give now without swapping, or of what the control groups of the
/// process allow it, whichever is less: encoders and decoders take memory, too, of which nobody
/// says how much. 0: nobody knows. `root`: where /proc and /sys are.
[[nodiscard]] std::int64_t default_max_memory(const std::string& root = "/");

struct PlannedSessions {
  Method params;
  FrameFormat frame;  // of the input
  std::vector<bm3d::Backend> backends;
  double beside = 0;  // bytes that something else takes
};

/// How many frames of a clip each of several sessions over time gets at a time, where one session
/// has `clips` of them (the fields of either parity are one). What it does for the margins is lost,
/// so that more are better; but as many for each session, and once more, are in the host's memory:
/// a quarter of what it may take, from 1 to 8 GiB. Where the number of frames is known, all
/// sessions get as much to do.
[[nodiscard]] int part_frames(const Method& method, const FrameFormat& format, std::size_t sessions,
                              int clips);

/// Bytes that sessions keep of frames, and that wait before and behind them; roughly.
[[nodiscard]] std::int64_t host_memory(const PlannedSessions& plan);

/// @throws OutOfMemory  it is more than the limit of the options
void check_memory(const DenoiseOptions& options, const PlannedSessions& plan);

}  // namespace lull::tools
