#include "series/filter/middle_slices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/error.h"
#include "core/samples.h"
#include "series/noise_estimator.h"
#include "series/samples/voxels.h"

namespace lull::series {
namespace {

constexpr std::size_t voxels_of_volume = 200'000, max_samples = 20'000'000;
/// The estimate needs at least this number of slices and of volumes.
constexpr int min_slices = 8, min_volumes = 3;

}  // namespace

MiddleSlices::MiddleSlices(const Shape& series) : all_slices_(series.slices), shape_(series) {
  const std::size_t slice = std::max<std::size_t>(series.slice_voxels(), 1);
  const std::size_t most =
      std::min(voxels_of_volume / slice, max_samples / slice / std::max(series.volumes, 1));
  shape_.slices = std::min(std::max(static_cast<int>(most), min_slices), series.slices);
  if (shape_.samples() > max_samples || series.volumes < min_volumes) shape_.slices = 0;
  first_ = (series.slices - shape_.slices) / 2;
  samples_.resize(shape_.samples());
}

void MiddleSlices::add(const Frame& slice) {
  if (slice.pts < 0 || slice.pts >= static_cast<std::int64_t>(all_slices_) * shape_.volumes)
    throw InternalError("a frame that is not a slice of the series");
  const std::int64_t z = slice.pts % all_slices_ - first_;
  if (z < 0 || z >= shape_.slices) return;
  const std::int64_t number = slice.pts / all_slices_ * shape_.slices + z;
  load_plane(slice, 0,
             {samples_.data() + static_cast<std::size_t>(number) * shape_.slice_voxels(),
              shape_.width, shape_.height, shape_.width});
}

SeriesNoise MiddleSlices::with_cube_levels(const SeriesNoise& noise) {
  const std::vector<int> volumes = noisy_volumes(noise);
  if (shape_.slices == 0 || static_cast<int>(volumes.size()) < min_volumes) return noise;
  const Samples samples{.shape = shape_, .data = samples_.data()};
  SeriesNoise of_slices = noise;
  of_slices.map.reset();  // the map belongs to the complete volume
  SeriesNoise result = noise_by_cubes(samples, of_slices, {}, classify_voxels(samples, volumes));
  result.map = noise.map;
  return result;
}

}  // namespace lull::series
