#pragma once
// Makes a session for raw photographs from the options. The first photograph determines the sensor,
// the noise and the filters.

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

/// @throws InvalidArgument  an option does not apply to raw photographs
void check_raw(const DenoiseOptions& options);

/// Properties of the photographs of a run. lull determines them before it filters the first
/// photograph.
struct RawPlan {
  raw::RawParams params;
  raw::ColourNoise noise;
  io::VideoInfo info;
  std::string noise_line;  // message for the user
};

/// Determines the sensor and its noise. The noise comes from the file or, if the file does not
/// state it, from an estimate.
/// @throws BadData  lull cannot estimate the noise
[[nodiscard]] RawPlan plan_raw(const DenoiseOptions& options, const io::RawPicture& first,
                               std::size_t files);

/// Opens the session for raw photographs. `kept` is the index, in the source, of the frame that
/// --keep selects.
[[nodiscard]] std::unique_ptr<Denoiser> open_raw_session(
    const DenoiseOptions& options, const RawPlan& plan, const FrameFormat& mosaic,
    std::int64_t kept, std::vector<bm3d::Backend>& backends, const Notify& notify);

/// Returns the temporal radius of the filter in frames.
[[nodiscard]] int raw_margin(const DenoiseOptions& options, const io::VideoInfo& info);

/// Returns the black levels and the white level of the results.
[[nodiscard]] io::DngLevels levels_of_results(const raw::RawParams& params);

/// Estimates the remaining noise of a result: gain and offset for R, G and B, in the order of a DNG
/// noise profile. The estimate never exceeds the noise of the input.
[[nodiscard]] std::vector<double> remaining_noise(const RawPlan& plan, const Frame& result);

}  // namespace lull::tools
