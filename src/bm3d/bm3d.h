#pragma once
// Opens BM3D sessions. The backend is chosen once, for a whole session.

#include <memory>
#include <memory_resource>

#include "bm3d/params.h"
#include "core/denoiser.h"
#include "core/repeats.h"

namespace lull::bm3d {

using lull::BackendKind;

/// Where a session of BM3D runs.
struct Backend {
  BackendKind kind = BackendKind::cpu;
  int device = 0;                  // cuda: index of the GPU among the visible ones
  int streams = 4;                 // cuda: frames in flight, 1..16
  int threads = 0;                 // cpu: 0 takes every core
  bool results_on_device = false;  // as of lull::Backend

  /// For the other methods.
  operator lull::Backend() const {
    return {
        .kind = kind, .device = device, .threads = threads, .results_on_device = results_on_device};
  }
};

/// Opens a session for frames of one format. Equal frames give equal bytes, whatever the number of
/// streams and threads.
/// @throws InvalidArgument     a parameter is outside its range (params.h)
/// @throws DeviceUnavailable   this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory   its memory is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Finds what a session with these parameters would find. Who gives sessions parts of a clip notes
/// it in the frames (Frame::likeness); results are those of the whole clip where a session also
/// sees the margin(params) of frames that are not repetitions.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params,
                                                               const FrameFormat& format);

/// Memory from which frames travel to the backend without a further copy: page-locked for cuda, the
/// default resource otherwise. It lives as long as the process.
[[nodiscard]] std::pmr::memory_resource* frame_memory(const Backend& backend);

}  // namespace lull::bm3d
