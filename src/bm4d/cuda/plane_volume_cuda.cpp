#include <algorithm>
#include <climits>
#include <string>
#include <utility>

#include "bm4d/cuda/plane_volume.h"
#include "core/error.h"

namespace lull::bm4d::cuda {
namespace {

FilterPlan plan_filter(const VolumePlan& plan, Phase phase) {
  const bool first = phase == Phase::first;
  const Params& p = plan.params;
  FilterPlan filter{.wiener = !first, .cube = plan.phase(phase).cube};
  filter.limit = first ? p.lambda * plan.sigma : p.mu2 * plan.sigma * plan.sigma;
  filter.limit_mean = filter.limit * (first ? p.lambda_mean : p.mu2_mean);
  filter.window = kaiser_window(plan.phase(phase).kaiser, filter.cube);
  const AxisMatrix rows = dct_rows(filter.cube);
  for (int k = 0; k < max_cube; ++k)
    for (int i = 0; i < max_cube; ++i) filter.rows[k][i] = static_cast<float>(rows[k][i]);
  return filter;
}

/// Returns the number of members of all groups at one z position. Slices have width x height
/// voxels.
std::size_t members_of_layer(const PhaseParams& p, int width, int height) {
  return static_cast<std::size_t>(reference_count(width, p.step, p.cube)) *
         reference_count(height, p.step, p.cube) * p.group;
}

Margins layout_of(const VolumePlan& plan) {
  return {plan.width, plan.height, std::max(plan.params.hard.window, plan.params.wiener.window),
          2 * max_cube};
}

void require_addressable(const VolumePlan& plan) {
  const Params& p = plan.params;
  lull::require_addressable(layout_of(plan));
  for (int i = 0; i < p.phases; ++i) {
    const PhaseParams& phase = i == 0 ? p.hard : p.wiener;
    if (reference_count(plan.height, phase.step, phase.cube) > max_reference_rows)
      throw InvalidArgument("slices of " + std::to_string(plan.width) + "x" +
                            std::to_string(plan.height) + " samples on a GPU (its kernels filter " +
                            std::to_string(max_reference_rows) +
                            " rows of reference cubes in a slice at most); choose a larger step, "
                            "or the device cpu");
  }
  if (p.reranks_groups() && members_of_layer(p.hard, plan.width, plan.height) > INT_MAX)
    throw InvalidArgument(
        "slices of " + std::to_string(plan.width) + "x" + std::to_string(plan.height) +
        " samples on a GPU (a layer keeps more members of groups than its kernels "
        "count); choose a larger step, or the device cpu");
}

}  // namespace

void require_addressable(const Params& params, const FrameFormat& format) {
  for (const PlanePlan& plan : plan_planes(params, format)) require_addressable(plan.volume);
}

/// The data that a phase stores for each slice.
struct PlaneVolume::Memory {
  Memory(const VolumePlan& plan, Phase phase, bool searches, const Margins& margins, int depth,
         cudaStream_t stream)
      : params(plan.phase(phase)),
        guide(depth, margins.size(), stream),
        // The constructor sets all bytes of the norms to 0x3f. Such a norm is near `no_patch`, so a
        // position cannot be a candidate before the kernel has computed its norm.
        half_norms(searches ? depth : 0, margins.size(), stream, 0x3f),
        numerator(depth, margins.size(), stream),
        weights(depth, margins.size(), stream),
        columns(reference_count(margins.width, params.step, params.cube)),
        rows(reference_count(margins.height, params.step, params.cube)),
        members(members_of_layer(params, margins.width, margins.height)),
        filter(plan_filter(plan, phase)) {}

  Guide guides() const { return {guide.ring(), half_norms.ring()}; }
  VolumeSums sums() const { return {numerator.ring(), weights.ring()}; }

  PhaseParams params;
  Slices<std::uint8_t> guide;
  Slices<std::int32_t> half_norms;  // empty if the phase does not search
  Slices<Sum> numerator;
  Slices<std::uint32_t> weights;
  int columns, rows;
  std::size_t members;  // number of members of all groups at one z position
  FilterPlan filter;
  int cleared = 0;  // the sums of the slices before this one have been cleared
  // The guide of the first phase exists for all slices before slice `guided`.
  int guided = 0;
  int normed = 0;  // norms exist for cubes that begin before this slice
};

PlaneVolume::PlaneVolume(const PlanePlan& plan, const FrameFormat& format, const Extent& extent,
                         cudaStream_t stream)
    : plan_(plan.volume),
      plane_(plan.plane),
      extent_(extent),
      margins_(layout_of(plan_)),
      noisy_(extent.noisy, margins_.size(), stream),
      kept_layers_(plan_.params, extent.layers) {
  const bool reranks_groups = plan_.params.reranks_groups();
  for (int i = 0; i < plan_.params.phases; ++i)
    phases_.push_back(std::make_unique<Memory>(plan_, i == 0 ? Phase::first : Phase::second,
                                               i == 0 || !reranks_groups, margins_, extent.phase[i],
                                               stream));
  if (plan_.params.phases == 2) basic_ = {extent.phase[1], margins_.size(), stream};
  if (reranks_groups)
    kept_ = lull::cuda::DeviceBuffer<std::uint32_t>(kept_layers_.depth() * phases_[0]->members);
  if (format.sample == SampleType::f32)
    cells_ = {extent.batch,
              static_cast<std::size_t>(guard_cells(format.plane_width(plane_))) *
                  guard_cells(format.plane_height(plane_)),
              stream};
}

PlaneVolume::~PlaneVolume() = default;

std::size_t PlaneVolume::members() const {
  std::size_t most = 0;
  // If `kept_` exists, it stores the groups of the first phase. The caller then provides memory
  // only for the groups of the second phase.
  for (std::size_t i = kept_ ? 1 : 0; i < phases_.size(); ++i)
    most = std::max(most, layers_at_once(*phases_[i]) * phases_[i]->members);
  return most;
}

void PlaneVolume::begin(int z) {
  first_ = z;
  kept_layers_.begin();
  for (const auto& phase : phases_) phase->cleared = phase->guided = phase->normed = z;
}

void PlaneVolume::load(SliceSpan slices, const StoredPlanes& stored, cudaStream_t stream) {
  load_slices(stored, cells_.ring(), slices, margins_, noisy_.ring(), stream);
}

void PlaneVolume::filter(const Layers& layers, std::uint32_t* groups, cudaStream_t stream) {
  Memory& memory = of(layers.phase);
  prepare(layers.phase, layers.available.end, stream);
  const bool first = layers.phase == Phase::first, reranks_groups = plan_.params.reranks_groups();
  if (first || !reranks_groups) make_norms(memory, layers, stream);
  const auto at_once = static_cast<int>(layers_at_once(memory));
  for (int k = 0; k < layers.count;) {
    ReferenceCubes cubes{.params = memory.params,
                         .z = layers.z + k * memory.params.step,
                         .layers = std::min(at_once, layers.count - k),
                         .available = layers.available,
                         .columns = memory.columns,
                         .rows = memory.rows};
    std::uint32_t* const found = first && reranks_groups ? reserve_groups(cubes) : groups;
    if (first || !reranks_groups)
      find_groups(memory.guides(), margins_, cubes, found, stream);
    else
      rank_groups(memory.guide.ring(), margins_, cubes, lists_for(cubes), found, stream);
    filter_groups(memory.filter, noisy_.ring(), basic_.ring(), margins_, cubes, found,
                  memory.sums(), stream);
    k += cubes.layers;
  }
}

void PlaneVolume::finish_basic(SliceSpan slices, cudaStream_t stream) {
  prepare(Phase::first, slices.end, stream);
  cuda::finish_basic(end_of(Phase::first, slices), basic_.ring(), of(Phase::second).guide.ring(),
                     guide_quantiser(plan_.sigma), stream);
}

void PlaneVolume::finish(SliceSpan slices, const StoredPlanes& original,
                         const StoredPlanes& results, cudaStream_t stream) {
  const Phase last = plan_.params.phases == 1 ? Phase::first : Phase::second;
  prepare(last, slices.end, stream);
  finish_slices(end_of(last, slices), original, results, stream);
}

void PlaneVolume::make_norms(Memory& memory, const Layers& layers, cudaStream_t stream) const {
  // The kernel computes no norms for slices before the current search windows, because these slices
  // may no longer be in the ring buffer.
  const SliceSpan fresh{std::max(memory.normed, layers.z - memory.params.radius()),
                        layers.available.end - memory.params.cube + 1};
  if (fresh.size() > 0)
    make_half_norms(memory.guides(), fresh, margins_, memory.params.cube, stream);
  memory.normed = std::max(memory.normed, fresh.end);
}

/// Returns contiguous memory in the ring buffer `kept_` for the groups of `cubes`. If the groups of
/// the last layers do not fit before the end of the ring buffer, the function removes these layers
/// from `cubes`.
std::uint32_t* PlaneVolume::reserve_groups(ReferenceCubes& cubes) {
  const int place = kept_layers_.add(cubes.z);
  cubes.layers = std::min(cubes.layers, kept_layers_.depth() - place);
  for (int k = 1; k < cubes.layers; ++k) kept_layers_.add(cubes.z + k * cubes.params.step);
  return kept_.get() + place * phases_[0]->members;
}

/// Returns the stored groups of the first phase for the reference cubes `cubes` of the second
/// phase.
KeptLists PlaneVolume::lists_for(const ReferenceCubes& cubes) const {
  const Memory& first = *phases_[0];
  KeptLists lists{kept_.get(), first.params, first.columns, first.rows};
  for (int k = 0; k < cubes.layers; ++k) {
    const auto around = kept_layers_.around(cubes.z + k * cubes.params.step);
    std::copy(around.begin(), around.end(), lists.around[k]);
  }
  return lists;
}

/// Returns the maximum number of layers of reference cubes that the kernels may process at a time.
/// This limit ensures that the groups need no more memory than the slices.
std::size_t PlaneVolume::layers_at_once(const Memory& memory) const {
  constexpr std::size_t most = std::size_t{1} << 25;  // members
  return std::clamp<std::size_t>(most / memory.members / 4 * 4, 1, extent_.layers);
}

/// Clears the sums of new slices: all slices before `end` that no earlier call has cleared. In the
/// first phase, the function also makes the guides of new slices.
void PlaneVolume::prepare(Phase phase, int end, cudaStream_t stream) {
  Memory& memory = of(phase);
  if (memory.cleared < end) {
    const SliceSpan fresh{std::exchange(memory.cleared, end), end};
    memory.numerator.clear(fresh, stream);
    memory.weights.clear(fresh, stream);
  }
  if (phase == Phase::first && memory.guided < end)
    make_guide(noisy_.ring(), {std::exchange(memory.guided, end), end}, margins_,
               guide_quantiser(plan_.sigma), memory.guide.ring(), stream);
}

PhaseEnd PlaneVolume::end_of(Phase phase, SliceSpan slices) const {
  const Memory& memory = of(phase);
  return {.sums = memory.sums(),
          .slices = slices,
          .first = first_,
          .noisy = noisy_.ring(),
          .margins = margins_,
          .cube = memory.filter.cube,
          .window = memory.filter.window};
}

}  // namespace lull::bm4d::cuda
