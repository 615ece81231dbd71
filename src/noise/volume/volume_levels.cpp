#include "noise/volume/volume_levels.h"

#include <cstddef>
#include <utility>

#include "core/error.h"
#include "core/plane.h"
#include "core/samples.h"
#include "noise/volume/vst_volume.h"
#include "noise/vst_session.h"

namespace lull {
namespace {

/// A session for the volumes of a series. The base class stores the scale factor of each slice as
/// InverseData. 0: the slice has no noise.
class VolumeLevelsSession final : public VstSession<float> {
 public:
  VolumeLevelsSession(const VolumeLevels& levels, const FrameFormat& format,
                      std::unique_ptr<Denoiser> filter)
      : VstSession(format, stabilised_format(format), std::move(filter)),
        levels_(levels),
        common_(levels.common_level()),
        samples_(format.width, format.height) {}

 private:
  void stabilise(PendingFrame& slice) override {
    slice.inverse_data = factor_of(slice.noisy);
    scale(slice.noisy, slice.inverse_data, slice.stabilised);
    if (!slice.noisy.guide) return;
    Frame guide = acquire_stabilised();
    scale(*slice.noisy.guide, slice.inverse_data, guide);
    slice.stabilised.guide = std::make_shared<const Frame>(std::move(guide));
  }

  void invert(const PendingFrame& slice, const Frame& filtered, Frame& clean) override {
    if (slice.inverse_data == 0) return clean.take_samples(slice.noisy);
    const PlaneView<const float> from = filtered.plane<float>(0);
    multiply(from, 1 / slice.inverse_data, samples_.view());
    store_plane(samples_.view(), clean, 0);
    restore_unfiltered(slice, from, clean);
  }

  float factor_of(const Frame& slice) const {
    const auto volume = static_cast<std::size_t>(slice.pts / levels_.slices);
    if (slice.pts < 0 || volume >= levels_.levels.size())
      throw InternalError("a frame that is not a slice of the series");
    return levels_.levels[volume] > 0 ? common_ / levels_.levels[volume] : 0;
  }

  void scale(const Frame& frame, float factor, const Frame& scaled) {
    load_plane(frame, 0, samples_.view());
    multiply(samples_.view(), factor > 0 ? factor : 1, scaled.plane<float>(0));
  }

  void multiply(PlaneView<const float> from, float factor, PlaneView<float> to) const {
    for (int y = 0; y < from.height; ++y)
      for (int x = 0; x < from.width; ++x)
        to(x, y) = levels_.zero + (from(x, y) - levels_.zero) * factor;
  }

  VolumeLevels levels_;
  float common_;
  Plane<float> samples_;
};

}  // namespace

float VolumeLevels::common_level() const {
  float lowest = 0;
  for (const float level : levels)
    if (level > 0 && (lowest == 0 || level < lowest)) lowest = level;
  return lowest;
}

std::unique_ptr<Denoiser> with_volume_levels(const VolumeLevels& levels, const FrameFormat& format,
                                             std::unique_ptr<Denoiser> filter) {
  if (format.planes() != 1)
    throw InvalidArgument(
        "frames of several planes (only grey frames can have levels by volume); filter them with "
        "one level");
  return std::make_unique<VolumeLevelsSession>(levels, format, std::move(filter));
}

}  // namespace lull
