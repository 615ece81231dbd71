#include <utility>

#include "bm3d/cuda/slot.h"
#include "cuda/nvtx.h"
#include "cuda/results/result_frames.h"

namespace lull::bm3d {

CudaSlot::CudaSlot(const Params& params, const FrameFormat& format,
                   cuda::MatcherFactory make_matcher, const std::optional<FrameFormat>& results)
    : params_(params),
      format_(format),
      stream_(cuda::make_stream()),
      done_(cuda::make_event()),
      phases_(params, format, stream_.get(), make_matcher),
      chroma_lane_(ChromaLane::make(params, format, phases_, make_matcher)),
      raw_(format, stream_.get(), params.noise.levels_in_samples(),
           curves_of(stabilisers_of(params, format.layout)), results),
      guide_frame_(params.noise.levels_in_samples(), stabilisers_of(params, Layout::gray),
                   Colour::opponent) {
  if (!phases_.filters_any()) return;
  plan_buffers();
  if (params_.linear_combinations)
    linear_ = std::make_unique<linear::DeviceFilter>(
        format_, filtered_noise(params_.noise, format_), params_.guided,
        std::array{phases_.margins(0), phases_.margins(1), phases_.margins(2)}, stream_.get());
  // The slot captures the kernels of a frame as a CUDA graph to save launch time. A run before the
  // capture loads the code of all kernels.
  run_kernels();
  kernels_ = cuda::capture(stream_.get(), [this] { run_kernels(); });
  cuda::check(cudaStreamSynchronize(stream_.get()));
}

CudaSlot::~CudaSlot() { (void)cudaStreamSynchronize(stream_.get()); }

void CudaSlot::plan_buffers() {
  for (int i = 0; i < format_.planes(); ++i) {
    const std::size_t size = phases_.margins(i).size();
    noisy_[i] = zeroed<float>(size, stream_.get());
    if (params_.guided) guide_planes_[i] = zeroed<float>(size, stream_.get());
    if (!phases_.is_filtered(i)) continue;
    basic_[i] = zeroed<float>(size, stream_.get());
    if (params_.phases == 2 && !params_.linear_combinations)
      result_[i] = zeroed<float>(size, stream_.get());
  }
  const std::size_t greatest = phases_.largest_plane();
  if (params_.holes) invalid_ = zeroed<std::uint8_t>(greatest, stream_.get());
  if (params_.linear_combinations) return;  // `linear_` has its own guides, groups and sums
  if (params_.holes) candidate_norms_ = cuda::DeviceBuffer<std::int32_t>(greatest);
  for (std::size_t n = 0; n < (chroma_lane_ ? 2 : 1); ++n) {
    Scratch& scratch = scratch_[n];
    // The scratch memory of the chroma stream (element 1) has the size of plane 1, the largest
    // plane of this stream.
    const std::size_t size = n == 0 ? greatest : phases_.margins(1).size();
    scratch.guide_samples = zeroed<std::uint8_t>(size, stream_.get());
    scratch.half_norms = cuda::DeviceBuffer<std::int32_t>(size);
    for (int k = 0; k < phases_.max_planes_per_set(); ++k) {
      scratch.numerators[k] = cuda::DeviceBuffer<unsigned long long>(size);
      scratch.denominators[k] = cuda::DeviceBuffer<std::uint32_t>(size);
    }
  }
  for (const PlaneSet& set : phases_.sets(Phase::first)) {
    const std::size_t references = phases_.kept_references(set);
    if (references == 0) continue;
    const int i = set.planes.front();
    kept_displacements_[i] =
        zeroed<std::uint32_t>(references * phases_.kept_capacity(), stream_.get());
    kept_counts_[i] = cuda::DeviceBuffer<std::uint8_t>(references);
  }
}

void CudaSlot::start(Frame noisy, Frame clean) {
  clean.copy_info(noisy);
  if (phases_.filters_any() || noisy.on_device || clean.on_device)
    raw_.upload(noisy, stream_.get());
  if (phases_.filters_any() && params_.guided) upload_guide(noisy);
  upload_holes(noisy);
  if (phases_.filters_any()) cuda::check(cudaGraphLaunch(kernels_.get(), stream_.get()));
  download_samples(noisy, clean);
  cuda::check(cudaEventRecord(done_.get(), stream_.get()));
  noisy_in_flight_ = std::move(noisy);
  in_flight_ = cuda::publish_frame(std::move(clean));
}

std::optional<Frame> CudaSlot::finish() {
  if (!in_flight_) return std::nullopt;
  const cuda::NvtxRange range("wait for the oldest frame");
  cuda::check(cudaEventSynchronize(done_.get()));
  noisy_in_flight_.reset();
  return std::exchange(in_flight_, std::nullopt);
}

void CudaSlot::upload_holes(const Frame& noisy) {
  if (!params_.holes || !phases_.filters_any()) return;
  copy_reached(noisy, linear_ ? 1 : patch, invalid_.get(), stream_.get());
}

void CudaSlot::to_planes() { to_planes(raw_, noisy_); }

void CudaSlot::to_planes(const RawFrame& raw, const PlaneBuffers& to) {
  std::array<const Margins*, max_planes> margins{};
  std::array<float*, max_planes> planes{};
  for (int i = 0; i < format_.planes(); ++i)
    margins[i] = &phases_.margins(i), planes[i] = to[i].get();
  raw.to_planes(margins, planes, stream_.get());
}

void CudaSlot::upload_guide(const Frame& noisy) {
  guide_frame_.upload(noisy, stream_.get());
  to_planes(guide_frame_.raw(), guide_planes_);
}

void CudaSlot::to_samples() {
  if (!phases_.filters_any()) return;
  const PlaneBuffers& results = params_.phases == 1 || linear_ ? basic_ : result_;
  const auto result = [&](int i) -> const float* {
    return phases_.is_filtered(i) ? results[i].get() : noisy_[i].get();
  };
  if (format_.layout == Layout::rgb)
    raw_.from_opponents(phases_.margins(0), {result(0), result(1), result(2)}, stream_.get());
  else
    for (int i = 0; i < format_.planes(); ++i)
      if (phases_.changes(i)) raw_.from_plane(i, phases_.margins(i), result(i), stream_.get());
  raw_.restore(raw_.planes(), stream_.get());
}

void CudaSlot::download_samples(const Frame& noisy, Frame& clean) {
  for (int i = 0; i < format_.planes(); ++i) {
    if (phases_.changes(i))
      raw_.download(i, clean, stream_.get());
    else
      raw_.pass_through(i, noisy, clean, stream_.get());
  }
}

void CudaSlot::run_kernels() {
  to_planes();
  filter();
  to_samples();
}

void CudaSlot::upload(const Frame& noisy) {
  const cuda::NvtxRange range("upload");
  raw_.upload(noisy, stream_.get());
  upload_holes(noisy);
  to_planes();
}

void CudaSlot::download(const Frame& noisy, Frame& clean) {
  const cuda::NvtxRange range("download");
  to_samples();
  download_samples(noisy, clean);
}

void CudaSlot::filter() {
  if (linear_) {
    const cuda::NvtxRange range("linear combinations");
    linear_->run({{noisy_[0].get(), noisy_[1].get(), noisy_[2].get()},
                  {guide_planes_[0].get(), guide_planes_[1].get(), guide_planes_[2].get()},
                  {basic_[0].get(), basic_[1].get(), basic_[2].get()},
                  invalid_.get()});
    return;
  }
  {
    const cuda::NvtxRange range("first phase");
    run_phase(Phase::first, basic_);
  }
  if (params_.phases == 1) return;
  const cuda::NvtxRange range("second phase");
  run_phase(Phase::second, result_);
}

void CudaSlot::run_phase(Phase phase, const PlaneBuffers& estimates) {
  run_concurrently(chroma_lane_, phases_, stream_.get(), [&](auto phases_of) {
    const std::vector<PlaneSet>& sets = phases_.sets(phase);
    for (std::size_t n = 0; n < sets.size(); ++n) {
      CudaPhases& phases = phases_of(n);
      run_set(phase, sets[n], phases, scratch_[&phases == &phases_ ? 0 : 1], estimates);
    }
  });
}

void CudaSlot::run_set(Phase phase, const PlaneSet& set, CudaPhases& phases, const Scratch& scratch,
                       const PlaneBuffers& estimates) {
  DeviceFrame frame;
  for (int i = 0; i < format_.planes(); ++i)
    frame.noisy[i] = noisy_[i].get(), frame.basic[i] = basic_[i].get(),
    frame.guide_planes[i] = guide_planes_[i].get();
  for (std::size_t k = 0; k < set.planes.size(); ++k)
    frame.sums[set.planes[k]] = {scratch.numerators[k].get(), scratch.denominators[k].get()};
  const int front = set.planes.front();
  frame.kept[front] = {kept_displacements_[front].get(), kept_counts_[front].get()};
  const Guide guide =
      phases.make_guide_and_clear_sums(phase, set, frame,
                                       {scratch.guide_samples.get(), scratch.half_norms.get(),
                                        invalid_.get(), candidate_norms_.get()});
  phases.filter(phase, set, frame, std::array{SearchFrame{0, {guide}}},
                std::array<std::ptrdiff_t, 1>{});
  phases.normalise(phase, set, frame, {estimates[0].get(), estimates[1].get(), estimates[2].get()});
}

}  // namespace lull::bm3d
