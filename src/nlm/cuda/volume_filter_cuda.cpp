#include <algorithm>
#include <cmath>

#include "cuda/check.h"
#include "nlm/cuda/filters.h"
#include "nlm/weights.h"

namespace lull::nlm::cuda {

using lull::cuda::bytes_of;
using lull::cuda::check;
using lull::cuda::DeviceBuffer;

namespace {

bool are_cubes(const VolumePlan& plan) {
  return plan.guides_itself && plan.params.block == 1 && plan.params.patch_radius == 1;
}

/// Of large slices fewer fill a GPU, and its memory.
int slices_together(const VolumePlan& plan) {
  constexpr int large = 1024 * 1024;  // samples
  return plan.width * plan.height > large ? most_slices / 2 : most_slices;
}

}  // namespace

VolumeFilter::VolumeFilter(const VolumePlan& plan, cudaStream_t stream)
    : plan_(plan),
      stream_(stream),
      space_(plan.width, plan.height, plan.params.reach()),
      curve_(plan.params),
      guide_scale_(curve_.guide_scale * std::sqrt(plan.guide_weight)),
      sample_scale_(plan.guides_itself ? guide_scale_ : 1.0f),
      cubes_{.space = space_,
             .curve = curve_,
             .search = plan.params.search_radius,
             .halves = std::sqrt(plan.guide_weight) * least_half_sigma <= 1,
             .scale = sample_scale_},
      takes_cubes_(are_cubes(plan) && cubes_.fits()),
      together_(takes_cubes_ ? slices_together(plan) : 1),
      depth_(together_ + 2 * plan.params.reach_slices()),
      tiles_(plan_tiles(plan.params, space_, 1, 1)),
      samples_(depth_ * space_.size()),
      guides_(plan.guides_itself ? 0 : depth_ * space_.size()),
      raw_(static_cast<std::size_t>(plan.width) * plan.height),
      results_(together_ * raw_.size()) {
  tiles_.scale[0] = sample_scale_;
  // Kernels look at slices that are not there, too, for nobody.
  check(cudaMemsetAsync(samples_.get(), 0, samples_.bytes(), stream));
  if (!takes_cubes_) workspaces_.reserve(tiles_, 2 * plan.params.search_radius + 1);
}

float* VolumeFilter::sample(int z) const { return samples_.get() + z % depth_ * space_.size(); }
float* VolumeFilter::guide(int z) const {
  return plan_.guides_itself ? sample(z) : guides_.get() + z % depth_ * space_.size();
}

void VolumeFilter::load(int z, PlaneView<const float> samples, PlaneView<const float> guides) {
  load_plane(samples, sample_scale_, sample(z));
  if (!plan_.guides_itself) load_plane(guides, guide_scale_, guide(z));
}

void VolumeFilter::load_plane(PlaneView<const float> samples, float scale, float* to) {
  staging_.upload(bytes_of(samples), raw_.get(), plan_.width * sizeof(float), stream_);
  continue_plane(raw_.get(), space_, plan_.params.border, scale, to, stream_);
}

void VolumeFilter::run(SliceSpan wanted, SliceSpan there) {
  if (!takes_cubes_) {
    for (int z = wanted.first; z < wanted.end; ++z)
      run_tiles(z, there, results_.get() + (z - wanted.first) * raw_.size());
    return;
  }
  VolumePlanes planes{.count = wanted.size()};
  for (std::size_t k = 0; k < planes.slice.size(); ++k) {
    const int z = wanted.first - plan_.params.search_radius - 1 + static_cast<int>(k);
    planes.slice[k] =
        sample(there.first + continued(z - there.first, there.size(), plan_.params.border));
    if (there.holds(z)) planes.there |= std::uint64_t{1} << k;
  }
  estimate_cubes(cubes_, planes, results_.get(), stream_);
}

void VolumeFilter::take(int k, PlaneView<float> result) {
  staging_.download(results_.get() + k * raw_.size(), plan_.width * sizeof(float), bytes_of(result),
                    stream_);
}

void VolumeFilter::run_tiles(int z, SliceSpan there, float* result) {
  const int radius = plan_.params.patch_radius, search = plan_.params.search_radius;
  const auto source_of = [&](int at) {
    TileSource source{.samples = {sample(at)}};
    for (int k = -radius; k <= radius; ++k)
      source.guides[k + radius] =
          guide(there.first + continued(at + k - there.first, there.size(), plan_.params.border));
    return source;
  };
  TileSources sources{.wanted = source_of(z)};
  for (int at = z - search; at <= z + search; ++at)
    if (there.holds(at)) sources.all[sources.count++] = source_of(at);
  workspaces_.reserve(tiles_, sources.count);
  estimate_tiles(tiles_, sources, workspaces_.get(), workspaces_.count(), {result}, stream_);
}

}  // namespace lull::nlm::cuda
