#include "series/complex/magnitude_denoiser.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"

namespace lull::series {
namespace {

class MagnitudeDenoiser final : public Denoiser {
 public:
  MagnitudeDenoiser(std::unique_ptr<Denoiser> parts, const FrameFormat& format, std::int64_t slices,
                    float zero, PartsObserver observer)
      : parts_(std::move(parts)),
        pool_(format),
        slices_(slices),
        zero_(zero / to_unit_255(format)),
        observer_(std::move(observer)) {}

  int latency() const noexcept override { return 0; }

  std::optional<Frame> push(Frame noisy) override {
    const Frame real = part_of_slice(noisy, 0), imaginary = part_of_slice(noisy, slices_);
    if (observer_) observer_(noisy, real, imaginary);
    Frame result = pool_.acquire();
    result.copy_info(noisy);
    const PlaneView<const float> from = noisy.plane<float>(0), a = real.plane<float>(0),
                                 b = imaginary.plane<float>(0);
    const PlaneView<float> to = result.plane<float>(0);
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x) {
        const bool kept = std::isnan(from(x, y)) || (a(x, y) == 0 && b(x, y) == 0);
        to(x, y) = kept ? from(x, y) : zero_ + std::hypot(a(x, y), b(x, y));
      }
    return result;
  }

  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  /// Returns the filtered slice of the real or imaginary parts, with 0 for samples without noise.
  Frame part_of_slice(const Frame& noisy, std::int64_t offset) {
    Frame slice = pool_.acquire();
    slice.copy_info(noisy);
    slice.pts += offset;
    const PlaneView<float> samples = slice.plane<float>(0);
    for (int y = 0; y < samples.height; ++y) std::fill_n(samples.row(y), samples.width, 0.0f);
    std::optional<Frame> result = parts_->push(std::move(slice));
    if (!result) throw InternalError("a slice of a series without a result");
    return *std::move(result);
  }

  std::unique_ptr<Denoiser> parts_;
  FramePool pool_;
  std::int64_t slices_;
  float zero_;  // in the unit of the samples
  PartsObserver observer_;
};

}  // namespace

std::unique_ptr<Denoiser> open_magnitudes(std::unique_ptr<Denoiser> parts,
                                          const FrameFormat& format, std::int64_t slices,
                                          float zero, PartsObserver observer) {
  return std::make_unique<MagnitudeDenoiser>(std::move(parts), format, slices, zero,
                                             std::move(observer));
}

}  // namespace lull::series
