#pragma once
// From options and the first raw photograph to a session: the sensor, its noise, the filters.

#include <memory>
#include <string>
#include <vector>

#include "bm3d/bm3d.h"
#include "core/denoiser.h"
#include "io/raw/raw_picture.h"
#include "io/raw/raw_stream.h"
#include "raw/raw_session.h"
#include "tools/options/denoise_options.h"
#include "tools/sessions/open_denoiser.h"

namespace lull::tools {

/// Checks that all given options apply to raw photographs. @throws InvalidArgument
void check_raw(const DenoiseOptions& options);

/// What is known about the photographs of a run before they are filtered.
struct RawPlan {
  raw::RawParams params;
  raw::ColourNoise noise;
  io::VideoInfo info;
  std::string noise_line;  // message for the user
};

/// Determines the sensor and its noise: from the file, or else from the samples.
/// @throws BadData  the noise cannot be estimated
[[nodiscard]] RawPlan plan_raw(const DenoiseOptions& options, const io::RawPicture& first,
                               std::size_t files);

/// Opens the session. `kept`: index of the frame of --keep among the frames that are read.
[[nodiscard]] std::unique_ptr<Denoiser> open_raw_session(
    const DenoiseOptions& options, const RawPlan& plan, const FrameFormat& mosaic,
    std::int64_t kept, std::vector<bm3d::Backend>& backends, const Notify& notify);

/// Returns how many frames before and after a frame affect its result.
[[nodiscard]] int raw_margin(const DenoiseOptions& options, const io::VideoInfo& info);

/// Returns the levels of the results' samples.
[[nodiscard]] io::DngLevels levels_of_results(const raw::RawParams& params);

/// Estimates the noise that a result still has, as pairs for a noise profile (R, G, B). It is at
/// most the noise of the input.
[[nodiscard]] std::vector<double> remaining_noise(const RawPlan& plan, const Frame& result);

}  // namespace lull::tools
