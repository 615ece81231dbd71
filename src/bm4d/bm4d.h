#pragma once

#include <memory>

#include "bm4d/params.h"
#include "core/denoiser.h"

namespace lull::bm4d {

using lull::Backend;
using lull::BackendKind;

/// Opens a BM4D session for slices in ascending order along z. Results are bit-identical for any
/// number of threads. The session does not filter planes whose sigma is 0.

/// Slices: Frame::slice marks the first slice of a volume. Each plane of the slices is a separate
/// volume. Slices may be in host memory, or in device memory if the backend is a GPU. Memory use
/// does not depend on the number of slices.

/// Parts: The session can also filter only a part of a volume. It must then also receive
/// margin(params) slices before and after the part, and the slices must state their positions. The
/// results of the part are the same as for the complete volume.

/// Masks: If a slice has a mask (Frame::mask), the session filters the voxels inside the mask. The
/// session omits most of the work for all other voxels.

/// Latency: On the CPU, the result of a slice is ready when the session has received the next
/// margin(params).after slices. On a GPU, the result is ready a few slices later.

/// Short axes: If an axis is shorter than a cube, the session extends the axis by its mirror image.
/// @throws InvalidArgument  a parameter is out of range
/// @throws DeviceUnavailable  the build or machine lacks the backend
/// @throws OutOfDeviceMemory  the device has too little memory
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Returns the approximate number of bytes of host memory that a session uses for slices.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind);

}  // namespace lull::bm4d
