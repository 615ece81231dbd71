#include <algorithm>
#include <cmath>

#include "cuda/check.h"
#include "linear/cuda/over_time.h"
#include "linear/groups.h"
#include "match/cuda/kernels.h"
#include "time/frame_pairs.h"
#include "time/frame_statistics.h"

namespace lull::linear {
namespace {

std::size_t references_of(const ReferenceGrid& grid) {
  return static_cast<std::size_t>(grid.count_x) * grid.count_y;
}

}  // namespace

bool fits_over_time(const FrameFormat& format, const NoiseModel& noise, int radius,
                    const cuda::DeviceLimits& limits) {
  return std::ranges::all_of(plan_sets(format, noise, true), [&](const SetPlan& plan) {
    return fits_over_time(plan.params, 2 * radius + 1, limits);
  });
}

DeviceFilterOverTime::DeviceFilterOverTime(const FrameFormat& format, const NoiseModel& noise,
                                           const std::array<Margins, max_planes>& margins,
                                           int slots, int radius, cudaStream_t stream)
    : format_(format),
      noise_(noise),
      margins_(margins),
      radius_(radius),
      sets_(plan_sets(format, noise, true)),
      stream_(stream),
      set_memory_(sets_.size()) {
  for (int i = 0; i < format.planes(); ++i) planes_[i].y = {slots, margins_[i].size(), stream_};
  std::size_t references = 0, members = 0, guide_samples = 0;
  for (std::size_t n = 0; n < sets_.size(); ++n) {
    const SetPlan& plan = sets_[n];
    plan_set(n, slots);
    const DeviceGroups pilot = groups_of(n, 0, 0);
    references = std::max(references, references_of(pilot.grid));
    members = std::max(members, references_of(pilot.grid) * pilot.sizes.group);
    if (plan.set.is_composite()) guide_samples = std::max(guide_samples, margins_of(plan).size());
    for (const int i : plan.set.planes) plan_plane(i, slots);
  }
  pilot_members_ = cuda::DeviceBuffer<std::uint16_t>(members);
  pilot_counts_ = cuda::DeviceBuffer<std::uint8_t>(references);
  if (guide_samples > 0) guide_ = zeroed<float>(guide_samples, stream_);
}

void DeviceFilterOverTime::plan_set(std::size_t n, int slots) {
  const SetPlan& plan = sets_[n];
  SetMemory& memory = set_memory_[n];
  memory.samples = {slots, margins_of(plan).size(), stream_};
  memory.norms = {slots, margins_of(plan).size(), stream_};
  const DeviceGroups groups = groups_of(n, 1, 0);
  memory.members = {slots, references_of(groups.grid) * groups.sizes.group, stream_};
  memory.counts = {slots, references_of(groups.grid), stream_};
}

void DeviceFilterOverTime::plan_plane(int i, int slots) {
  PlaneMemory& memory = planes_[i];
  const std::size_t size = margins_[i].size();
  const auto ring = [&]<class T>(PlaneRing<T>& r) { r = PlaneRing<T>(slots, size, stream_); };
  ring(memory.x), ring(memory.z), ring(memory.moments);
  ring(memory.sums_x), ring(memory.sums_z), ring(memory.weights);
  const PlaneNoise& noise = noise_.plane(i);
  if (noise.is_white()) return;
  memory.autocorrelation = cuda::DeviceBuffer<float>(noise.correlation->size());
  cuda::check(cudaMemcpyAsync(memory.autocorrelation.get(), noise.correlation->data(),
                              memory.autocorrelation.bytes(), cudaMemcpyHostToDevice, stream_));
  cuda::check(cudaStreamSynchronize(stream_));
}

GroupSizes DeviceFilterOverTime::sizes_of(const SetPlan& plan, int step) const {
  const Margins& m = margins_of(plan);
  return fitted(step == 0 ? plan.params.pilot : plan.params.iteration, m.width, m.height);
}

DeviceGroups DeviceFilterOverTime::groups_of(std::size_t n, int step, int slot) const {
  const Margins& m = margins_of(sets_[n]);
  const GroupSizes sizes = sizes_of(sets_[n], step);
  DeviceGroups groups{.sizes = sizes, .grid = {m.width, m.height, sizes.step, sizes.side}};
  groups.members = step == 0 ? pilot_members_.get() : set_memory_[n].members.at(slot);
  groups.counts = step == 0 ? pilot_counts_.get() : set_memory_[n].counts.at(slot);
  return groups;
}

std::array<float*, max_planes> DeviceFilterOverTime::noisy(int slot) const {
  std::array<float*, max_planes> planes{};
  for (int i = 0; i < format_.planes(); ++i) planes[i] = planes_[i].y.at(slot);
  return planes;
}

Planes DeviceFilterOverTime::results(int slot) const {
  Planes planes{};
  for (int i = 0; i < format_.planes(); ++i)
    planes[i] = is_filtered(i) ? planes_[i].x.at(slot) : planes_[i].y.at(slot);
  return planes;
}

TimeSums DeviceFilterOverTime::sums_of(int plane, int slot) const {
  const PlaneMemory& memory = planes_[plane];
  return {memory.sums_x.at(slot), memory.sums_z.at(slot), memory.weights.at(slot)};
}

void DeviceFilterOverTime::start(int slot) {
  for (const SetPlan& plan : sets_)
    for (const int i : plan.set.planes) {
      const TimeSums sums = sums_of(i, slot);
      const auto clear = [&](auto* of) {
        cuda::check(cudaMemsetAsync(of, 0, margins_[i].size() * sizeof(*of), stream_));
      };
      clear(sums.x), clear(sums.z), clear(sums.weights);
    }
  make_guides(Source::y, slot);
}

void DeviceFilterOverTime::make_guides(Source source, int slot) {
  for (std::size_t n = 0; n < sets_.size(); ++n) {
    const SetPlan& plan = sets_[n];
    quantise(guide(plan, source, slot), margins_of(plan), plan.range,
             sizes_of(plan, source == Source::y ? 0 : 1).side, nullptr,
             {set_memory_[n].samples.at(slot), set_memory_[n].norms.at(slot)}, stream_);
  }
}

const float* DeviceFilterOverTime::guide(const SetPlan& plan, Source source, int slot) {
  const PlaneSet& set = plan.set;
  const auto picture = [&](int i) -> const float* {
    return source == Source::y || !is_filtered(i) ? planes_[i].y.at(slot) : planes_[i].x.at(slot);
  };
  if (!set.is_composite()) return picture(0);
  ColourGuide mix{.luma = {},
                  .luma_margins = margins_[0],
                  .shift_x = format_.chroma_shift_x,
                  .shift_y = format_.chroma_shift_y};
  if (set.uses_luma) mix.luma = {picture(0)};
  for (const int i : {1, 2})
    if (const float weight = set.chroma_weights[i - 1]; weight != 0)
      mix.chroma[i - 1] = {picture(i)}, mix.weight[i - 1] = weight;
  mix_guide(mix, margins_[1], guide_.get(), stream_);
  return guide_.get();
}

SearchedFrames DeviceFilterOverTime::searched(const SetPlan& plan, const GroupSizes& sizes,
                                              std::span<const SlotFrame> frames,
                                              const MotionCells& cells) const {
  const int plane = plan.set.planes.front(), main = main_plane(format_.layout == Layout::rgb);
  SearchedFrames searched;
  searched.grid = {format_.plane_width(plane),
                   format_.plane_height(plane),
                   sizes.step,
                   plane == 0 ? 0 : format_.chroma_shift_x,
                   plane == 0 ? 0 : format_.chroma_shift_y,
                   format_.plane_width(main),
                   format_.plane_height(main)};
  searched.count = static_cast<int>(frames.size());
  std::array<int, max_frames> offsets{};
  for (std::size_t f = 0; f < frames.size(); ++f) offsets[f] = frames[f].offset;
  const auto partners = partners_of({offsets.data(), frames.size()});
  for (std::size_t f = 0; f < frames.size(); ++f) {
    searched.partner[f] = static_cast<std::int8_t>(partners[f]);
    if (partners[f] == no_frame) searched.last = static_cast<int>(f);
    if (f > 0) searched.cells[f] = cells(frames[0].frame, frames[f].offset);
  }
  searched.pairs = sizes.pairs && partners[0] != no_frame;
  return searched;
}

void DeviceFilterOverTime::filter(int step, std::span<const SlotFrame> frames,
                                  const MotionCells& cells) {
  for (std::size_t n = 0; n < sets_.size(); ++n) {
    const SearchedFrames all = searched(sets_[n], sizes_of(sets_[n], step), frames, cells);
    if (step == 0 || matches(sets_[n].params, step)) match(n, step, all, frames);
    combine(n, step, all, frames);
  }
}

void DeviceFilterOverTime::match(std::size_t n, int step, const SearchedFrames& all,
                                 std::span<const SlotFrame> frames) {
  const SetPlan& plan = sets_[n];
  TimeMatchArgs args{.margins = margins_of(plan), .frames = all, .guides = {}};
  args.groups = groups_of(n, step, frames[0].frame);
  for (std::size_t f = 0; f < frames.size(); ++f)
    args.guides[f] = {set_memory_[n].samples.at(frames[f].frame),
                      set_memory_[n].norms.at(frames[f].frame)};
  const float sigma = guide_sigma(plan.set, format_, noise_);
  for (const int halves : {1, 2})
    args.bonus[halves - 1] =
        distance_bonus(bonus_share * sigma * sigma, plan.range, args.groups.sizes.samples(halves));
  match_over_time(args, stream_);
}

void DeviceFilterOverTime::combine(std::size_t n, int step, const SearchedFrames& all,
                                   std::span<const SlotFrame> frames) {
  for (const int i : sets_[n].set.planes) {
    const PlaneMemory& memory = planes_[i];
    TimeCombineArgs args{.margins = margins_[i], .frames = all, .pictures = {}};
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const int slot = frames[f].frame;
      args.pictures[f] = {step == 0 ? memory.y.at(slot) : memory.x.at(slot),
                          step == 0 ? memory.y.at(slot) : memory.z.at(slot),
                          memory.moments.at(slot), sums_of(i, slot)};
    }
    args.groups = groups_of(n, step, frames[0].frame);
    args.sigma = noise_.sigma(i);
    args.autocorrelation = memory.autocorrelation.get();
    args.step = step_of(sets_[n].params, step);
    args.max_frames_searched = 2 * radius_ + 1;
    args.value_scale = time_value_scale(args.groups.sizes, radius_);
    combine_over_time(args, stream_);
  }
}

void DeviceFilterOverTime::finish_step(int step, int slot) {
  for (const SetPlan& plan : sets_)
    for (const int i : plan.set.planes) {
      const PlaneMemory& memory = planes_[i];
      const Margins& m = margins_[i];
      const GroupSizes sizes = sizes_of(plan, step);
      const Step done = step_of(plan.params, step);
      finish_over_time(sums_of(i, slot), time_value_scale(sizes, radius_), m, sizes.side,
                       memory.x.at(slot), done.has_z() ? memory.z.at(slot) : nullptr, stream_);
      if (step == 0)
        cuda::check(cudaMemcpyAsync(memory.z.at(slot), memory.y.at(slot), m.size() * sizeof(float),
                                    cudaMemcpyDeviceToDevice, stream_));
      if (step < plan.params.iterations)
        patch_moments(memory.y.at(slot), memory.z.at(slot), m, sizes_of(plan, step + 1).side,
                      memory.moments.at(slot), stream_);
    }
  if (step == 0) make_guides(Source::x, slot);
}

}  // namespace lull::linear
