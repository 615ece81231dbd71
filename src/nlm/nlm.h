#pragma once
// Opens sessions of non-local means for pictures, with or without temporal filtering, and for
// volumes. The slices of a volume are the frames of its session.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "nlm/params.h"

namespace lull::nlm {

using lull::Backend;
using lull::BackendKind;

/// Opens a session for frames, or slices, of one format. Equal frames give equal results, bit for
/// bit, for every number of threads. A part of a clip or volume that is filtered with the
/// margin(params) around it gives the results of the complete clip or volume.
///
/// RGB is filtered jointly: all channels have the same weights, which are computed from the
/// distances of all channels. If YUV planes have equal sizes, all of them have the weights of luma.
/// If chroma is subsampled, both chroma planes have weights that are computed from chroma. In
/// volumes each plane is filtered separately.
/// @throws InvalidArgument     a parameter is outside its range (params.h)
/// @throws DeviceUnavailable   this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory the memory of the device is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Opens a detector of repeated frames, with the same results as the detection in a session with
/// these parameters; null for volumes. A caller that distributes parts of a clip to several
/// sessions stores these results in Frame::repeat_state.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params,
                                                               const FrameFormat& format);

/// Returns the approximate size, in bytes, of the frames that a session stores in host memory.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind);

}  // namespace lull::nlm
