#include "noise/depth/vst_depth.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "noise/fill_holes.h"
#include "noise/vst_session.h"

namespace lull {
namespace {

template <class T>
void stabilise_plane(const DepthScale& scale, PlaneView<const T> depth,
                     PlaneView<float> stabilised) {
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x)
      stabilised(x, y) =
          static_cast<float>(scale.forward(scale.samples.depth(static_cast<double>(depth(x, y)))));
}

/// Converts a depth to a sample. If this sample would mark a hole, the function returns an adjacent
/// value instead.
template <class T>
T sample_of(const DepthScale& scale, const FrameFormat& format, double depth) {
  const double v = (depth - scale.samples.zero) / scale.samples.unit;
  if constexpr (std::is_floating_point_v<T>) {
    const T sample = static_cast<T>(v);
    if (!scale.samples.is_hole(static_cast<double>(sample))) return sample;
    return std::nextafter(sample, std::numeric_limits<T>::max());
  } else {
    const double full_scale = format.full_scale();
    const T sample = static_cast<T>(std::clamp(v + 0.5, 0.0, full_scale));
    if (!scale.samples.is_hole(static_cast<double>(sample))) return sample;
    return static_cast<T>(sample < full_scale ? sample + 1 : sample - 1);
  }
}

struct NoInverseData {};

class DepthVstSession final : public VstSession<NoInverseData> {
 public:
  DepthVstSession(const DepthScale& scale, const FrameFormat& format,
                  std::unique_ptr<Denoiser> filter)
      : VstSession(format, stabilised_depth_format(format), std::move(filter)), scale_(scale) {}

 private:
  void stabilise(PendingFrame& map) override { stabilise_depth(scale_, map.noisy, map.stabilised); }

  void invert(const PendingFrame& map, const Frame& filtered, Frame& clean) override {
    switch (clean.format.sample) {
      case SampleType::u8:
        return invert<std::uint8_t>(map, filtered, clean);
      case SampleType::u16:
        return invert<std::uint16_t>(map, filtered, clean);
      case SampleType::f32:
        return invert<float>(map, filtered, clean);
    }
  }

  template <class T>
  void invert(const PendingFrame& map, const Frame& filtered, const Frame& clean) const {
    const PlaneView<const float> stabilised = map.stabilised.plane<const float>(0);
    const PlaneView<const float> result = filtered.plane<const float>(0);
    const PlaneView<const T> from = map.noisy.plane<const T>(0);
    const PlaneView<T> to = clean.plane<T>(0);
    const Holes* const holes = map.stabilised.holes.get();
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) {
        const bool kept = (holes != nullptr && holes->at(x, y)) ||
                          std::bit_cast<std::uint32_t>(stabilised(x, y)) ==
                              std::bit_cast<std::uint32_t>(result(x, y));
        to(x, y) = kept ? from(x, y)
                        : sample_of<T>(scale_, clean.format,
                                       scale_.inverse(static_cast<double>(result(x, y))));
      }
  }

  DepthScale scale_;
};

}  // namespace

FrameFormat stabilised_depth_format(const FrameFormat& format) {
  FrameFormat stabilised = format;
  stabilised.sample = SampleType::f32;
  stabilised.bits = 32;
  stabilised.white = 255;
  return stabilised;
}

void stabilise_depth(const DepthScale& scale, const Frame& depth, Frame& stabilised) {
  const PlaneView<float> to = stabilised.plane<float>(0);
  switch (depth.format.sample) {
    case SampleType::u8:
      stabilise_plane(scale, depth.plane<const std::uint8_t>(0), to);
      break;
    case SampleType::u16:
      stabilise_plane(scale, depth.plane<const std::uint16_t>(0), to);
      break;
    case SampleType::f32:
      stabilise_plane(scale, depth.plane<const float>(0), to);
      break;
  }
  auto holes = std::make_shared<const Holes>(to.width, to.height, scale.samples.holes_of(depth));
  stabilised.holes.reset();
  if (holes->count() == 0) return;
  fill_holes(*holes, to);
  stabilised.holes = std::move(holes);
}

std::unique_ptr<Denoiser> with_vst(const DepthScale& scale, const FrameFormat& format,
                                   std::unique_ptr<Denoiser> filter) {
  check_holes(format);
  return std::make_unique<DepthVstSession>(scale, format, std::move(filter));
}

}  // namespace lull
