#pragma once
// Opens sessions of non-local means for pictures, with or without temporal filtering, and for
// volumes. The frames of a session for a volume are its slices.

#include <memory>

#include "core/denoiser.h"
#include "core/repeats.h"
#include "nlm/params.h"

namespace lull::nlm {

using lull::Backend;
using lull::BackendKind;

/// Opens a session for frames, or slices, of one format. The results are bit-identical for any
/// number of threads. Parts of a clip or volume give the same results as the whole. The session
/// must also receive margin(params) frames around the part.

/// Weights of colour pictures: in RGB, all channels have the same weights, which depend on the
/// distances of all channels. If YUV planes have equal sizes, all planes have the weights of luma.

/// Subsampled chroma: both chroma planes have the same weights, which depend on the distances of
/// both planes. In volumes, the session filters each plane separately.
/// @throws InvalidArgument  a parameter is out of range
/// @throws DeviceUnavailable, OutOfDeviceMemory
[[nodiscard]] std::unique_ptr<Denoiser> open(const Params& params, const FrameFormat& format,
                                             const Backend& backend);

/// Opens a detector of repeated frames. The detector gives the same results as a session with the
/// same parameters. Returns null for volumes. A caller that distributes parts of a clip to several
/// sessions stores the results of the detector in Frame::repeat_state.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params,
                                                               const FrameFormat& format);

/// Returns the approximate number of bytes of the frames that a session stores in host memory.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format, BackendKind kind);

}  // namespace lull::nlm
