#include "noise/depth/even_depth.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "noise/depth/fill_holes.h"

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

class EvenDepth final : public Denoiser {
 public:
  EvenDepth(const DepthScale& scale, const FrameFormat& format, std::unique_ptr<Denoiser> filter)
      : scale_(scale),
        pool_(format),
        even_pool_(even_depth_format(format)),
        filter_(std::move(filter)) {}

  int latency() const noexcept override { return filter_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != pool_.format())
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (noisy.on_device)
      throw InvalidArgument(
          "a depth map in the memory of a GPU (depth maps come from the host); decode it on the "
          "CPU");
    inside_.push_back({std::move(noisy), even_pool_.acquire()});
    Inside& map = inside_.back();
    map.even.take_identity(map.noisy);
    map.even.likeness = map.noisy.likeness;
    map.even.aside = map.noisy.aside;
    make_even_depth(scale_, map.noisy, map.even);
    return result(filter_->push(map.even));
  }

  std::optional<Frame> next() override { return result(filter_->next()); }
  std::optional<Frame> drain() override { return result(filter_->drain()); }

 private:
  /// A map whose result is not out yet.
  struct Inside {
    Frame noisy, even;
  };

  std::optional<Frame> result(std::optional<Frame> filtered) {
    if (!filtered) return std::nullopt;
    if (inside_.empty()) throw InternalError("a filter gave back more frames than it got");
    const Inside map = std::move(inside_.front());
    inside_.pop_front();
    Frame clean = pool_.acquire();
    clean.take_identity(map.noisy);
    switch (clean.format.sample) {
      case SampleType::u8:
        bring_back<std::uint8_t>(map, *filtered, clean);
        break;
      case SampleType::u16:
        bring_back<std::uint16_t>(map, *filtered, clean);
        break;
      case SampleType::f32:
        bring_back<float>(map, *filtered, clean);
        break;
    }
    return clean;
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
  FramePool pool_, even_pool_;
  std::unique_ptr<Denoiser> filter_;
  std::deque<Inside> inside_;
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
