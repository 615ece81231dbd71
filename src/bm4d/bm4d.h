#pragma once
// Opens BM4D sessions, which filter volumes. The frames of a session are the slices of a volume.

#include <memory>

#include "bm4d/params.h"
#include "core/denoiser.h"

namespace lull::bm4d {

using lull::Backend;
using lull::BackendKind;

/// Opens a session for slices of one format. A session receives the slices of a volume in ascending
/// order along z; Frame::slice marks the first slice of a volume. Each plane of the slices is a
/// separate volume. Planes with a sigma of 0 are not filtered. Results are reproducible to the
/// byte, independent of the number of threads. The results for a part of a volume equal those for
/// the complete volume if the session also gets margin(params) slices around the part, and slices
/// state their positions.
///
/// If slices have a mask (Frame::mask), the session filters the voxels inside the mask. A session
/// on the CPU skips reference cubes that hardly influence these voxels. A session on a GPU skips
/// layers of such cubes.
///
/// On a GPU, slices may be in device or host memory.
///
/// Memory use does not depend on the number of slices. On the CPU, the result of a slice is
/// available when margin(params).after further slices have been pushed. On a GPU, it is available a
/// few slices later. If an axis is shorter than a cube, the session extends the axis by its mirror
/// image.
/// @throws InvalidArgument     if a parameter is outside its range (params.h)
/// @throws DeviceUnavailable   if this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory   if the device's memory is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Returns the approximate number of bytes that a session on the host uses for slices.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format);

}  // namespace lull::bm4d
