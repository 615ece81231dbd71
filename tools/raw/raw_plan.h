#pragma once
// Makes a session for raw photographs from the options and the first photograph, which determine
// the sensor, its noise and the filters.

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

/// Checks that all given options apply to raw photographs.
/// @throws InvalidArgument  an option does not apply
void check_raw(const DenoiseOptions& options);

/// Properties of the photographs of a run, determined before the photographs are filtered.
struct RawPlan {
  raw::RawParams params;
  raw::ColourNoise noise;
  io::VideoInfo info;
  std::string noise_line;  // message for the user
};

/// Determines the sensor and its noise. The file states the noise, or the function estimates the
/// noise from the samples.
/// @throws BadData  the noise cannot be estimated
[[nodiscard]] RawPlan plan_raw(const DenoiseOptions& options, const io::RawPicture& first,
                               std::size_t files);

/// Opens the session. `kept` is the index of the frame of --keep among the frames that are read.
[[nodiscard]] std::unique_ptr<Denoiser> open_raw_session(
    const DenoiseOptions& options, const RawPlan& plan, const FrameFormat& mosaic,
    std::int64_t kept, std::vector<bm3d::Backend>& backends, const Notify& notify);

/// Returns the temporal radius of the filter: the number of frames before and after a frame on
/// which its result depends.
[[nodiscard]] int raw_margin(const DenoiseOptions& options, const io::VideoInfo& info);

/// Returns the black levels and the white level of the results.
[[nodiscard]] io::DngLevels levels_of_results(const raw::RawParams& params);

/// Estimates the noise that remains in a result. Returns gain and offset for R, G and B, in the
/// order of a DNG noise profile. No value is higher than that of the input.
[[nodiscard]] std::vector<double> remaining_noise(const RawPlan& plan, const Frame& result);

}  // namespace lull::tools
