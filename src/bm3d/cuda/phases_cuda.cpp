#include <algorithm>
#include <bit>
#include <cmath>

#include "bm3d/cuda/address_range.h"
#include "bm3d/cuda/phases.h"
#include "cuda/check.h"
#include "match/clusters.h"

namespace lull::bm3d {
namespace {

/// Returns FilterArgs::max_level, the maximum magnitude of the offset that a thread block subtracts
/// from its samples before it filters them. The opponent chroma of float RGB frames ranges from
/// -416 to 416. With an offset of at most 95, the differences are within -511..511, as half
/// precision requires.
float max_level(const FrameFormat& format, int plane) {
  const bool floats = format.sample == SampleType::f32 && format.layout == Layout::rgb;
  return floats && plane > 0 ? 95.0f : FilterArgs::unlimited_level;
}

}  // namespace

CudaPhases::CudaPhases(const Params& params, const FrameFormat& format, cudaStream_t stream,
                       cuda::MatcherFactory make_matcher)
    : params_(params), format_(format), stream_(stream) {
  for (const Phase phase : all_phases)
    states_.push_back({plan_phase(phase, params, format), {}, {}, {}});
  if (!filters_any()) return;
  plan_planes();
  plan_batches();
  plan_phases(make_matcher);
}

void CudaPhases::plan_planes() {
  for (int k = 0; k < (format_.subsampled() ? 2 : 1); ++k) {
    const int width = format_.plane_width(k), height = format_.plane_height(k);
    geometries_[k].margins = plane_margins(params_, format_, k);
    if (!fits_patch(format_, k)) continue;
    geometries_[k].first_grid = ReferenceGrid(width, height, params_.hard.step);
    geometries_[k].searched_grid = ReferenceGrid(width, height, kept_step(params_));
    geometries_[k].second_grid = ReferenceGrid(width, height, params_.wiener.step);
  }
}

void CudaPhases::plan_batches() {
  std::size_t references = 0, member_slots = 0;
  for (const int i : {0, 1}) {
    if (i >= format_.planes() || !fits_patch(format_, i)) continue;
    for (const Phase phase : all_phases) {
      const MatchParams matching = state_of(phase).plan.params.matching();
      const ReferenceGrid& references_of = grid(phase, i);
      const BatchBricks full = batch_tiles(params_.batch, references_of, false);
      const std::size_t batch = static_cast<std::size_t>(references_per_tile) *
                                std::min(reference_tiles_of(references_of.count_x), full.x) *
                                std::min(reference_tiles_of(references_of.count_y), full.y);
      references = std::max(references, batch);
      member_slots = std::max(member_slots, batch * group_capacity(matching));
    }
  }
  displacements_ = cuda::DeviceBuffer<std::uint32_t>(member_slots);
  log2_counts_ = cuda::DeviceBuffer<std::uint8_t>(references);
}

void CudaPhases::plan_phases(cuda::MatcherFactory make_matcher) {
  for (PhaseState& phase : states_) {
    const PhaseParams& params = phase.plan.params;
    const bool is_run = phase.plan.phase == Phase::first || params_.phases >= 2;
    if (!is_run) continue;
    MatchParams searching = params.matching();
    if (phase.plan.search_step > 0) searching.step = phase.plan.search_step;
    phase.matcher = make_matcher(searching, 2 * params_.temporal, margins(0));
    if (phase.plan.filter == Filtering::means) continue;  // means need no transform
    if (params.transform == Transform::dft) {
      // The DFT filter needs memory for the largest groups. The groups that the first phase stores
      // may be larger than the groups that it filters.
      PhaseParams params_for_kept = params;
      if (phase.plan.phase == Phase::first && params_.kept > 0)
        params_for_kept.group = std::max(params_for_kept.group, kept_capacity());
      phase.dft = std::make_unique<DftFilter>(params_for_kept, phase.plan.phase, stream_);
      // The function validate() rejects coloured noise with the DFT.
    } else {
      phase.covariances = Covariances(phase.plan.noise, params.transform, stream_);
    }
  }
}

MotionGrid CudaPhases::motion_grid(int step, const PlaneSet& set) const {
  const int plane = set.planes.front(), main = main_plane(format_.layout == Layout::rgb);
  return {format_.plane_width(plane),
          format_.plane_height(plane),
          step,
          plane == 0 ? 0 : format_.chroma_shift_x,
          plane == 0 ? 0 : format_.chroma_shift_y,
          format_.plane_width(main),
          format_.plane_height(main)};
}

std::size_t CudaPhases::largest_plane() const {
  std::size_t size = 0;
  for (const int i : {0, 1})
    if (i < format_.planes() && fits_patch(format_, i)) size = std::max(size, margins(i).size());
  return size;
}

int CudaPhases::max_planes_per_set() const {
  std::size_t most = 0;
  for (const PhaseState& phase : states_)
    for (const PlaneSet& set : phase.plan.sets) most = std::max(most, set.planes.size());
  return static_cast<int>(most);
}

std::size_t CudaPhases::kept_references(const PlaneSet& set) const {
  if (set.kept == 0) return 0;
  const ReferenceGrid& searched = geometry(set.planes.front()).searched_grid;
  return static_cast<std::size_t>(references_per_tile) * reference_tiles_of(searched.count_x) *
         reference_tiles_of(searched.count_y);
}

KeptGroupsView CudaPhases::kept_groups(const PhasePlan& plan, const PlaneSet& set,
                                       const DeviceFrame& frame) const {
  const KeptOnDevice& kept = frame.kept[set.planes.front()];
  const auto group = static_cast<unsigned>(plan.params.group);
  return {{kept.displacements, kept.log2_counts, kept_capacity(), std::countr_zero(group)},
          geometry(set.planes.front()).searched_grid};
}

/// Returns the samples that make up the guide: noisy samples in the first phase, the basic estimate
/// in the second phase, and Frame::guide in guided sessions.
MixedPlane CudaPhases::guide_of(Phase phase, const DeviceFrame& frame, int i) const {
  if (params_.guided)
    return {frame.guide_planes[i], frame.noisy[i], state_of(phase).plan.guide_share};
  if (phase == Phase::first) return {frame.noisy[i]};
  return {basic_of(frame, i), frame.noisy[i], state_of(phase).plan.guide_share};
}

ColourGuide CudaPhases::composite_guide(Phase phase, const PlaneSet& set,
                                        const DeviceFrame& frame) const {
  ColourGuide mix{set.uses_luma ? guide_of(phase, frame, 0) : MixedPlane{}, margins(0),
                  format_.chroma_shift_x, format_.chroma_shift_y};
  for (int i = 1; i < format_.planes(); ++i)
    if (const float weight = set.chroma_weights[i - 1]; weight != 0) {
      mix.chroma[i - 1] = guide_of(phase, frame, i);
      mix.weight[i - 1] = weight;
    }
  return mix;
}

void CudaPhases::clear_sums(const PlaneSet& set, const DeviceFrame& frame) {
  for (const int i : set.planes) {
    const Sums& sums = frame.sums[i];
    const std::size_t size = margins(i).size();
    cuda::check(cudaMemsetAsync(sums.numerator, 0, size * sizeof *sums.numerator, stream_));
    cuda::check(cudaMemsetAsync(sums.denominator, 0, size * sizeof *sums.denominator, stream_));
  }
}

Guide CudaPhases::make_guide_and_clear_sums(Phase phase, const PlaneSet& set,
                                            const DeviceFrame& frame, const GuideBuffer& to) {
  if (state_of(phase).plan.reuses_groups(set)) return clear_sums(set, frame), Guide{};
  const MatchParams matching = state_of(phase).plan.matching(set);
  float max_bias = params_.temporal > 0 ? matching.motion_bias : 0;
  if (matching.bias != nullptr)
    max_bias = std::max(max_bias, -*std::ranges::min_element(*matching.bias));
  const GuideBytes bytes(matching.range);
  Guide guide{to.samples, to.half_norms, bytes.scale, bytes.low};
  // Distances up to the match threshold must fit into 16-bit scores. Therefore, a larger threshold
  // requires coarser quantisation of the guide. Large thresholds occur only with strong noise,
  // which hides the quantisation errors.
  if (!matching.clusters)
    guide.scale = std::min(guide.scale, max_guide_scale(matching.tau + max_bias));
  ClearedSums sums{static_cast<int>(set.planes.size())};
  for (int k = 0; k < sums.planes; ++k) sums.of[k] = frame.sums[set.planes[k]];
  const auto make = [&](const auto& picture) {
    lull::make_guide_and_clear_sums(picture, margins(set.planes.front()), guide.scale, guide.offset,
                                    to.samples, to.half_norms, sums, stream_);
  };
  if (set.is_composite())
    make(composite_guide(phase, set, frame));
  else
    make(guide_of(phase, frame, 0));
  if (to.invalid != nullptr) {
    invalidate_candidates(to.half_norms, to.invalid, margins(set.planes.front()),
                          to.candidate_norms, stream_);
    guide.candidate_norms = to.candidate_norms;
  }
  return guide;
}

void CudaPhases::filter(Phase which, const PlaneSet& set, const DeviceFrame& frame,
                        std::span<const SearchFrame> frames,
                        std::span<const std::ptrdiff_t> distance) {
  const PhaseState& phase = state_of(which);
  const MatchParams matching = phase.plan.matching(set);

  FilterArgs args;
  args.planes = static_cast<int>(set.planes.size());
  args.margins = margins(set.planes.front());
  args.grid = grid(which, set.planes.front());
  args.groups = {displacements_.get(), log2_counts_.get(), group_capacity(matching)};
  args.window = phase.plan.window;
  args.frames.over_time = params_.temporal > 0;
  args.frames.grid = motion_grid(matching.step, set);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& [offset, searched] = frames[i];
    args.frames.present[offset] = true;
    args.frames.distance[offset] = distance[i];
    args.frames.motion[offset] = searched.motion;
  }
  CovarianceViews covariances;
  for (int k = 0; k < args.planes; ++k) {
    const int i = set.planes[k];
    covariances[k] = phase.covariances.of(i);
    args.noisy[k] = frame.noisy[i];
    args.basic[k] = frame.basic[i];
    args.sums[k] = frame.sums[i];
    args.sigma[k] = phase.plan.noise.sigma(i);
    args.max_level[k] = max_level(format_, i);
  }
  const KeptGroupsView kept = kept_groups(phase.plan, set, frame);
  if (set.kept > 0 && phase.plan.phase == Phase::first) search(phase, set, frames, kept.groups);
  if (phase.plan.propagates(set))
    propagate_and_filter(phase, matching, frames, kept, covariances, args);
  else if (set.kept > 0)
    filter_kept(phase, kept.groups, covariances, args);
  else
    search_and_filter(phase, matching, frames, covariances, args);
}

void CudaPhases::normalise(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                           const std::array<float*, max_planes>& estimates) {
  Quotients quotients{static_cast<int>(set.planes.size())};
  for (int k = 0; k < quotients.planes; ++k) {
    const int i = set.planes[k];
    quotients.sums[k] = frame.sums[i];
    quotients.noisy[k] = frame.noisy[i];
    quotients.estimate[k] = estimates[i];
  }
  bm3d::normalise(quotients, margins(set.planes.front()), state_of(phase).plan.window, stream_);
}

template <class Use>
void CudaPhases::for_batches(const ReferenceGrid& references, bool whole_rows, Batch& batch,
                             Use use) const {
  const int tiles_x = reference_tiles_of(references.count_x),
            tiles_y = reference_tiles_of(references.count_y);
  const BatchBricks full = batch_tiles(params_.batch, references, whole_rows);
  for (batch.y0 = 0; batch.y0 < tiles_y; batch.y0 += full.y) {
    batch.tiles_y = std::min(full.y, tiles_y - batch.y0);
    for (batch.x0 = 0; batch.x0 < tiles_x; batch.x0 += full.x) {
      batch.tiles_x = std::min(full.x, tiles_x - batch.x0);
      use();
    }
  }
}

/// Returns the part of `all` that belongs to a batch of complete rows. `all` contains the groups of
/// all reference patches, in the layout of one large batch.
Groups CudaPhases::of_batch(const Groups& all, const Batch& batch) {
  return all.after(static_cast<std::size_t>(batch.y0) * batch.tiles_x * references_per_tile);
}

void CudaPhases::search(const PhaseState& phase, const PlaneSet& set,
                        std::span<const SearchFrame> frames, const Groups& kept) {
  const MatchParams searching = phase.plan.searching(set);
  const Geometry& planes = geometry(set.planes.front());
  const MotionGrid motion = motion_grid(searching.step, set);
  Batch batch;
  for_batches(planes.searched_grid, true, batch, [&] {
    phase.matcher->find({searching, frames, planes.margins, planes.searched_grid, motion, batch},
                        of_batch(kept, batch), stream_);
  });
}

void CudaPhases::filter_kept(const PhaseState& phase, const Groups& kept,
                             const CovarianceViews& covariances, FilterArgs& args) {
  for_batches(args.grid, true, args.batch, [&] {
    args.groups = of_batch(kept, args.batch);
    filter_batch(phase, covariances, args);
  });
}

void CudaPhases::propagate_and_filter(const PhaseState& phase, const MatchParams& matching,
                                      std::span<const SearchFrame> frames,
                                      const KeptGroupsView& kept,
                                      const CovarianceViews& covariances, FilterArgs& args) {
  for_batches(args.grid, false, args.batch, [&] {
    propagate(frames, args.margins, args.grid, args.frames.grid, args.batch, matching, kept,
              args.groups, stream_);
    filter_batch(phase, covariances, args);
  });
}

void CudaPhases::search_and_filter(const PhaseState& phase, const MatchParams& matching,
                                   std::span<const SearchFrame> frames,
                                   const CovarianceViews& covariances, FilterArgs& args) {
  for_batches(args.grid, false, args.batch, [&] {
    phase.matcher->find({matching, frames, args.margins, args.grid, args.frames.grid, args.batch},
                        args.groups, stream_);
    filter_batch(phase, covariances, args);
  });
}

void CudaPhases::filter_batch(const PhaseState& phase, const CovarianceViews& covariances,
                              const FilterArgs& args) {
  const PhasePlan& plan = phase.plan;
  if (plan.filter == Filtering::means)
    average_groups(args, plan.means, stream_);
  else if (phase.dft != nullptr)
    phase.dft->run(args, plan.strength);
  else if (plan.phase == Phase::first)
    filter_hard(args, plan.params, plan.strength, stream_, device_, covariances);
  else
    filter_wiener(args, plan.params, plan.strength, stream_, device_, covariances);
}

}  // namespace lull::bm3d
