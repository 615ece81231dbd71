#include "series/series_denoiser.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"

namespace lull::series {
namespace {

class SeriesDenoiser final : public Denoiser {
 public:
  SeriesDenoiser(std::shared_ptr<const FilteredSeries> series, const FrameFormat& format)
      : series_(std::move(series)),
        shape_(series_->components.shape),
        stabiliser_(series_->fit.noise, shape_),
        pool_(format),
        places_(series_->volumes, -1) {
    const std::vector<int>& volumes = series_->fit.basis.volumes();
    for (std::size_t i = 0; i < volumes.size(); ++i) places_[volumes[i]] = static_cast<int>(i);
  }

  int latency() const noexcept override { return 0; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != pool_.format() || noisy.pts < 0 ||
        noisy.pts >= static_cast<std::int64_t>(shape_.slices) * series_->volumes)
      throw InternalError("a frame that is not a slice of the series");
    const int place = places_[noisy.pts / shape_.slices];
    if (place < 0) return noisy;
    Frame clean = pool_.acquire();
    clean.copy_info(noisy);
    tbb::parallel_for(tbb::blocked_range<int>(0, shape_.height, 8), [&](const auto& rows) {
      std::vector<float> sums(shape_.width);
      for (int y = rows.begin(); y < rows.end(); ++y) compute_row(noisy, place, y, sums, clean);
    });
    return clean;
  }

  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  void compute_row(const Frame& noisy, int place, int y, std::vector<float>& sums,
                   const Frame& clean) const {
    const FilteredSeries& series = *series_;
    const Basis& basis = series.fit.basis;
    const int volume = basis.volumes()[place];
    const std::size_t first = noisy.pts % shape_.slices * shape_.slice_voxels() +
                              static_cast<std::size_t>(y) * shape_.width;
    std::ranges::fill(sums, static_cast<float>(basis.mean(place)));
    for (int k = 0; k < basis.components(); ++k) {
      const auto weight = static_cast<float>(basis.direction(k)[place]);
      const float* component = series.components.volume(k) + first;
      for (int x = 0; x < shape_.width; ++x) sums[x] += weight * component[x];
    }
    const float* from = noisy.plane<float>(0).row(y);
    float* to = clean.plane<float>(0).row(y);
    const float scale = to_unit_255(noisy.format);
    for (int x = 0; x < shape_.width; ++x) {
      const bool kept = series.fit.states[first + x] == VoxelState::constant || std::isnan(from[x]);
      to[x] = kept
                  ? from[x]
                  : std::max(stabiliser_.inverse(volume, first + x, sums[x]), series.least) / scale;
    }
  }

  std::shared_ptr<const FilteredSeries> series_;
  Shape shape_;
  Stabiliser stabiliser_;
  FramePool pool_;
  std::vector<int>
      places_;  // index of each volume among the volumes of the basis; -1: the volume has no noise
};

}  // namespace

std::unique_ptr<Denoiser> open_series(std::shared_ptr<const FilteredSeries> series,
                                      const FrameFormat& format) {
  const Shape& shape = series->components.shape;
  if (format.planes() != 1 || format.sample != SampleType::f32 || format.width != shape.width ||
      format.height != shape.height)
    throw InvalidArgument("slices of another format than the series; open another session");
  return std::make_unique<SeriesDenoiser>(std::move(series), format);
}

}  // namespace lull::series
