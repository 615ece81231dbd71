#include <algorithm>
#include <cmath>

#include "cuda/check.h"
#include "nlm/cuda/filters.h"
#include "nlm/plans.h"
#include "nlm/weights.h"

namespace lull::nlm::cuda {

using lull::cuda::check;
using lull::cuda::DeviceBuffer;

namespace {

bool are_cubes(const VolumePlan& plan) {
  return plan.is_self_guided && plan.params.block == 1 && plan.params.patch_radius == 1;
}

/// Returns the plan of the kernel for cubes, valid only if are_cubes() is true.
CubesPlan plan_cubes(const VolumePlan& plan) {
  const Curve curve(plan.params);
  const float scale = curve.guide_scale * std::sqrt(plan.guide_weight);
  return {.space = {plan.width, plan.height, plan.params.reach()},
          .curve = curve,
          .search = plan.params.search_radius,
          .halves = std::sqrt(plan.guide_weight) * min_half_sigma <= 1,
          .scale = plan.is_self_guided ? scale : 1.0f};
}

}  // namespace

int VolumeFilter::slices_at_a_time(const VolumePlan& plan) {
  if (!are_cubes(plan) || !plan_cubes(plan).fits()) return 1;
  return std::min(slices_on_gpu(plan.width, plan.height), max_slices);
}

VolumeFilter::VolumeFilter(const VolumePlan& plan, int batch_size, cudaStream_t compute_stream)
    : plan_(plan),
      stream_(compute_stream),
      space_(plan.width, plan.height, plan.params.reach()),
      curve_(plan.params),
      guide_scale_(curve_.guide_scale * std::sqrt(plan.guide_weight)),
      sample_scale_(plan.is_self_guided ? guide_scale_ : 1.0f),
      cubes_(plan_cubes(plan)),
      uses_cubes_(are_cubes(plan) && cubes_.fits()),
      depth_(depth(plan.params, batch_size)),
      tiles_(plan_tiles(plan.params, space_, 1, 1)),
      // Kernels read missing slices, too, but their values do not influence results. The
      // constructor sets the memory to 0, so that these values are defined.
      samples_(zeroed<float>(depth_ * space_.size(), compute_stream)),
      guides_(plan.is_self_guided ? 0 : depth_ * space_.size()) {
  tiles_.scale[0] = sample_scale_;
  if (!uses_cubes_) workspaces_.reserve(tiles_, 2 * plan.params.search_radius + 1);
}

float* VolumeFilter::sample(int z) const { return samples_.get() + z % depth_ * space_.size(); }
float* VolumeFilter::guide(int z) const {
  return plan_.is_self_guided ? sample(z) : guides_.get() + z % depth_ * space_.size();
}

void VolumeFilter::load(int z, const float* samples, const float* guides, cudaStream_t stream) {
  const Border border = plan_.params.border;
  continue_plane(samples, space_, border, sample_scale_, sample(z), stream);
  if (!plan_.is_self_guided) continue_plane(guides, space_, border, guide_scale_, guide(z), stream);
}

void VolumeFilter::run(SliceSpan wanted, SliceSpan available, float* results) {
  if (!uses_cubes_) {
    for (int z = wanted.first; z < wanted.end; ++z)
      run_tiles(z, available, results + (z - wanted.first) * space_.flat_size());
    return;
  }
  VolumePlanes planes{.count = wanted.size()};
  for (std::size_t k = 0; k < planes.slice.size(); ++k) {
    const int z = wanted.first - plan_.params.search_radius - 1 + static_cast<int>(k);
    planes.slice[k] = sample(available.first +
                             continued(z - available.first, available.size(), plan_.params.border));
    if (available.holds(z)) planes.available |= std::uint64_t{1} << k;
  }
  estimate_cubes(cubes_, planes, results, stream_);
}

void VolumeFilter::run_tiles(int z, SliceSpan available, float* result) {
  const int radius = plan_.params.patch_radius, search = plan_.params.search_radius;
  const auto source_of = [&](int at) {
    TileSource source{.samples = {sample(at)}};
    for (int k = -radius; k <= radius; ++k)
      source.guides[k + radius] =
          guide(available.first +
                continued(at + k - available.first, available.size(), plan_.params.border));
    return source;
  };
  TileSources sources{.wanted = source_of(z)};
  for (int at = z - search; at <= z + search; ++at)
    if (available.holds(at)) sources.all[sources.count++] = source_of(at);
  workspaces_.reserve(tiles_, sources.count);
  estimate_tiles(tiles_, sources, workspaces_.get(), workspaces_.count(), {result}, stream_);
}

}  // namespace lull::nlm::cuda
