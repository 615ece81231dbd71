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
#include "nlm/features/features.h"
#include "nlm/nlm.h"
#include "noise/depth/depth_scale.h"
#include "noise/volume/volume_noise.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

struct Method {
  bm3d::Params pictures;
  std::optional<bm4d::Params> volumes;  // instead of pictures
  std::optional<nlm::Params> means;     // instead of either, of pictures or volumes
  /// Of stacks whose noise is Rician, or varies: samples are made even before the filter.
  std::optional<VolumeNoise> volume_noise;
  std::optional<DepthScale> depth;  // of depth maps, which are made even in the same way
  /// Of renders, whose frames bring features: what else is known of their noise.
  std::optional<RenderNoise> render;
  std::int64_t frames = 0;  // that are expected; 0: any number
  std::int64_t memory = 0;  // bytes that the job may take on the host; 0: half of what is free

  Method() = default;
  Method(bm3d::Params params) : pictures(std::move(params)) {}
  explicit Method(const bm4d::Params& params) : volumes(params) {}
  explicit Method(const nlm::Params& params) : means(params) {}
  /// For what opens sessions of BM3D alone.
  operator const bm3d::Params&() const { return pictures; }

  const NoiseModel& noise() const {
    return means ? means->noise : volumes ? volumes->noise : pictures.noise;
  }
  /// Whether the frames are slices of volumes.
  bool is_volume() const { return means ? means->is_volume() : volumes.has_value(); }
  /// Whether other frames help in time.
  bool is_temporal() const {
    return means ? means->temporal > 0 : !volumes && pictures.temporal > 0;
  }
  /// For frames that are far from each other.
  void disable_temporal() {
    pictures.temporal = 0;
    if (means) means->temporal = 0;
  }
  /// Whether BM3D's batches bound what a device needs.
  bool has_batches() const { return !means && !volumes; }
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
