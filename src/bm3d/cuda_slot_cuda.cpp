#include <algorithm>
#include <cmath>
#include <cstring>

#include "bm3d/colour.h"
#include "bm3d/cuda_slot.h"
#include "bm3d/kaiser.h"
#include "core/error.h"
#include "cuda/nvtx.h"

namespace lull::bm3d {
namespace {

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

// Matching hides its latencies with two blocks on a multiprocessor; each costs 1 KB on top.
std::size_t match_shared_limit() {
  const int block = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int half = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 2 - 1024;
  return static_cast<std::size_t>(std::min(block, half));
}

constexpr int divide_up(int value, int by) { return (value + by - 1) / by; }

int blocks_of(int references) { return divide_up(references, block_side); }

/// Blocks of a full batch, along each axis.
int batch_blocks(int samples, int step) { return std::max(1, samples / (block_side * step)); }

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
    constexpr int row_alignment = 64;
    raw_planes_.pitch[i] =
        divide_up(format.plane_width(i) * format.bytes_per_sample(), row_alignment) * row_alignment;
    raw_[i] = cuda::DeviceBuffer<std::byte>(static_cast<std::size_t>(raw_planes_.pitch[i]) *
                                            format.plane_height(i));
    raw_planes_.data[i] = raw_[i].get();
  }
  const int in_first_set = format.subsampled() ? 1 : format.planes();
  for (const auto& [first, last] : {std::pair(0, in_first_set), std::pair(in_first_set, 3)}) {
    if (last > format.planes() || first == last) continue;
    auto set = std::make_unique<PlaneSet>();
    plan_set(*set, first, last);
    sets_.push_back(std::move(set));
  }

  std::size_t samples = 0, places = 0, references = 0, planes = 0;
  for (const auto& set : sets_) {
    if (set->planes.empty()) continue;
    samples = std::max(samples, set->margins.size());
    planes = std::max(planes, set->planes.size());
    for (const PhaseParams* phase : {&params.hard, &params.wiener}) {
      const ReferenceGrid& grid = phase == &params.hard ? set->hard_grid : set->wiener_grid;
      const std::size_t batch =
          static_cast<std::size_t>(block_references) *
          std::min(blocks_of(grid.count_x), batch_blocks(params.batch.width, phase->step)) *
          std::min(blocks_of(grid.count_y), batch_blocks(params.batch.height, phase->step));
      references = std::max(references, batch);
      places = std::max(places, batch * group_capacity(*phase));
    }
  }
  guide_samples_ = zeroed<std::uint8_t>(samples, stream_.get());
  half_norms_ = cuda::DeviceBuffer<std::int32_t>(samples);
  for (std::size_t i = 0; i < planes; ++i) {
    numerators_[i] = cuda::DeviceBuffer<unsigned long long>(samples);
    denominators_[i] = cuda::DeviceBuffer<std::uint32_t>(samples);
  }
  displacements_ = cuda::DeviceBuffer<std::uint32_t>(places);
  log2_counts_ = cuda::DeviceBuffer<std::uint8_t>(references);
  if (samples > 0 && params.hard.transform == Transform::dft)
    hard_dft_ = std::make_unique<DftFilter>(params.hard, Phase::first, stream_.get());
  if (samples > 0 && params.phases == 2 && params.wiener.transform == Transform::dft)
    wiener_dft_ = std::make_unique<DftFilter>(params.wiener, Phase::second, stream_.get());
  cuda::check(cudaStreamSynchronize(stream_.get()));
}

CudaSlot::~CudaSlot() { (void)cudaStreamSynchronize(stream_.get()); }

bool CudaSlot::is_filtered(int i) const {
  return sigma_[i] > 0 && format_.plane_width(i) >= patch && format_.plane_height(i) >= patch;
}

void CudaSlot::plan_set(PlaneSet& set, int first, int last) {
  set.first = first;
  set.last = last;
  for (int i = first; i < last; ++i)
    if (is_filtered(i)) set.planes.push_back(i);
  const int width = format_.plane_width(first), height = format_.plane_height(first);
  set.margins = Margins(width, height, std::max(params_.hard.window, params_.wiener.window));
  // The luma is needed for matching chroma even where it is not filtered itself.
  for (int i = first; i < last; ++i)
    set.noisy[i] = zeroed<float>(set.margins.size(), stream_.get());
  if (set.planes.empty()) return;
  const std::size_t shared = match_shared_limit();
  set.hard_grid = ReferenceGrid(width, height, params_.hard.step);
  set.wiener_grid = ReferenceGrid(width, height, params_.wiener.step);
  set.hard_plan = MatchPlan(params_.hard, shared);
  set.wiener_plan = MatchPlan(params_.wiener, shared);
  for (const int i : set.planes) {
    set.basic[i] = zeroed<float>(set.margins.size(), stream_.get());
    if (params_.phases == 2) set.result[i] = zeroed<float>(set.margins.size(), stream_.get());
  }
  if (first > 0)
    for (auto* guide : {&chroma_guide_, &chroma_guide_final_})
      *guide = zeroed<float>(set.margins.size(), stream_.get());
}

void CudaSlot::start(Frame noisy, Frame clean) {
  clean.take_identity(noisy);
  upload(noisy);
  filter();
  download(noisy, clean);
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

void CudaSlot::upload(const Frame& noisy) {
  const cuda::NvtxRange range("upload");
  for (int i = 0; i < format_.planes(); ++i) {
    const auto& plane = noisy.planes[i];
    cuda::check(cudaMemcpy2DAsync(raw_[i].get(), raw_planes_.pitch[i], plane.data, plane.stride,
                                  plane.width, plane.height, cudaMemcpyHostToDevice,
                                  stream_.get()));
  }
  for (const auto& set : sets_) {
    std::array<float*, max_planes> planes{};
    for (int i = set->first; i < set->last; ++i) planes[i - set->first] = set->noisy[i].get();
    samples_to_planes(raw_planes_, set->first, set->last - set->first,
                      format_.layout == Layout::rgb ? Colour::opponent : Colour::as_is,
                      set->margins, planes, stream_.get());
  }
}

void CudaSlot::download(const Frame& noisy, Frame& clean) {
  const cuda::NvtxRange range("download");
  for (const auto& set : sets_) {
    if (set->planes.empty()) continue;
    Planes planes{};
    for (int i = set->first; i < set->last; ++i)
      planes[i - set->first] = !is_filtered(i)       ? set->noisy[i].get()
                               : params_.phases == 1 ? set->basic[i].get()
                                                     : set->result[i].get();
    planes_to_samples(planes, set->first, set->last - set->first,
                      format_.layout == Layout::rgb ? Colour::opponent : Colour::as_is,
                      set->margins, raw_planes_, stream_.get());
  }
  for (int i = 0; i < format_.planes(); ++i) {
    const auto& to = clean.planes[i];
    if (is_filtered(i) && params_.sigma[i] > 0) {
      cuda::check(cudaMemcpy2DAsync(to.data, to.stride, raw_[i].get(), raw_planes_.pitch[i],
                                    to.width, to.height, cudaMemcpyDeviceToHost, stream_.get()));
    } else {  // passes through, exactly
      for (int y = 0; y < to.height; ++y) std::memcpy(to.row(y), noisy.planes[i].row(y), to.width);
    }
  }
}

void CudaSlot::filter() {
  // Estimates of the luma after a phase; the luma itself where it is free of noise.
  PlaneSet& first = *sets_.front();
  const auto luma = [&](const std::array<cuda::DeviceBuffer<float>, max_planes>& estimate) {
    return is_filtered(0) ? estimate[0].get() : first.noisy[0].get();
  };
  if (!first.planes.empty())
    filter_set(first, {first.noisy[0].get(), sigma_[0], luma(first.basic)});
  if (sets_.size() < 2 || sets_[1]->planes.empty()) return;

  PlaneSet& chroma = *sets_[1];
  const int shift_x = format_.chroma_shift_x, shift_y = format_.chroma_shift_y;
  average_plane(first.noisy[0].get(), first.margins, shift_x, shift_y, chroma_guide_.get(),
                chroma.margins, stream_.get());
  average_plane(params_.phases == 2 ? luma(first.result) : luma(first.basic), first.margins,
                shift_x, shift_y, chroma_guide_final_.get(), chroma.margins, stream_.get());
  const auto averaged = std::sqrt(static_cast<float>(1 << (shift_x + shift_y)));
  filter_set(chroma, {chroma_guide_.get(), sigma_[0] / averaged, chroma_guide_final_.get()});
}

void CudaSlot::filter_set(PlaneSet& set, const Guides& guides) {
  {
    const cuda::NvtxRange range("first phase");
    run_phase(set, Phase::first, guides.hard, Blur::none, guides.sigma);
  }
  if (params_.phases == 1) return;
  const cuda::NvtxRange range("second phase");
  run_phase(set, Phase::second, guides.wiener, Blur::none, 0);
}

void CudaSlot::run_phase(PlaneSet& set, Phase which, const float* guide_plane, Blur blur,
                         float guide_sigma) {
  const bool first = which == Phase::first;
  const PhaseParams& phase = first ? params_.hard : params_.wiener;
  const MatchPlan& plan = first ? set.hard_plan : set.wiener_plan;
  cudaStream_t stream = stream_.get();

  FilterArgs args;
  args.planes = static_cast<int>(set.planes.size());
  args.margins = set.margins;
  args.grid = first ? set.hard_grid : set.wiener_grid;
  args.groups = {displacements_.get(), log2_counts_.get(), group_capacity(phase)};
  args.window = kaiser_window(phase.kaiser);
  for (int k = 0; k < args.planes; ++k) {
    const int i = set.planes[k];
    args.noisy[k] = set.noisy[i].get();
    args.basic[k] = set.basic[i].get();
    args.sums[k] = {numerators_[k].get(), denominators_[k].get()};
    args.sigma[k] = sigma_[i];
    clear(numerators_[k], set.margins.size(), stream);
    clear(denominators_[k], set.margins.size(), stream);
  }

  // Integer samples lie in 0..255; noise of float samples reaches beyond.
  Guide guide{guide_samples_.get(), half_norms_.get()};
  if (format_.sample == SampleType::f32) {
    const float beyond = 3 * guide_sigma;
    guide.offset = -beyond;
    guide.scale = 255 / (255 + 2 * beyond);
  }
  make_guide(guide_plane, set.margins, blur, guide.scale, guide.offset, guide_samples_.get(),
             half_norms_.get(), stream);

  const int blocks_x = blocks_of(args.grid.count_x), blocks_y = blocks_of(args.grid.count_y);
  Batch& batch = args.batch;
  const int step_x = batch_blocks(params_.batch.width, phase.step);
  const int step_y = batch_blocks(params_.batch.height, phase.step);
  DftFilter* dft = first ? hard_dft_.get() : wiener_dft_.get();
  for (batch.y0 = 0; batch.y0 < blocks_y; batch.y0 += step_y) {
    batch.blocks_y = std::min(step_y, blocks_y - batch.y0);
    for (batch.x0 = 0; batch.x0 < blocks_x; batch.x0 += step_x) {
      batch.blocks_x = std::min(step_x, blocks_x - batch.x0);
      match(guide, set.margins, args.grid, batch, phase, plan, args.groups, stream);
      if (dft != nullptr)
        dft->run(args, first ? params_.lambda : params_.mu2);
      else if (first)
        filter_hard(args, phase, params_.lambda, stream);
      else
        filter_wiener(args, phase, params_.mu2, stream);
    }
  }
  for (int k = 0; k < args.planes; ++k) {
    const int i = set.planes[k];
    normalise(args.sums[k], args.noisy[k], set.margins, args.window,
              first ? set.basic[i].get() : set.result[i].get(), stream);
  }
}

}  // namespace lull::bm3d
