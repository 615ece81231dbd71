#pragma once
// What denoises the frames of a run: one of the methods, with its parameters.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "bm3d/bm3d.h"
#include "bm4d/bm4d.h"
#include "core/repeats.h"
#include "io/media.h"
#include "noise/volume/volume_noise.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct Method {
  bm3d::Params pictures;
  std::optional<bm4d::Params> volumes;  // instead of pictures
  /// Of stacks whose noise is Rician, or varies: samples are made even before the filter.
  std::optional<VolumeNoise> uneven;
  std::int64_t frames = 0;  // that are expected; 0: any number

  Method() = default;
  Method(bm3d::Params params) : pictures(std::move(params)) {}
  explicit Method(const bm4d::Params& params) : volumes(params) {}
  /// For what opens sessions of BM3D alone.
  operator const bm3d::Params&() const { return pictures; }

  const NoiseModel& noise() const { return volumes ? volumes->noise : pictures.noise; }
};

/// For this noise, by the options and by what the input is. @throws InvalidArgument  they do not
/// fit each other
[[nodiscard]] Method choose_method(const DenoiseOptions& options, const NoiseModel& noise,
                                   const io::VideoInfo& input);

/// How many frames around one its result depends on.
[[nodiscard]] Margin margin_of(const Method& method);
/// A session on one device, which is named as for BM3D.
[[nodiscard]] std::unique_ptr<Denoiser> open_method(const Method& method, const FrameFormat& format,
                                                    const bm3d::Backend& backend);
/// Null where frames that repeat others are none of the method's business.
[[nodiscard]] std::unique_ptr<RepeatFinder> open_repeat_finder(const Method& method,
                                                               const FrameFormat& format);

}  // namespace lull::tools
