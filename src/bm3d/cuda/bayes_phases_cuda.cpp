// Runs the Bayes phases on frames in GPU memory, in batches of rows of reference patches.

#include <algorithm>
#include <vector>

#include "bm3d/cuda/bayes/kernels.h"
#include "bm3d/cuda/phases.h"
#include "match/grid.h"
#include "time/frame_pairs.h"

namespace lull::bm3d {

/// Returns the number of rows of reference patches in a batch.
int CudaPhases::bayes_rows(const PhasePlan& plan, int plane) const {
  const Margins& m = margins(plane);
  const int side = plan.side(m.width, m.height), step = plan.params.step;
  const int columns = reference_count(m.width, step, side);
  const auto most =
      static_cast<std::int64_t>(params_.batch.width) * params_.batch.height / step / step / columns;
  return static_cast<int>(std::clamp<std::int64_t>(most, 1, reference_count(m.height, step, side)));
}

void CudaPhases::plan_bayes() {
  std::size_t references = 0, member_slots = 0, bundles = 0;
  for (const PhaseState& phase : states_) {
    if (!phase.plan.is_bayes()) continue;
    for (const PlaneSet& set : phase.plan.sets) {
      const int plane = set.planes.front();
      const Margins& m = margins(plane);
      const int side = phase.plan.side(m.width, m.height);
      const std::size_t batch =
          static_cast<std::size_t>(reference_count(m.width, phase.plan.params.step, side)) *
          bayes_rows(phase.plan, plane);
      references = std::max(references, batch);
      member_slots = std::max(member_slots, batch * phase.plan.params.group);
      const MotionGrid grid{m.width, m.height, phase.plan.params.step};
      bundles = std::max(bundles, static_cast<std::size_t>(grid.columns()) * grid.rows());
    }
  }
  if (references == 0) return;
  members_ = cuda::DeviceBuffer<std::uint32_t>(member_slots);
  counts_ = cuda::DeviceBuffer<std::uint8_t>(references);
  second_halves_ = cuda::DeviceBuffer<Motion>((max_frames - 1) * bundles);
}

void CudaPhases::make_float_guide(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                                  float* to) {
  mix_guide(composite_guide(phase, set, frame), margins(1), to, stream_);
}

void CudaPhases::clear_sums(const PlaneSet& set, const DeviceFrame& frame) {
  for (const int i : set.planes) {
    const Sums& sums = frame.sums[i];
    const std::size_t size = margins(i).size();
    cuda::check(cudaMemsetAsync(sums.numerator, 0, size * sizeof *sums.numerator, stream_));
    cuda::check(cudaMemsetAsync(sums.denominator, 0, size * sizeof *sums.denominator, stream_));
  }
}

void CudaPhases::normalise_bayes(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                                 const std::array<float*, max_planes>& estimates) {
  const Margins& m = margins(set.planes.front());
  for (const int i : set.planes)
    bayes_normalise(frame.sums[i], m, state_of(phase).plan.side(m.width, m.height),
                    is_blended(phase) ? frame.basic[i] : nullptr,
                    phase == Phase::second ? bayes_share : result_share, estimates[i], stream_);
}

void CudaPhases::filter_bayes(Phase which, const PlaneSet& set, const DeviceFrame& frame,
                              std::span<const SearchFrame> frames,
                              std::span<const std::ptrdiff_t> distance, const float* guide) {
  const PhasePlan& plan = state_of(which).plan;
  BayesArgs args;
  args.margins = margins(set.planes.front());
  args.grid = motion_grid(plan.params.step, set);
  args.side = plan.side(args.margins.width, args.margins.height);
  args.columns = reference_count(args.margins.width, plan.params.step, args.side);
  args.members = members_.get();
  args.counts = counts_.get();
  std::vector<int> offsets;
  for (const SearchFrame& searched : frames) offsets.push_back(searched.offset);
  const auto partners = partners_of(offsets);
  args.depth = partners[0] == no_frame ? 1 : 2;
  args.pairs = 0;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (f > 0 && partners[f] == no_frame) continue;
    const std::size_t second = partners[f] == no_frame ? f : static_cast<std::size_t>(partners[f]);
    args.pair[args.pairs++] = {offsets[f],
                               {distance[f], distance[second]},
                               {frames[f].frame.motion, frames[second].frame.motion}};
  }
  if (args.depth == 2 && args.pairs > 1) {
    args.second_half = second_halves_.get();
    bayes_second_halves(args, guide, stream_);
  }
  const int rows = reference_count(args.margins.height, plan.params.step, args.side);
  for (; args.first_row < rows; args.first_row += args.rows) {
    args.rows = std::min(bayes_rows(plan, set.planes.front()), rows - args.first_row);
    bayes_match(args, plan.bayes, guide, stream_);
    for (const int i : set.planes)
      bayes_filter(args, plan.bayes,
                   {.noisy = frame.noisy[i],
                    .basic = plan.filter == Filtering::bayes_basic ? frame.basic[i] : nullptr,
                    .sums = frame.sums[i],
                    .sigma = plan.noise.sigma(i)},
                   stream_);
  }
}

}  // namespace lull::bm3d
