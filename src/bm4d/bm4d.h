#pragma once
// Opens BM4D sessions: filters of volumes, whose slices are the frames of a session. The backend is
// chosen once per session.

#include <memory>

#include "bm4d/params.h"
#include "core/denoiser.h"

namespace lull::bm4d {

using lull::Backend;
using lull::BackendKind;

/// Opens a session for slices of one format. Slices follow each other along z; Frame::slice marks
/// the first slice of a volume. Each plane of a slice belongs to a volume of its own; planes with a
/// sigma of 0 are not filtered. Results are reproducible to the byte, independent of the number of
/// threads. A session that gets only a part of a volume and margin(params) slices around the part
/// returns the same results for the part as for the complete volume, if the slices state their
/// positions.
///
/// If slices have a mask (Frame::mask), the session filters the voxels inside it. On the CPU it
/// skips reference cubes that hardly influence these voxels, on a GPU it skips complete layers of
/// such cubes.
///
/// On a GPU, slices may be in device or host memory.
///
/// Memory use does not depend on the number of slices: a result is available margin(params).after
/// slices later (on a GPU a few more). Axes shorter than a cube are extended by their mirror image.
/// @throws InvalidArgument     if a parameter is outside its range (params.h)
/// @throws DeviceUnavailable   if this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory   if the device's memory is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Returns approximately how many bytes a session on the host uses for slices.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format);

}  // namespace lull::bm4d
