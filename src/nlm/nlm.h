#pragma once
// Opens sessions of non-local means: filters of pictures, also over time, and of volumes, whose
// slices are the frames of a session. The backend is chosen once, for a whole session.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "nlm/params.h"

namespace lull::nlm {

using lull::Backend;
using lull::BackendKind;

/// Opens a session for frames, or slices, of one format. Equal frames give equal bytes, whatever
/// the number of threads, and a part of a clip or volume that is seen with the margin(params)
/// around it gives those of the whole.
///
/// RGB is filtered jointly: all channels have the weights that their distances together give. YUV
/// whose planes have one size has luma's weights; else chroma has its own, from both planes
/// together. In volumes each plane is filtered by itself.
/// @throws InvalidArgument     a parameter is outside its range (params.h)
/// @throws DeviceUnavailable   this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory   its memory is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Finds what a session with these parameters would find. Who gives sessions parts of a clip notes
/// it in the frames (Frame::likeness). Null for volumes.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params,
                                                               const FrameFormat& format);

/// Bytes that a session keeps of frames in the host's memory, roughly.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind);

}  // namespace lull::nlm
