#pragma once
// The sessions of non-local means: what comes when, under which identity, and which planes share
// their weights. The work on samples is the engines' (engine.h).

#include <functional>
#include <memory>

#include "core/denoiser.h"
#include "nlm/engine.h"

namespace lull::nlm {

using FrameEngineFactory = std::function<std::unique_ptr<FrameEngine>(const FramePlan&)>;
using VolumeEngineFactory = std::function<std::unique_ptr<VolumeEngine>(const VolumePlan&)>;

/// `params` and `format` are valid.
[[nodiscard]] std::unique_ptr<Denoiser> open_frames(const Params& params, const FrameFormat& format,
                                                    const FrameEngineFactory& make_engine);
[[nodiscard]] std::unique_ptr<Denoiser> open_slices(const Params& params, const FrameFormat& format,
                                                    const VolumeEngineFactory& make_engine);

/// By how much noise that leans is underestimated (Stabiliser).
[[nodiscard]] double lean_of(const Params& params);

/// What an engine is told for patches that are compared in a frame of their own: it has hardly any
/// noise, so that nothing is taken off distances.
[[nodiscard]] Params guided(const Params& params);

}  // namespace lull::nlm
