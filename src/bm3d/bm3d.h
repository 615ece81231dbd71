#pragma once
// Opens BM3D sessions.

#include <memory>
#include <memory_resource>

#include "bm3d/params.h"
#include "core/denoiser.h"
#include "core/repeats.h"

namespace lull::bm3d {

using lull::BackendKind;

/// Default number of frames in flight on a GPU.
inline constexpr int default_streams = 2;

/// The backend of a BM3D session.
struct Backend {
  BackendKind kind = BackendKind::cpu;
  int device = 0;                  // cuda: index of the GPU among the visible ones
  int streams = default_streams;   // cuda: frames in flight, 1..16
  int threads = 0;                 // cpu: number of threads; 0: one per core
  bool results_on_device = false;  // results stay in GPU memory (lull::Backend)
  ResultSamples results = {};      // samples of results (lull::Backend)

  /// Converts this backend to lull::Backend, the common type of all methods.
  operator lull::Backend() const {
    return {.kind = kind,
            .device = device,
            .threads = threads,
            .results_on_device = results_on_device,
            .results = results};
  }
};

/// Opens a session for frames of one format. The results are bit-identical for any number of
/// streams and threads.
/// @throws InvalidArgument  a parameter is out of range (params.h)
/// @throws DeviceUnavailable  the build or machine lacks the backend
/// @throws OutOfDeviceMemory  the device has too little memory
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Opens a detector that finds the same repeated frames as a session with the parameters `params`.
/// Sessions for parts of a clip need the results of this detector in Frame::repeat_state. Such a
/// session also needs margin(params) frames before and after its part, not counting repeated
/// frames. It then returns the same results as one session for the complete clip.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params,
                                                               const FrameFormat& format);

/// Returns a memory resource that exists until the process ends. The backend reads frames in memory
/// of this resource without an intermediate copy. For `cuda`, the memory is page-locked. All other
/// backends use the default resource.
[[nodiscard]] std::pmr::memory_resource* frame_memory(const Backend& backend);

}  // namespace lull::bm3d
