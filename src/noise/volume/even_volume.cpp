#include "noise/volume/even_volume.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "core/plane.h"
#include "core/samples.h"
#include "noise/even_session.h"
#include "noise/volume/even_samples.h"

namespace lull {
namespace {

/// What is known of a slice: its place z.
class EvenVolume final : public EvenSession<int> {
 public:
  EvenVolume(const VolumeNoise& noise, const FrameFormat& format, std::unique_ptr<Denoiser> filter)
      : EvenSession(format, even_format(format), std::move(filter)),
        noise_(noise),
        level_(format.width, format.height),
        samples_(format.width, format.height) {
    for (int y = 0; y < format.height && !noise.map; ++y)
      std::fill_n(level_.view().row(y), format.width, noise.sigma);
  }

  std::optional<Frame> drain() override {
    std::optional<Frame> rest = EvenSession::drain();
    if (!rest) counted_ = 0;
    return rest;
  }

 private:
  void make_even(Inside& slice) override {
    slice.known = slice.noisy.slice >= 0 ? slice.noisy.slice : counted_;
    counted_ = slice.known + 1;
    find_level(slice.known);
    make_even(slice.noisy, slice.even);
    if (!slice.noisy.guide) return;
    Frame guide = even_frame();
    make_even(*slice.noisy.guide, guide);
    slice.even.guide = std::make_shared<const Frame>(std::move(guide));
  }

  void bring_back(const Inside& slice, const Frame& filtered, Frame& clean) override {
    find_level(slice.known);
    const PlaneView<float> back = samples_.view();
    const PlaneView<const float> even = filtered.plane<float>(0);
    const EvenSamples samples(noise_, rician_.inverse());
    for (int y = 0; y < even.height; ++y) {
      const float *from = even.row(y), *level = level_.view().row(y);
      float* to = back.row(y);
      for (int x = 0; x < even.width; ++x) to[x] = samples.brought_back(from[x], level[x], root);
    }
    store_plane(back, clean, 0);
    keep_untouched(slice, even, clean);
  }

  void find_level(int z) {
    if (noise_.map && std::exchange(level_of_, z) != z) noise_.map->slice(z, level_.view());
  }

  /// Of the slice whose levels were found.
  void make_even(const Frame& frame, Frame& made) {
    load_plane(frame, 0, samples_.view());
    const PlaneView<float> even = made.plane<float>(0);
    const EvenSamples samples(noise_, rician_.inverse());
    for (int y = 0; y < even.height; ++y) {
      const float *from = samples_.view().row(y), *level = level_.view().row(y);
      float* to = even.row(y);
      for (int x = 0; x < even.width; ++x) to[x] = samples.made_even(from[x], level[x], root);
    }
  }

  /// What the filter did not change comes out as it came, whatever forth and back makes of it.
  static void keep_untouched(const Inside& slice, PlaneView<const float> filtered,
                             const Frame& clean) {
    const int bytes = clean.format.bytes_per_sample();
    const PlaneView<const float> even = slice.even.plane<float>(0);
    for (int y = 0; y < even.height; ++y)
      for (int x = 0; x < even.width; ++x)
        if (std::bit_cast<std::uint32_t>(even(x, y)) ==
            std::bit_cast<std::uint32_t>(filtered(x, y)))
          std::copy_n(slice.noisy.planes[0].row(y) + x * bytes, bytes,
                      clean.planes[0].row(y) + x * bytes);
  }

  static float root(float v) { return std::sqrt(v); }

  VolumeNoise noise_;
  RicianStabiliser rician_{rician_doubt};
  Plane<float> level_;  // of the slice at hand
  int level_of_ = -1;
  Plane<float> samples_;
  int counted_ = 0;
};

}  // namespace

FrameFormat even_format(const FrameFormat& format) {
  FrameFormat even = format;
  even.sample = SampleType::f32;
  even.bits = 32;
  even.white = 255;
  return even;
}

void validate_even(const VolumeNoise& noise, const FrameFormat& format) {
  validate(noise);
  if (format.planes() != 1)
    throw InvalidArgument(
        "frames of several planes (noise that is Rician or varies in space is told of grey ones); "
        "filter them as Gaussian noise");
}

std::unique_ptr<Denoiser> made_even(const VolumeNoise& noise, const FrameFormat& format,
                                    std::unique_ptr<Denoiser> filter) {
  validate_even(noise, format);
  return std::make_unique<EvenVolume>(noise, format, std::move(filter));
}

}  // namespace lull
