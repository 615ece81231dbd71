#include "noise/volume/even_volume.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "core/samples.h"
#include "noise/volume/rician.h"

namespace lull {
namespace {

class EvenVolume final : public Denoiser {
 public:
  EvenVolume(const VolumeNoise& noise, const FrameFormat& format, std::unique_ptr<Denoiser> filter)
      : noise_(noise),
        pool_(format),
        even_pool_(even_format(format)),
        level_(format.width, format.height),
        samples_(format.width, format.height),
        filter_(std::move(filter)) {
    for (int y = 0; y < format.height && !noise.map; ++y)
      std::fill_n(level_.view().row(y), format.width, noise.sigma);
  }

  int latency() const noexcept override { return filter_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != pool_.format())
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (noisy.on_device)
      throw InvalidArgument(
          "a slice in the memory of a GPU (volumes come from the host); decode it on the CPU");
    const int z = noisy.slice >= 0 ? noisy.slice : counted_;
    counted_ = z + 1;
    inside_.push_back({std::move(noisy), even_pool_.acquire(), z});
    Inside& slice = inside_.back();
    slice.even.take_identity(slice.noisy);
    slice.even.likeness = slice.noisy.likeness;
    slice.even.aside = slice.noisy.aside;
    find_level(slice.z);
    make_even(slice.noisy, slice.even);
    if (slice.noisy.guide) {
      Frame guide = even_pool_.acquire();
      make_even(*slice.noisy.guide, guide);
      slice.even.guide = std::make_shared<const Frame>(std::move(guide));
    }
    return result(filter_->push(slice.even));
  }

  std::optional<Frame> next() override { return result(filter_->next()); }

  std::optional<Frame> drain() override {
    std::optional<Frame> rest = result(filter_->drain());
    if (!rest) counted_ = 0;
    return rest;
  }

 private:
  /// A slice whose result is not out yet.
  struct Inside {
    Frame noisy, even;
    int z;
  };

  void find_level(int z) {
    if (noise_.map && std::exchange(level_of_, z) != z) noise_.map->slice(z, level_.view());
  }

  /// Of the slice whose levels were found.
  void make_even(const Frame& frame, Frame& made) {
    load_plane(frame, 0, samples_.view());
    const PlaneView<float> even = made.plane<float>(0);
    const bool rician = noise_.kind == NoiseKind::rician;
    for (int y = 0; y < even.height; ++y) {
      const float *from = samples_.view().row(y), *level = level_.view().row(y);
      float* to = even.row(y);
      for (int x = 0; x < even.width; ++x)
        to[x] = rician ? noise_.zero + noise_.sigma * RicianStabiliser::forward(
                                                          (from[x] - noise_.zero) / level[x])
                       : from[x] * (noise_.sigma / level[x]);
    }
  }

  std::optional<Frame> result(std::optional<Frame> filtered) {
    if (!filtered) return std::nullopt;
    if (inside_.empty()) throw InternalError("a filter gave back more slices than it got");
    const Inside slice = std::move(inside_.front());
    inside_.pop_front();
    find_level(slice.z);
    const PlaneView<float> back = samples_.view();
    const PlaneView<const float> even = filtered->plane<float>(0);
    const bool rician = noise_.kind == NoiseKind::rician;
    for (int y = 0; y < even.height; ++y) {
      const float *from = even.row(y), *level = level_.view().row(y);
      float* to = back.row(y);
      for (int x = 0; x < even.width; ++x)
        to[x] = rician ? noise_.zero +
                             level[x] * rician_.inverse((from[x] - noise_.zero) / noise_.sigma)
                       : from[x] * (level[x] / noise_.sigma);
    }
    Frame clean = pool_.acquire();
    clean.take_identity(slice.noisy);
    store_plane(back, clean, 0);
    keep_untouched(slice, even, clean);
    return clean;
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

  VolumeNoise noise_;
  RicianStabiliser rician_{0.08};
  FramePool pool_, even_pool_;
  Plane<float> level_;  // of the slice at hand
  int level_of_ = -1;
  Plane<float> samples_;
  std::unique_ptr<Denoiser> filter_;
  std::deque<Inside> inside_;
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

std::unique_ptr<Denoiser> made_even(const VolumeNoise& noise, const FrameFormat& format,
                                    std::unique_ptr<Denoiser> filter) {
  validate(noise);
  if (format.planes() != 1)
    throw InvalidArgument(
        "frames of several planes (noise that is Rician or varies in space is told of grey ones); "
        "filter them as Gaussian noise");
  return std::make_unique<EvenVolume>(noise, format, std::move(filter));
}

}  // namespace lull
