#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "bm3d/colour.h"
#include "bm3d/cuda_slot.h"
#include "bm3d/guide.h"
#include "bm3d/kaiser.h"
#include "core/error.h"
#include "cuda/nvtx.h"
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

template <class T>
void clear(const cuda::DeviceBuffer<T>& buffer, std::size_t count, cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(buffer.get(), 0, count * sizeof(T), stream));
}

/// Zeroed, so that margins hold no noise: they are read, though nothing depends on them.
template <class T>
cuda::DeviceBuffer<T> zeroed(std::size_t size, cudaStream_t stream) {
  cuda::DeviceBuffer<T> buffer(size);
  clear(buffer, size, stream);
  return buffer;
}

}  // namespace

CudaSlot::CudaSlot(const Params& params, const FrameFormat& format)
    : params_(params), format_(format), stream_(cuda::make_stream()), done_(cuda::make_event()) {
  sigma_ = format.layout == Layout::rgb ? opponent_sigma(params.sigma) : params.sigma;
  raw_planes_.sample = format.sample;
  raw_planes_.full_scale = format.full_scale();
  for (int i = 0; i < format.planes(); ++i) {
    if (is_filtered(i)) (i == 0 ? luma_ : chroma_).push_back(i);
    constexpr int row_alignment = 64;
    raw_planes_.pitch[i] =
        divide_up(format.plane_width(i) * format.bytes_per_sample(), row_alignment) * row_alignment;
    raw_[i] = zeroed<std::byte>(  // padding is read too, four samples at a time
        static_cast<std::size_t>(raw_planes_.pitch[i]) * format.plane_height(i), stream_.get());
    raw_planes_.data[i] = raw_[i].get();
  }
  if (luma_.empty() && chroma_.empty()) return;
  plan_planes();
  plan_batches();
  if (params.hard.transform == Transform::dft)
    hard_dft_ = std::make_unique<DftFilter>(params.hard, Phase::first, stream_.get());
  if (params.phases == 2 && params.wiener.transform == Transform::dft)
    wiener_dft_ = std::make_unique<DftFilter>(params.wiener, Phase::second, stream_.get());
  // Once for the driver to load what it loads late, then as one graph: a launch of each kernel by
  // itself would keep the host as busy as a fast profile keeps the device.
  run_kernels();
  kernels_ = cuda::capture(stream_.get(), [this] { run_kernels(); });
  cuda::check(cudaStreamSynchronize(stream_.get()));
}

CudaSlot::~CudaSlot() { (void)cudaStreamSynchronize(stream_.get()); }

bool CudaSlot::holds_a_patch(int i) const {
  return format_.plane_width(i) >= patch && format_.plane_height(i) >= patch;
}

bool CudaSlot::is_filtered(int i) const { return sigma_[i] > 0 && holds_a_patch(i); }

void CudaSlot::plan_planes() {
  for (int k = 0; k < (format_.subsampled() ? 2 : 1); ++k) {
    const int width = format_.plane_width(k), height = format_.plane_height(k);
    geometries_[k].margins =
        Margins(width, height, std::max(params_.hard.window, params_.wiener.window));
    if (!holds_a_patch(k)) continue;
    geometries_[k].hard_grid = ReferenceGrid(width, height, params_.hard.step);
    geometries_[k].wiener_grid = ReferenceGrid(width, height, params_.wiener.step);
  }
  hard_plan_ = MatchPlan(params_.hard, cuda::shared_limit_for(match_blocks));
  wiener_plan_ = MatchPlan(params_.wiener, cuda::shared_limit_for(match_blocks));
  for (int i = 0; i < format_.planes(); ++i) {
    const std::size_t size = geometry(i).margins.size();
    noisy_planes_[i] = zeroed<float>(size, stream_.get());
    if (!is_filtered(i)) continue;
    basic_[i] = zeroed<float>(size, stream_.get());
    if (params_.phases == 2) result_[i] = zeroed<float>(size, stream_.get());
  }
  if (!chroma_.empty()) colour_guide_ = zeroed<float>(geometry(1).margins.size(), stream_.get());
}

void CudaSlot::plan_batches() {
  // Planes that are filtered together: luma alone, chroma, or all where they have equal sizes.
  const std::size_t together = std::max(
      {luma_.size(), chroma_.size(), format_.subsampled() ? 0 : luma_.size() + chroma_.size()});
  std::size_t samples = 0, references = 0, places = 0;
  for (const int i : {0, 1}) {
    if (i >= format_.planes() || !holds_a_patch(i)) continue;
    const Geometry& g = geometry(i);
    samples = std::max(samples, g.margins.size());
    for (const PhaseParams* phase : {&params_.hard, &params_.wiener}) {
      const ReferenceGrid& grid = phase == &params_.hard ? g.hard_grid : g.wiener_grid;
      const std::size_t batch =
          static_cast<std::size_t>(block_references) *
          std::min(blocks_of(grid.count_x), batch_blocks(params_.batch.width, phase->step)) *
          std::min(blocks_of(grid.count_y), batch_blocks(params_.batch.height, phase->step));
      references = std::max(references, batch);
      places = std::max(places, batch * group_capacity(*phase));
    }
  }
  guide_samples_ = zeroed<std::uint8_t>(samples, stream_.get());
  half_norms_ = cuda::DeviceBuffer<std::int32_t>(samples);
  for (std::size_t i = 0; i < together; ++i) {
    numerators_[i] = cuda::DeviceBuffer<unsigned long long>(samples);
    denominators_[i] = cuda::DeviceBuffer<std::uint32_t>(samples);
  }
  displacements_ = cuda::DeviceBuffer<std::uint32_t>(places);
  log2_counts_ = cuda::DeviceBuffer<std::uint8_t>(references);
}

void CudaSlot::start(Frame noisy, Frame clean) {
  clean.take_identity(noisy);
  const bool filters = !luma_.empty() || !chroma_.empty();
  if (filters || noisy.on_device) bring_samples(noisy);
  if (filters) cuda::check(cudaGraphLaunch(kernels_.get(), stream_.get()));
  take_samples(noisy, clean);
  cuda::check(cudaEventRecord(done_.get(), stream_.get()));
  noisy_ = std::move(noisy);
  clean_ = std::move(clean);
}

std::optional<Frame> CudaSlot::finish() {
  if (!clean_) return std::nullopt;
  const cuda::NvtxRange range("wait for the oldest frame");
  cuda::check(cudaEventSynchronize(done_.get()));
  noisy_.reset();
  return std::exchange(clean_, std::nullopt);
}

void CudaSlot::bring_samples(const Frame& noisy) {
  if (noisy.on_device)
    return device_pictures_.read(*noisy.on_device, format_, raw_planes_, stream_.get());
  for (int i = 0; i < format_.planes(); ++i) {
    const auto& plane = noisy.planes[i];
    cuda::check(cudaMemcpy2DAsync(raw_[i].get(), raw_planes_.pitch[i], plane.data, plane.stride,
                                  plane.width, plane.height, cudaMemcpyHostToDevice,
                                  stream_.get()));
  }
}

void CudaSlot::to_planes() {
  const auto convert = [&](int first, int count, Colour colour) {
    std::array<float*, max_planes> planes{};
    for (int i = 0; i < count; ++i) planes[i] = noisy_planes_[first + i].get();
    samples_to_planes(raw_planes_, first, count, colour, geometry(first).margins, planes,
                      stream_.get());
  };
  if (format_.layout == Layout::rgb) return convert(0, 3, Colour::opponent);
  for (int i = 0; i < format_.planes(); ++i) convert(i, 1, Colour::as_is);
}

bool CudaSlot::changes(int i) const { return params_.sigma[i] > 0 && holds_a_patch(i); }

void CudaSlot::to_samples() {
  if (luma_.empty() && chroma_.empty()) return;
  const PlaneBuffers& results = params_.phases == 1 ? basic_ : result_;
  const auto convert = [&](int first, int count, Colour colour) {
    Planes planes{};
    for (int i = 0; i < count; ++i) planes[i] = estimate(results, first + i);
    planes_to_samples(planes, first, count, colour, geometry(first).margins, raw_planes_,
                      stream_.get());
  };
  if (format_.layout == Layout::rgb) return convert(0, 3, Colour::opponent);
  for (int i = 0; i < format_.planes(); ++i)
    if (changes(i)) convert(i, 1, Colour::as_is);
}

void CudaSlot::take_samples(const Frame& noisy, Frame& clean) {
  for (int i = 0; i < format_.planes(); ++i) {
    const auto& to = clean.planes[i];
    if (changes(i) || noisy.on_device) {  // a plane that passes through is in raw_ as it came
      cuda::check(cudaMemcpy2DAsync(to.data, to.stride, raw_[i].get(), raw_planes_.pitch[i],
                                    to.width, to.height, cudaMemcpyDeviceToHost, stream_.get()));
    } else {  // passes through, exactly
      for (int y = 0; y < to.height; ++y) std::memcpy(to.row(y), noisy.planes[i].row(y), to.width);
    }
  }
}

void CudaSlot::run_kernels() {
  to_planes();
  filter();
  to_samples();
}

void CudaSlot::upload(const Frame& noisy) {
  const cuda::NvtxRange range("upload");
  bring_samples(noisy);
  to_planes();
}

void CudaSlot::download(const Frame& noisy, Frame& clean) {
  const cuda::NvtxRange range("download");
  to_samples();
  take_samples(noisy, clean);
}

const float* CudaSlot::estimate(const PlaneBuffers& estimates, int i) const {
  return is_filtered(i) ? estimates[i].get() : noisy_planes_[i].get();
}

/// What of a plane is matched in: the first phase's noisy plane, the second's mixed estimate.
MixedPlane CudaSlot::guide_of(Phase which, int i) const {
  if (which == Phase::first) return {noisy_planes_[i].get()};
  return {estimate(basic_, i), noisy_planes_[i].get(), params_.guide_noise};
}

CudaSlot::GuidePlane CudaSlot::luma_guide(Phase which) const {
  return {guide_of(which, 0), 0, 255,
          which == Phase::first ? sigma_[0] : params_.guide_noise * sigma_[0]};
}

CudaSlot::GuidePlane CudaSlot::colour_guide(Phase which) {
  // Greatest magnitude of U and V; of YUV they lie in 0..255 as they are stored.
  constexpr float opponent_range[2] = {255 * 0.70710678f, 255 * 0.81649658f};
  const bool with_luma = which == Phase::second;
  ColourGuide mix{with_luma ? guide_of(which, 0) : MixedPlane{}, geometry(0).margins,
                  format_.chroma_shift_x, format_.chroma_shift_y};
  GuidePlane guide{{colour_guide_.get()}, 0, with_luma ? 255.0f : 0.0f};
  float variance = 0;
  for (const int i : chroma_) {
    const float magnitude = chroma_.size() == 2 ? chroma_weight : 1.0f;
    const float weight = i == 1 ? magnitude : -magnitude;
    mix.chroma[i - 1] = guide_of(which, i);
    mix.weight[i - 1] = weight;
    const bool rgb = format_.layout == Layout::rgb;
    const float ends[2] = {rgb ? -weight * opponent_range[i - 1] : 0.0f,
                           weight * (rgb ? opponent_range[i - 1] : 255.0f)};
    guide.low += std::min(ends[0], ends[1]);
    guide.high += std::max(ends[0], ends[1]);
    variance += weight * weight * sigma_[i] * sigma_[i];
  }
  guide.sigma = std::sqrt(variance) * (which == Phase::first ? 1 : params_.guide_noise);
  mix_guide(mix, geometry(1).margins, colour_guide_.get(), stream_.get());
  return guide;
}

/// See guide.h for what is matched where.
void CudaSlot::filter() {
  {
    const cuda::NvtxRange range("first phase");
    if (!luma_.empty()) run_phase(Phase::first, luma_, luma_guide(Phase::first));
    if (!chroma_.empty()) run_phase(Phase::first, chroma_, colour_guide(Phase::first));
  }
  if (params_.phases == 1) return;
  const cuda::NvtxRange range("second phase");
  if (!luma_.empty() && (chroma_.empty() || format_.subsampled()))
    run_phase(Phase::second, luma_, luma_guide(Phase::second));
  if (chroma_.empty()) return;
  std::vector<int> planes = format_.subsampled() ? std::vector<int>{} : luma_;
  planes.insert(planes.end(), chroma_.begin(), chroma_.end());
  run_phase(Phase::second, planes, colour_guide(Phase::second), colour_tau);
}

Guide CudaSlot::quantise(const GuidePlane& plane, const FilterArgs& args, float tau) {
  // Integer samples are clipped as they are stored; noise of float samples, and sums of planes,
  // reach beyond.
  const bool clipped =
      format_.sample != SampleType::f32 && plane.plane.estimate != colour_guide_.get();
  const float beyond = clipped ? 0 : 3 * plane.sigma;
  Guide guide{guide_samples_.get(), half_norms_.get()};
  guide.offset = plane.low - beyond;
  // Noise that makes for a great tau hides that the guide's steps are wider then.
  guide.scale = std::min(255 / (plane.high - plane.low + 2 * beyond), greatest_scale(tau));
  make_guide(plane.plane, args.margins, guide.scale, guide.offset, guide_samples_.get(),
             half_norms_.get(), {args.planes, args.sums}, stream_.get());
  return guide;
}

void CudaSlot::run_phase(Phase which, const std::vector<int>& planes, const GuidePlane& guide,
                         float tau_factor) {
  const bool first = which == Phase::first;
  PhaseParams phase = first ? params_.hard : params_.wiener;
  phase.tau *= tau_factor;
  const Geometry& shape = geometry(planes.front());

  FilterArgs args;
  args.planes = static_cast<int>(planes.size());
  args.margins = shape.margins;
  args.grid = first ? shape.hard_grid : shape.wiener_grid;
  args.groups = {displacements_.get(), log2_counts_.get(), group_capacity(phase)};
  args.window = kaiser_window(phase.kaiser);
  for (int k = 0; k < args.planes; ++k) {
    const int i = planes[k];
    args.noisy[k] = noisy_planes_[i].get();
    args.basic[k] = basic_[i].get();
    args.sums[k] = {numerators_[k].get(), denominators_[k].get()};
    args.sigma[k] = sigma_[i];
  }
  run_batches(which, phase, quantise(guide, args, phase.tau), args);
  for (int k = 0; k < args.planes; ++k)
    normalise(args.sums[k], args.noisy[k], shape.margins, args.window,
              (first ? basic_ : result_)[planes[k]].get(), stream_.get());
}

void CudaSlot::run_batches(Phase which, const PhaseParams& phase, const Guide& guide,
                           FilterArgs& args) {
  const bool first = which == Phase::first;
  const MatchPlan& plan = first ? hard_plan_ : wiener_plan_;
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
      match(guide, args.margins, args.grid, batch, phase, plan, args.groups, stream_.get());
      if (dft != nullptr)
        dft->run(args, strength);
      else if (first)
        filter_hard(args, phase, strength, stream_.get());
      else
        filter_wiener(args, phase, strength, stream_.get());
    }
  }
}

}  // namespace lull::bm3d
