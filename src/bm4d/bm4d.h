#pragma once
// Opens BM4D sessions: filters of volumes, whose slices are the frames of a session. The backend is
// chosen once, for a whole session.

#include <memory>

#include "bm4d/params.h"
#include "core/denoiser.h"

namespace lull::bm4d {

using lull::Backend;
using lull::BackendKind;

/// Opens a session for slices of one format. Slices follow each other along z; where a volume
/// begins is said by Frame::slice. Each plane of a slice is a volume of its own, less those with a
/// sigma of 0. Equal volumes give equal bytes, whatever the number of threads, and a part of a
/// volume that is seen with the margin(params) around it gives those of the whole, as long as its
/// slices say their places.
///
/// Of slices with a mask (Frame::mask) the voxels inside get their results; on the CPU reference
/// cubes that these hardly depend on are left out, on a GPU layers of them.
///
/// On a GPU slices may lie in its memory, or in the host's.
///
/// Memory is bounded whatever the number of slices: a result comes margin(params).after slices
/// late (on a GPU a few more). Axes shorter than a cube are continued by their mirror image.
/// @throws InvalidArgument     a parameter is outside its range (params.h)
/// @throws DeviceUnavailable   this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory   its memory is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Bytes that a session on the host keeps of slices, roughly.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format);

}  // namespace lull::bm4d
