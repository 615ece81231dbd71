#include <algorithm>
#include <utility>

#include "cuda/check.h"
#include "linear/cuda/filter.h"
#include "linear/groups.h"
#include "match/cuda/kernels.h"

namespace lull::linear {

DeviceFilter::DeviceFilter(const FrameFormat& format, const NoiseModel& noise, bool guided,
                           const std::array<Margins, max_planes>& margins, cudaStream_t stream)
    : format_(format),
      noise_(noise),
      guided_(guided),
      margins_(margins),
      sets_(plan_sets(format, noise, false, guided)),
      stream_(stream) {
  std::size_t samples = 0, references = 0, members = 0;
  for (const SetPlan& plan : sets_) {
    const Margins& m = margins_[plan.set.planes.front()];
    samples = std::max(samples, m.size());
    for (const GroupSizes& given : {plan.params.pilot, plan.params.iteration}) {
      const GroupSizes sizes = fitted_sizes(plan, given);
      const ReferenceGrid grid(m.width, m.height, sizes.step, sizes.side);
      const std::size_t count = static_cast<std::size_t>(grid.count_x) * grid.count_y;
      references = std::max(references, count);
      members = std::max(members, count * sizes.group);
    }
    for (const int i : plan.set.planes)
      if (!z_[i]) {
        z_[i] = zeroed<float>(margins_[i].size(), stream_);
        upload_autocorrelation(i);
      }
    if (plan.set.is_composite() && !guide_) guide_ = zeroed<float>(m.size(), stream_);
  }
  quantised_ = zeroed<std::uint8_t>(samples, stream_);
  norms_ = zeroed<std::int32_t>(samples, stream_);
  members_ = cuda::DeviceBuffer<std::uint16_t>(members);
  counts_ = cuda::DeviceBuffer<std::uint8_t>(references);
  moments_ = zeroed<float2>(samples, stream_);
  sums_x_ = zeroed<unsigned long long>(samples, stream_);
  sums_z_ = zeroed<unsigned long long>(samples, stream_);
  weights_ = zeroed<std::uint32_t>(samples, stream_);
}

void DeviceFilter::upload_autocorrelation(int i) {
  const PlaneNoise& noise = noise_.plane(i);
  if (noise.is_white()) return;
  autocorrelations_[i] = cuda::DeviceBuffer<float>(noise.correlation->size());
  cuda::check(cudaMemcpyAsync(autocorrelations_[i].get(), noise.correlation->data(),
                              autocorrelations_[i].bytes(), cudaMemcpyHostToDevice, stream_));
  cuda::check(cudaStreamSynchronize(stream_));
}

void DeviceFilter::run(const Pictures& pictures) {
  for (const SetPlan& plan : sets_) filter_set(plan, pictures);
}

void DeviceFilter::filter_set(const SetPlan& plan, const Pictures& pictures) {
  run_steps(
      plan.params,
      [&](const GroupSizes& sizes, Source source) { match_set(plan, sizes, source, pictures); },
      [&](const GroupSizes& sizes, const Step& step) { combine_set(plan, sizes, step, pictures); },
      [&] {
        for (const int i : plan.set.planes)
          cuda::check(cudaMemcpyAsync(z_[i].get(), pictures.y[i],
                                      margins_[i].size() * sizeof(float), cudaMemcpyDeviceToDevice,
                                      stream_));
      });
}

GroupSizes DeviceFilter::fitted_sizes(const SetPlan& plan, const GroupSizes& sizes) const {
  const Margins& m = margins_[plan.set.planes.front()];
  return fitted(sizes, m.width, m.height);
}

void DeviceFilter::match_set(const SetPlan& plan, const GroupSizes& given, Source source,
                             const Pictures& pictures) {
  const Margins& m = margins_[plan.set.planes.front()];
  const GroupSizes sizes = fitted_sizes(plan, given);
  const QuantisedGuide quantised{quantised_.get(), norms_.get()};
  quantise(make_guide(plan, source, pictures), m, plan.range, sizes.side, pictures.holes, quantised,
           stream_);
  groups_ = {sizes, ReferenceGrid(m.width, m.height, sizes.step, sizes.side), members_.get(),
             counts_.get()};
  match(quantised, m, groups_, stream_);
}

const float* DeviceFilter::make_guide(const SetPlan& plan, Source source,
                                      const Pictures& pictures) {
  const PlaneSet& set = plan.set;
  const auto picture = [&](int i) -> const float* {
    if (guided_) return pictures.frame_guide[i];
    const Planes& y = pictures.y;
    const auto& x = pictures.x;
    const bool is_of_set = std::ranges::find(set.planes, i) != set.planes.end();
    // The guide may contain a plane that does not belong to `set`. If the filter has already
    // processed such a plane i, x[i] is the result. If the filter does not process the plane, x[i]
    // is null, and the guide uses the noisy plane y[i].
    if (!is_of_set) return x[i] != nullptr ? x[i] : y[i];
    return source == Source::y ? y[i] : source == Source::x ? x[i] : z_[i].get();
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

void DeviceFilter::combine_set(const SetPlan& plan, const GroupSizes& given, const Step& step,
                               const Pictures& pictures) {
  const Planes& y = pictures.y;
  const auto& x = pictures.x;
  const int side = fitted_sizes(plan, given).side;
  const bool has_z = !step.is_pilot && step.tau > 0;
  for (const int i : plan.set.planes) {
    CombineArgs args{.step = step};
    args.margins = margins_[i];
    args.groups = groups_;
    args.sigma = noise_.sigma(i);
    args.autocorrelation = autocorrelations_[i].get();
    args.sums = {sums_x_.get(), has_z ? sums_z_.get() : nullptr, weights_.get()};
    args.x = step.is_pilot ? y[i] : x[i];
    args.z = step.is_pilot ? y[i] : z_[i].get();
    args.moments = moments_.get();
    if (!step.is_pilot)
      patch_moments(y[i], z_[i].get(), args.margins, side, moments_.get(), stream_);
    combine(args, stream_);
    finish(args.sums, args.margins, side, x[i], has_z ? z_[i].get() : nullptr, stream_);
  }
}

}  // namespace lull::linear
