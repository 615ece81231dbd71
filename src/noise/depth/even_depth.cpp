#include "noise/depth/even_depth.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "noise/depth/fill_holes.h"
#include "noise/even_session.h"

namespace lull {
namespace {

template <class T>
void make_even_plane(const DepthScale& scale, PlaneView<const T> depth, PlaneView<float> even) {
  for (int y = 0; y < depth.height; ++y)
    for (int x = 0; x < depth.width; ++x)
      even(x, y) =
          static_cast<float>(scale.forward(scale.samples.depth(static_cast<double>(depth(x, y)))));
}

/// A depth as a sample that is no hole.
template <class T>
T sample_of(const DepthScale& scale, const FrameFormat& format, double depth) {
  const double v = (depth - scale.samples.zero) / scale.samples.unit;
  if constexpr (std::is_floating_point_v<T>) {
    const T sample = static_cast<T>(v);
    if (!scale.samples.is_hole(static_cast<double>(sample))) return sample;
    return std::nextafter(sample, std::numeric_limits<T>::max());
  } else {
    const double most = format.full_scale();
    const T sample = static_cast<T>(std::clamp(v + 0.5, 0.0, most));
    if (!scale.samples.is_hole(static_cast<double>(sample))) return sample;
    return static_cast<T>(sample < most ? sample + 1 : sample - 1);
  }
}

struct Nothing {};

class EvenDepth final : public EvenSession<Nothing> {
 public:
  EvenDepth(const DepthScale& scale, const FrameFormat& format, std::unique_ptr<Denoiser> filter)
      : EvenSession(format, even_depth_format(format), std::move(filter)), scale_(scale) {}

 private:
  void make_even(Inside& map) override { make_even_depth(scale_, map.noisy, map.even); }

  void bring_back(const Inside& map, const Frame& filtered, Frame& clean) override {
    switch (clean.format.sample) {
      case SampleType::u8:
        return bring_back<std::uint8_t>(map, filtered, clean);
      case SampleType::u16:
        return bring_back<std::uint16_t>(map, filtered, clean);
      case SampleType::f32:
        return bring_back<float>(map, filtered, clean);
    }
  }

  template <class T>
  void bring_back(const Inside& map, const Frame& filtered, const Frame& clean) const {
    const PlaneView<const float> even = map.even.plane<const float>(0);
    const PlaneView<const float> result = filtered.plane<const float>(0);
    const PlaneView<const T> from = map.noisy.plane<const T>(0);
    const PlaneView<T> to = clean.plane<T>(0);
    const Holes* const holes = map.even.holes.get();
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) {
        const bool kept =
            (holes != nullptr && holes->at(x, y)) ||
            std::bit_cast<std::uint32_t>(even(x, y)) == std::bit_cast<std::uint32_t>(result(x, y));
        to(x, y) = kept ? from(x, y)
                        : sample_of<T>(scale_, clean.format,
                                       scale_.inverse(static_cast<double>(result(x, y))));
      }
  }

  DepthScale scale_;
};

}  // namespace

FrameFormat even_depth_format(const FrameFormat& format) {
  FrameFormat even = format;
  even.sample = SampleType::f32;
  even.bits = 32;
  even.white = 255;
  return even;
}

void make_even_depth(const DepthScale& scale, const Frame& depth, Frame& even) {
  const PlaneView<float> to = even.plane<float>(0);
  switch (depth.format.sample) {
    case SampleType::u8:
      make_even_plane(scale, depth.plane<const std::uint8_t>(0), to);
      break;
    case SampleType::u16:
      make_even_plane(scale, depth.plane<const std::uint16_t>(0), to);
      break;
    case SampleType::f32:
      make_even_plane(scale, depth.plane<const float>(0), to);
      break;
  }
  auto holes = std::make_shared<const Holes>(to.width, to.height, scale.samples.holes_of(depth));
  even.holes.reset();
  if (holes->count() == 0) return;
  fill_holes(*holes, to);
  even.holes = std::move(holes);
}

std::unique_ptr<Denoiser> made_even(const DepthScale& scale, const FrameFormat& format,
                                    std::unique_ptr<Denoiser> filter) {
  check_holes(format);
  return std::make_unique<EvenDepth>(scale, format, std::move(filter));
}

}  // namespace lull
