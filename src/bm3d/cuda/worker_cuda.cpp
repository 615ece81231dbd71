// The worker stores frames in the slots of ring buffers, one for each kind of plane. The distance
// in memory from a patch to the same position in another frame is therefore a simple offset. There
// are three streams. The first uploads frames and computes the statistics on which the session
// bases its decisions. It has a high priority, because the host waits for these statistics. The
// second stream runs the filter, and the third downloads results. The host is at most two frames
// ahead of the compute stream, because the input buffers are reused after two frames.

#include <memory>
#include <utility>
#include <vector>

#include "bm3d/cuda/chroma_lane.h"
#include "bm3d/cuda/phases.h"
#include "bm3d/cuda/worker.h"
#include "cuda/nvtx.h"
#include "cuda/raw_frame.h"
#include "cuda/results/result_frames.h"
#include "match/cuda/guide_frame.h"
#include "time/device_motion.h"

namespace lull::bm3d {
namespace {

constexpr int max_results = 3;  // number of result buffers: results in flight, and the next one

class CudaWorker : public FrameWorker {
 public:
  CudaWorker(const Params& params, const FrameFormat& format, cuda::MatcherFactory make_matcher,
             bool results_on_device, const ResultSamples& results)
      : params_(params),
        format_(format),
        compute_stream_(cuda::make_stream()),
        upload_stream_(cuda::make_stream(cuda::Priority::high)),
        download_stream_(cuda::make_stream()),
        phases_(params, format, compute_stream_.get(), make_matcher),
        chroma_lane_(ChromaLane::make(params, format, phases_, make_matcher)),
        pool_(result_format(format, results), results_on_device),
        levels_(params.noise.levels_in_samples()),
        motion_(format, levels_, session_plan(params, format).slots(), upload_stream_.get(),
                compute_stream_.get()) {
    const Stabilisers stabilisers = stabilisers_of(params, format.layout);
    const Curves curves = curves_of(stabilisers);
    for (auto& in : inputs_)
      in = std::make_unique<Input>(params, format, compute_stream_.get(), levels_, curves, results);
    for (auto& out : outputs_)
      out = std::make_unique<Output>(format, compute_stream_.get(), levels_, curves, results);
    slots_.resize(session_plan(params, format).slots());
    if (phases_.filters_any()) plan_rings();
    pool_.reserve(max_results + cuda::expected_queued_results);
    cuda::check(cudaStreamSynchronize(compute_stream_.get()));
  }

  ~CudaWorker() override {
    for (const auto* stream : {&upload_stream_, &compute_stream_, &download_stream_})
      (void)cudaStreamSynchronize(stream->get());
  }

  void take(const Frame& frame) override {
    const cuda::NvtxRange range("upload a frame");
    last_frame_ = frame;
    last_input_ ^= 1;
    cuda::check(cudaStreamWaitEvent(upload_stream_.get(), inputs_[last_input_]->consumed.get()));
    inputs_[last_input_]->raw.upload(frame, upload_stream_.get());
    if (params_.guided) inputs_[last_input_]->guide.upload(frame, upload_stream_.get());
    cuda::check(cudaEventRecord(inputs_[last_input_]->uploaded.get(), upload_stream_.get()));
  }

  FrameDifference difference() override {
    return motion_.difference(inputs_[last_input_]->raw.planes(),
                              inputs_[last_input_ ^ 1]->raw.planes());
  }

  void load(int at) override {
    Input& in = *inputs_[last_input_];
    const RawPlanes& matched_planes = (params_.guided ? in.guide.raw() : in.raw).planes();
    const FrameFormat& format = params_.guided ? in.guide.format() : format_;
    if (params_.scene_cut > 0) motion_.load_predicted(at, matched_planes, format);
    copy_unfiltered_planes(at);
    const DeviceFrame frame = frame_in(at);
    std::array<const Margins*, max_planes> margins{};
    for (int i = 0; i < format_.planes(); ++i) margins[i] = &phases_.margins(i);
    cuda::check(cudaStreamWaitEvent(compute_stream_.get(), in.uploaded.get()));
    in.raw.to_planes(margins, frame.noisy, compute_stream_.get());
    if (params_.guided)
      in.guide.raw().to_planes(margins, frame.guide_planes, compute_stream_.get());
    store_original(in.raw, at);
    motion_.load(at, matched_planes, format);
    cuda::check(cudaEventRecord(in.consumed.get(), compute_stream_.get()));
    if (invalid_.at(at) != nullptr)
      copy_reached(last_frame_, patch, invalid_.at(at), compute_stream_.get());
    make_guides(Phase::first, at);
    // After this wait, the caller may release the frame. Its samples are in host memory, or in a
    // picture of the decoder in device memory.
    cuda::check(cudaStreamSynchronize(upload_stream_.get()));
    last_frame_ = {};
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_.prediction(slot, earlier);
  }

  void filter(Phase phase, std::span<const SlotFrame> frames) override {
    const cuda::NvtxRange range(phase == Phase::first    ? "first phase"
                                : phase == Phase::second ? "second phase"
                                                         : "third phase");
    if (phase == Phase::first) motion_.find(frames);  // is done once, for all phases
    filter_sets(phase, frames, frame_in(frames[0].frame));
    if (phase == Phase::third && has_parallel_wiener(params_))
      filter_sets(parallel_wiener, frames, parallel_frame(frames[0].frame));
  }

  void finish_phase(Phase phase, int at) override {
    const DeviceFrame frame = frame_in(at);
    normalise(phase, frame, frame.basic);
    make_guides(static_cast<Phase>(static_cast<int>(phase) + 1), at);
  }

  Frame finish(int at) override {
    const cuda::NvtxRange range("download a result");
    Output& out = *outputs_[finished_++ % max_results];
    Frame clean = slots_[at].clean.pixels ? std::exchange(slots_[at].clean, {}) : pool_.acquire();
    cuda::check(cudaStreamWaitEvent(compute_stream_.get(), out.downloaded.get()));
    write_samples(frame_in(at), parallel_frame(at), out.raw);
    out.raw.restore(original(at), compute_stream_.get());
    cuda::check(cudaEventRecord(out.ready.get(), compute_stream_.get()));
    cuda::check(cudaStreamWaitEvent(download_stream_.get(), out.ready.get()));
    for (int i = 0; i < format_.planes(); ++i)
      if (phases_.changes(i)) out.raw.download(i, clean, download_stream_.get());
    cuda::check(cudaEventRecord(out.downloaded.get(), download_stream_.get()));
    return cuda::publish_frame(std::move(clean));
  }

  int in_flight() const noexcept override { return max_results - 1; }

  void await() override {
    const cuda::NvtxRange range("wait for the oldest result");
    cuda::check(cudaEventSynchronize(outputs_[awaited_++ % max_results]->downloaded.get()));
  }

 private:
  struct Slot {
    Guide luma, composite;
    Frame clean;  // contains the planes that are not filtered
    Guide& guide_of(const PlaneSet& set) { return set.is_composite() ? composite : luma; }
  };
  /// Memory for one kind of guide of all frames: the luma guides, or the guides that are computed
  /// from several planes.
  struct GuideRing {
    PlaneRing<std::uint8_t> samples;
    PlaneRing<std::int32_t> half_norms, candidate_norms;
  };
  GuideRing& ring_of(const PlaneSet& set) {
    return set.is_composite() ? composite_guides_ : luma_guides_;
  }
  using Curves = std::array<CurvePair, max_planes>;
  struct Input {
    RawFrame raw;
    GuideFrame guide;
    cuda::Event uploaded = cuda::make_event(), consumed = cuda::make_event();
    Input(const Params& params, const FrameFormat& format, cudaStream_t stream,
          const std::array<float, 3>& sigma, const Curves& curves, const ResultSamples& results)
        : raw(format, stream, sigma, curves, result_format(format, results)),
          guide(sigma, stabilisers_of(params, Layout::gray), Colour::opponent) {}
  };
  struct Output {
    RawFrame raw;
    cuda::Event ready = cuda::make_event(), downloaded = cuda::make_event();
    Output(const FrameFormat& format, cudaStream_t stream, const std::array<float, 3>& sigma,
           const Curves& curves, const ResultSamples& results)
        : raw(format, stream, sigma, curves, result_format(format, results)) {}
  };

  void plan_rings() {
    const int slots = static_cast<int>(slots_.size());
    const auto ring = [&]<class T>(PlaneRing<T>& r, std::size_t size) {
      r = PlaneRing<T>(slots, size, compute_stream_.get());
    };
    for (int i = 0; i < format_.planes(); ++i) {
      const std::size_t size = phases_.margins(i).size();
      ring(noisy_[i], size);
      if (params_.guided) ring(guide_planes_[i], size);
      if (format_.sample == SampleType::f32) ring(original_[i], inputs_[0]->raw.plane_bytes(i));
      if (!phases_.is_filtered(i)) continue;
      ring(basic_[i], size);
      ring(numerators_[i], size);
      ring(denominators_[i], size);
      if (has_parallel_wiener(params_)) {
        ring(parallel_numerators_[i], size);
        ring(parallel_denominators_[i], size);
      }
      result_[i] = zeroed<float>(size, compute_stream_.get());
    }
    for (const PlaneSet& set : phases_.sets(Phase::first)) {
      const std::size_t references = phases_.kept_references(set);
      if (references == 0) continue;
      ring(kept_displacements_[set.planes.front()], references * phases_.kept_capacity());
      ring(kept_counts_[set.planes.front()], references);
    }
    for (int k = 0; k < plan_count(params_); ++k)
      for (const PlaneSet& set : phases_.sets(static_cast<Phase>(k))) {
        if (phases_.is_bayes(static_cast<Phase>(k))) {
          if (set.is_composite() && float_guides_.at(0) == nullptr)
            ring(float_guides_, phases_.margins(1).size());
          continue;
        }
        GuideRing& guides = ring_of(set);
        if (guides.samples.at(0) != nullptr) continue;
        const std::size_t size = phases_.margins(set.is_composite() ? 1 : 0).size();
        ring(guides.samples, size);
        ring(guides.half_norms, size);
        if (!params_.holes) continue;
        ring(guides.candidate_norms, size);
        ring(invalid_, size);
      }
  }

  /// Filters all sets of planes in a phase. `frame` is the frame that contains the reference
  /// patches.
  void filter_sets(Phase phase, std::span<const SlotFrame> frames, const DeviceFrame& frame) {
    run_concurrently(chroma_lane_, phases_, compute_stream_.get(), [&](auto phases_of) {
      const std::vector<PlaneSet>& sets = phases_.sets(phase);
      for (std::size_t n = 0; n < sets.size(); ++n)
        filter_set(phase, sets[n], phases_of(n), frames, frame);
    });
  }

  void filter_set(Phase phase, const PlaneSet& set, CudaPhases& phases,
                  std::span<const SlotFrame> frames, const DeviceFrame& frame) {
    const int own = frames[0].frame;
    const auto size = static_cast<std::ptrdiff_t>(phases.margins(set.planes.front()).size());
    std::array<SearchFrame, max_frames> searched;
    std::array<std::ptrdiff_t, max_frames> distance;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto [offset, at] = frames[i];
      searched[i] = {offset, {slots_[at].guide_of(set), motion_.cells(own, offset)}};
      distance[i] = (at - own) * size;
    }
    const std::span<const SearchFrame> all{searched.data(), frames.size()};
    const std::span<const std::ptrdiff_t> distances{distance.data(), frames.size()};
    if (phases.is_bayes(phase))
      phases.filter_bayes(phase, set, frame, all, distances, float_guide(set, own));
    else
      phases.filter(phase, set, frame, all, distances);
  }

  DeviceFrame frame_in(int at) const {
    DeviceFrame frame;
    for (int i = 0; i < format_.planes(); ++i) {
      frame.noisy[i] = noisy_[i].at(at);
      frame.guide_planes[i] = guide_planes_[i].at(at);
      frame.basic[i] = basic_[i].at(at);
      frame.sums[i] = {numerators_[i].at(at), denominators_[i].at(at)};
      frame.kept[i] = {kept_displacements_[i].at(at), kept_counts_[i].at(at)};
    }
    return frame;
  }
  /// Returns the data of the frame in slot `at`, but with the sums of the parallel Wiener filter
  /// (phase_plan.h).
  DeviceFrame parallel_frame(int at) const {
    DeviceFrame frame = frame_in(at);
    for (int i = 0; i < format_.planes(); ++i)
      frame.sums[i] = {parallel_numerators_[i].at(at), parallel_denominators_[i].at(at)};
    return frame;
  }

  void make_guides(Phase phase, int at) {
    if (!phases_.is_bayes(phase)) return make_byte_guides(phase, at, frame_in(at));
    make_float_guides(phase, at);
    if (phase == Phase::third && has_parallel_wiener(params_))
      make_byte_guides(parallel_wiener, at, parallel_frame(at));
  }

  void make_byte_guides(Phase phase, int at, const DeviceFrame& frame) {
    for (const PlaneSet& set : phases_.sets(phase)) {
      const GuideRing& to = ring_of(set);
      slots_[at].guide_of(set) = phases_.make_guide_and_clear_sums(
          phase, set, frame,
          {to.samples.at(at), to.half_norms.at(at), invalid_.at(at), to.candidate_norms.at(at)});
    }
  }

  /// Makes the guides for a Bayes phase, as floats, because a Bayes phase matches in floats.
  void make_float_guides(Phase phase, int at) {
    for (const PlaneSet& set : phases_.sets(phase)) {
      if (set.is_composite())
        phases_.make_float_guide(phase, set, frame_in(at), float_guides_.at(at));
      phases_.clear_sums(set, frame_in(at));
    }
  }
  const float* float_guide(const PlaneSet& set, int at) const {
    return set.is_composite() ? float_guides_.at(at) : basic_[0].at(at);
  }

  void copy_unfiltered_planes(int at) {
    for (int i = 0; i < format_.planes(); ++i) {
      if (phases_.changes(i)) continue;
      Frame& clean = slots_[at].clean;
      if (!clean.pixels) clean = pool_.acquire();
      inputs_[last_input_]->raw.pass_through(i, last_frame_, clean, upload_stream_.get());
    }
  }

  /// Returns the uploaded float samples of a frame, for RawFrame::restore().
  RawPlanes original(int at) const {
    RawPlanes planes = inputs_[0]->raw.planes();
    for (int i = 0; i < format_.planes(); ++i) planes.data[i] = original_[i].at(at);
    return planes;
  }
  void store_original(const RawFrame& raw, int at) {
    if (format_.sample != SampleType::f32) return;
    for (int i = 0; i < format_.planes(); ++i)
      cuda::check(cudaMemcpyAsync(original_[i].at(at), raw.planes().data[i], raw.plane_bytes(i),
                                  cudaMemcpyDeviceToDevice, compute_stream_.get()));
  }

  void normalise(Phase phase, const DeviceFrame& frame,
                 const std::array<float*, max_planes>& estimates) {
    run_concurrently(chroma_lane_, phases_, compute_stream_.get(), [&](auto phases_of) {
      const std::vector<PlaneSet>& sets = phases_.sets(phase);
      for (std::size_t n = 0; n < sets.size(); ++n)
        phases_of(n).normalise(phase, sets[n], frame, estimates);
    });
  }

  void write_samples(const DeviceFrame& frame, const DeviceFrame& parallel_estimates,
                     RawFrame& raw) {
    // The result of the parallel Wiener filter overwrites the basic estimate, which is no longer
    // needed.
    if (has_parallel_wiener(params_)) normalise(parallel_wiener, parallel_estimates, frame.basic);
    normalise(static_cast<Phase>(params_.phases - 1), frame,
              {result_[0].get(), result_[1].get(), result_[2].get()});
    Planes planes{};
    for (int i = 0; i < format_.planes(); ++i)
      planes[i] = phases_.is_filtered(i) ? result_[i].get() : frame.noisy[i];
    if (format_.layout == Layout::rgb)
      return raw.from_opponents(phases_.margins(0), planes, compute_stream_.get());
    for (int i = 0; i < format_.planes(); ++i)
      if (phases_.changes(i))
        raw.from_plane(i, phases_.margins(i), planes[i], compute_stream_.get());
  }

  Params params_;
  FrameFormat format_;
  cuda::Stream compute_stream_, upload_stream_, download_stream_;
  CudaPhases phases_;
  std::unique_ptr<ChromaLane> chroma_lane_;  // null if no chroma lane is used
  cuda::ResultFrames pool_;
  std::array<float, 3> levels_;  // standard deviation of the noise in the stored samples
  Frame last_frame_;
  std::array<std::unique_ptr<Input>, 2> inputs_;
  int last_input_ = 0;  // index in inputs_ of the frame that was accepted last
  std::array<std::unique_ptr<Output>, max_results> outputs_;
  int finished_ = 0, awaited_ = 0;  // number of results so far
  std::vector<Slot> slots_;
  std::array<PlaneRing<float>, max_planes> noisy_, basic_, guide_planes_;
  std::array<PlaneRing<std::byte>, max_planes> original_;  // uploaded float samples
  std::array<PlaneRing<unsigned long long>, max_planes> numerators_, parallel_numerators_;
  std::array<PlaneRing<std::uint32_t>, max_planes> denominators_, parallel_denominators_;
  // Groups that each set of planes stores for the second phase, at the index of the set's first
  // plane.
  std::array<PlaneRing<std::uint32_t>, max_planes> kept_displacements_;
  std::array<PlaneRing<std::uint8_t>, max_planes> kept_counts_;
  GuideRing luma_guides_, composite_guides_;
  PlaneRing<float> float_guides_;  // guides of Bayes phases that are computed from several planes
  // Only if frames may have holes: positions that are not candidates.
  PlaneRing<std::uint8_t> invalid_;
  std::array<cuda::DeviceBuffer<float>, max_planes> result_;
  DeviceMotion motion_;
};

}  // namespace

std::unique_ptr<FrameWorker> make_cuda_worker(const Params& params, const FrameFormat& format,
                                              cuda::MatcherFactory make_matcher,
                                              bool results_on_device,
                                              const ResultSamples& results) {
  return std::make_unique<CudaWorker>(params, format, make_matcher, results_on_device, results);
}

}  // namespace lull::bm3d
