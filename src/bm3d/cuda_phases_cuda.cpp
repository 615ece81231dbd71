#include <algorithm>
#include <cmath>

#include "bm3d/colour.h"
#include "bm3d/cuda_phases.h"
#include "bm3d/guide.h"
#include "bm3d/kaiser.h"
#include "cuda/shared_memory.h"

namespace lull::bm3d {
namespace {

constexpr int divide_up(int value, int by) { return (value + by - 1) / by; }

int blocks_of(int references) { return divide_up(references, block_side); }

/// Blocks of a full batch, along one axis: an even number, as the filter takes two at a time and
/// the result must not depend on where batches begin.
int batch_blocks(int samples, int step) {
  return 2 * std::max(1, samples / (2 * block_side * step));
}

int greatest_window(const Params& params) {
  int window = std::max(params.hard.window, params.wiener.window);
  if (params.temporal > 0)  // with the rounding of motion in small planes
    window = std::max({window, params.hard.temporal_window + 2, params.wiener.temporal_window + 2});
  return window;
}

}  // namespace

CudaPhases::CudaPhases(const Params& params, const FrameFormat& format, cudaStream_t stream)
    : params_(params),
      format_(format),
      stream_(stream),
      hard_window_(kaiser_window(params.hard.kaiser)),
      wiener_window_(kaiser_window(params.wiener.kaiser)) {
  sigma_ = format.layout == Layout::rgb ? opponent_sigma(params.sigma) : params.sigma;
  first_sets_ = plane_sets(Phase::first, params.temporal > 0, format, sigma_);
  second_sets_ = plane_sets(Phase::second, params.temporal > 0, format, sigma_);
  if (!filters_any()) return;
  plan_planes();
  plan_batches();
  if (params.hard.transform == Transform::dft)
    hard_dft_ = std::make_unique<DftFilter>(params.hard, Phase::first, stream);
  if (params.phases == 2 && params.wiener.transform == Transform::dft)
    wiener_dft_ = std::make_unique<DftFilter>(params.wiener, Phase::second, stream);
}

void CudaPhases::plan_planes() {
  for (int k = 0; k < (format_.subsampled() ? 2 : 1); ++k) {
    const int width = format_.plane_width(k), height = format_.plane_height(k);
    geometries_[k].margins = Margins(width, height, greatest_window(params_));
    if (!holds_a_patch(format_, k)) continue;
    geometries_[k].hard_grid = ReferenceGrid(width, height, params_.hard.step);
    geometries_[k].wiener_grid = ReferenceGrid(width, height, params_.wiener.step);
  }
  const std::size_t limit = cuda::shared_limit_for(match_blocks);
  if (params_.temporal == 0) {
    hard_plan_ = MatchPlan(params_.hard, limit);
    wiener_plan_ = MatchPlan(params_.wiener, limit);
  } else {
    hard_time_plan_ = TimePlan(params_.hard, 2 * params_.temporal, limit);
    wiener_time_plan_ = TimePlan(params_.wiener, 2 * params_.temporal, limit);
  }
  for (const auto* sets : {&first_sets_, &second_sets_})
    if (std::ranges::any_of(*sets, &PlaneSet::is_made) && made_guide_.get() == nullptr)
      made_guide_ = zeroed<float>(margins(1).size(), stream_);
}

void CudaPhases::plan_batches() {
  std::size_t references = 0, places = 0;
  for (const int i : {0, 1}) {
    if (i >= format_.planes() || !holds_a_patch(format_, i)) continue;
    for (const Phase which : {Phase::first, Phase::second}) {
      const PhaseParams& phase = parameters(which);
      const ReferenceGrid& grid =
          which == Phase::first ? geometry(i).hard_grid : geometry(i).wiener_grid;
      const std::size_t batch =
          static_cast<std::size_t>(block_references) *
          std::min(blocks_of(grid.count_x), batch_blocks(params_.batch.width, phase.step)) *
          std::min(blocks_of(grid.count_y), batch_blocks(params_.batch.height, phase.step));
      references = std::max(references, batch);
      places = std::max(places, batch * group_capacity(phase));
    }
  }
  displacements_ = cuda::DeviceBuffer<std::uint32_t>(places);
  log2_counts_ = cuda::DeviceBuffer<std::uint8_t>(references);
}

MotionGrid CudaPhases::motion_grid(Phase phase, const PlaneSet& set) const {
  const int plane = set.planes.front(), main = main_plane(format_.layout == Layout::rgb);
  return {format_.plane_width(plane),
          format_.plane_height(plane),
          parameters(phase).step,
          plane == 0 ? 0 : format_.chroma_shift_x,
          plane == 0 ? 0 : format_.chroma_shift_y,
          format_.plane_width(main),
          format_.plane_height(main)};
}

std::size_t CudaPhases::greatest_plane() const {
  std::size_t size = 0;
  for (const int i : {0, 1})
    if (i < format_.planes() && holds_a_patch(format_, i)) size = std::max(size, margins(i).size());
  return size;
}

int CudaPhases::planes_together() const {
  std::size_t most = 0;
  for (const auto* sets : {&first_sets_, &second_sets_})
    for (const PlaneSet& set : *sets) most = std::max(most, set.planes.size());
  return static_cast<int>(most);
}

/// What of a plane is matched in: the first phase's noisy plane, the second's mixed estimate.
MixedPlane CudaPhases::guide_of(Phase phase, const DeviceFrame& frame, int i) const {
  if (phase == Phase::first) return {frame.noisy[i]};
  return {basic_of(frame, i), frame.noisy[i], params_.guide_noise};
}

CudaPhases::GuidePlane CudaPhases::luma_guide(Phase phase, const DeviceFrame& frame) const {
  return {guide_of(phase, frame, 0), 0, 255,
          phase == Phase::first ? sigma_[0] : params_.guide_noise * sigma_[0]};
}

CudaPhases::GuidePlane CudaPhases::made_guide(Phase phase, const PlaneSet& set,
                                              const DeviceFrame& frame) {
  // Greatest magnitude of U and V; of YUV they lie in 0..255 as they are stored.
  constexpr float opponent_range[2] = {255 * 0.70710678f, 255 * 0.81649658f};
  ColourGuide mix{set.of_luma ? guide_of(phase, frame, 0) : MixedPlane{}, margins(0),
                  format_.chroma_shift_x, format_.chroma_shift_y};
  GuidePlane guide{{made_guide_.get()}, 0, set.of_luma ? 255.0f : 0.0f};
  for (int i = 1; i < format_.planes(); ++i) {
    const float weight = set.of_chroma[i - 1];
    if (weight == 0) continue;
    mix.chroma[i - 1] = guide_of(phase, frame, i);
    mix.weight[i - 1] = weight;
    const bool rgb = format_.layout == Layout::rgb;
    const float ends[2] = {rgb ? -weight * opponent_range[i - 1] : 0.0f,
                           weight * (rgb ? opponent_range[i - 1] : 255.0f)};
    guide.low += std::min(ends[0], ends[1]);
    guide.high += std::max(ends[0], ends[1]);
  }
  guide.sigma =
      guide_sigma(set, format_, sigma_) * (phase == Phase::first ? 1 : params_.guide_noise);
  mix_guide(mix, margins(1), made_guide_.get(), stream_);
  return guide;
}

Guide CudaPhases::make_guide(Phase phase, const PlaneSet& set, const DeviceFrame& frame,
                             const GuideBuffer& to) {
  const GuidePlane plane = set.is_made() ? made_guide(phase, set, frame) : luma_guide(phase, frame);
  // Integer samples are clipped as they are stored; noise of float samples, and sums of planes,
  // reach beyond.
  const bool clipped = format_.sample != SampleType::f32 && !set.has_chroma();
  const float beyond = clipped ? 0 : 3 * plane.sigma;
  const PhaseParams& parameters = this->parameters(phase);
  float greatest = parameters.tau * set.tau_factor;
  if (params_.temporal > 0) greatest += parameters.place_bonus;
  Guide guide{to.samples, to.half_norms};
  guide.offset = plane.low - beyond;
  // Noise that makes for a great tau hides that the guide's steps are wider then.
  guide.scale = std::min(255 / (plane.high - plane.low + 2 * beyond), greatest_scale(greatest));
  ClearedSums sums{static_cast<int>(set.planes.size())};
  for (int k = 0; k < sums.planes; ++k) sums.of[k] = frame.sums[set.planes[k]];
  bm3d::make_guide(plane.plane, margins(set.planes.front()), guide.scale, guide.offset, to.samples,
                   to.half_norms, sums, stream_);
  return guide;
}

void CudaPhases::filter(Phase which, const PlaneSet& set, const DeviceFrame& frame,
                        std::span<const SearchFrame> frames, std::span<const int> distance) {
  const bool first = which == Phase::first;
  PhaseParams phase = parameters(which);
  phase.tau *= set.tau_factor;
  const Geometry& shape = geometry(set.planes.front());

  FilterArgs args;
  args.planes = static_cast<int>(set.planes.size());
  args.margins = shape.margins;
  args.grid = first ? shape.hard_grid : shape.wiener_grid;
  args.groups = {displacements_.get(), log2_counts_.get(), group_capacity(phase)};
  args.window = first ? hard_window_ : wiener_window_;
  args.frames.over_time = params_.temporal > 0;
  args.frames.grid = motion_grid(which, set);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int at = frames[i].offset + max_temporal;
    args.frames.present[at] = true;
    args.frames.distance[at] = distance[i];
    args.frames.motion[at] = frames[i].motion;
  }
  for (int k = 0; k < args.planes; ++k) {
    const int i = set.planes[k];
    args.noisy[k] = frame.noisy[i];
    args.basic[k] = frame.basic[i];
    args.sums[k] = frame.sums[i];
    args.sigma[k] = sigma_[i];
  }
  run_batches(which, phase, frames, args);
}

void CudaPhases::normalise(Phase phase, int i, const DeviceFrame& frame, float* estimate) {
  bm3d::normalise(frame.sums[i], frame.noisy[i], margins(i),
                  phase == Phase::first ? hard_window_ : wiener_window_, estimate, stream_);
}

void CudaPhases::run_batches(Phase which, const PhaseParams& phase,
                             std::span<const SearchFrame> frames, FilterArgs& args) {
  const bool first = which == Phase::first;
  const Strength strength =
      first ? Strength{params_.lambda, params_.lambda_mean} : Strength{params_.mu2};
  DftFilter* dft = first ? hard_dft_.get() : wiener_dft_.get();
  const int blocks_x = blocks_of(args.grid.count_x), blocks_y = blocks_of(args.grid.count_y);
  const int step_x = batch_blocks(params_.batch.width, phase.step);
  const int step_y = batch_blocks(params_.batch.height, phase.step);
  Batch& batch = args.batch;
  for (batch.y0 = 0; batch.y0 < blocks_y; batch.y0 += step_y) {
    batch.blocks_y = std::min(step_y, blocks_y - batch.y0);
    for (batch.x0 = 0; batch.x0 < blocks_x; batch.x0 += step_x) {
      batch.blocks_x = std::min(step_x, blocks_x - batch.x0);
      if (args.frames.over_time)
        match_over_time(frames, args.margins, args.grid, args.frames.grid, batch, phase,
                        first ? hard_time_plan_ : wiener_time_plan_, args.groups, stream_);
      else
        match(frames.front().guide, args.margins, args.grid, batch, phase,
              first ? hard_plan_ : wiener_plan_, args.groups, stream_);
      if (dft != nullptr)
        dft->run(args, strength);
      else if (first)
        filter_hard(args, phase, strength, stream_);
      else
        filter_wiener(args, phase, strength, stream_);
    }
  }
}

}  // namespace lull::bm3d
