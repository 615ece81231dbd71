#pragma once

#include <memory>

#include "bm4d/params.h"
#include "core/denoiser.h"

namespace lull::bm4d {

using lull::Backend;
using lull::BackendKind;

/// Opens a BM4D session for slices of one format. The frames of the session are the slices of a
/// volume, in ascending order along z. Frame::slice marks the first slice of a volume. Each plane
/// of the slices is a separate volume. The session does not filter planes whose sigma is 0.
///
/// Results are reproducible to the byte, and do not depend on the number of threads. A part of a
/// volume gives the same results as the complete volume if the session also receives margin(params)
/// slices around the part. Slices must then state their positions.
///
/// A slice can have a mask (Frame::mask). The session then filters the voxels inside the mask, and
/// omits most of the work for all other voxels.
///
/// Slices may be in host memory, or in device memory if the backend is a GPU. Memory use does not
/// depend on the number of slices.
///
/// On the CPU, the result of a slice is ready after margin(params).after further slices. On a GPU,
/// the result is ready a few slices later.
///
/// If an axis is shorter than a cube, the session extends the axis by its mirror image.
/// @throws InvalidArgument     if a parameter is outside its range (params.h)
/// @throws DeviceUnavailable   if this build or machine lacks the backend or device
/// @throws OutOfDeviceMemory   if the device's memory is too small for the session
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Returns the approximate number of bytes of host memory that a session uses for slices.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind);

}  // namespace lull::bm4d
