// Frames lie in slots, one ring of memory for each kind of plane, so that kernels reach a patch of
// another frame by an offset. Three streams: one brings frames and counts what decides about them,
// at high priority, because the host waits for that; one computes; one takes results away. The
// host is ahead of the computing stream by two frames at most: then the memory that frames come
// into is used again.

#include <climits>
#include <memory>
#include <utility>
#include <vector>

#include "bm3d/cuda/phases.h"
#include "bm3d/cuda/side_sets.h"
#include "bm3d/cuda/worker.h"
#include "core/error.h"
#include "cuda/nvtx.h"
#include "cuda/raw_frame.h"
#include "cuda/results/result_frames.h"
#include "match/cuda/guide_frame.h"
#include "time/device_motion.h"

namespace lull::bm3d {
namespace {

constexpr int results = 3;  // on their way, and the one that comes

class CudaWorker : public FrameWorker {
 public:
  CudaWorker(const Params& params, const FrameFormat& format, cuda::MatcherFactory make_matcher,
             bool results_on_device)
      : params_(params),
        format_(format),
        computing_(cuda::make_stream()),
        bringing_(cuda::make_stream(cuda::Priority::high)),
        taking_(cuda::make_stream()),
        phases_(params, format, computing_.get(), make_matcher),
        side_(SideSets::make(params, format, phases_, make_matcher)),
        pool_(format, results_on_device),
        levels_(params.noise.levels_in_samples()),
        motion_(format, levels_, session_plan(params, format).slots(), bringing_.get(),
                computing_.get()) {
    const Stabilisers stabilisers = stabilisers_of(params, format.layout);
    const Curves curves = curves_of(stabilisers);
    for (auto& in : in_)
      in = std::make_unique<In>(params, format, computing_.get(), levels_, curves);
    for (auto& out : out_) out = std::make_unique<Out>(format, computing_.get(), levels_, curves);
    slots_.resize(session_plan(params, format).slots());
    if (phases_.filters_any()) plan_rings();
    pool_.reserve(results + cuda::results_that_wait);
    cuda::check(cudaStreamSynchronize(computing_.get()));
  }

  ~CudaWorker() override {
    for (const auto* stream : {&bringing_, &computing_, &taking_})
      (void)cudaStreamSynchronize(stream->get());
  }

  void take(const Frame& frame) override {
    const cuda::NvtxRange range("bring a frame");
    taken_ = frame;
    last_ ^= 1;
    cuda::check(cudaStreamWaitEvent(bringing_.get(), in_[last_]->read.get()));
    in_[last_]->raw.bring(frame, bringing_.get());
    if (params_.guided) in_[last_]->guide.bring(frame, bringing_.get());
    cuda::check(cudaEventRecord(in_[last_]->brought.get(), bringing_.get()));
  }

  FrameDifference difference() override {
    return motion_.difference(in_[last_]->raw.planes(), in_[last_ ^ 1]->raw.planes());
  }

  void load(int at) override {
    In& in = *in_[last_];
    const RawPlanes& seen = (params_.guided ? in.guide.raw() : in.raw).planes();
    const FrameFormat& format = params_.guided ? in.guide.format() : format_;
    if (params_.scene_cut > 0) motion_.load_predicted(at, seen, format);
    keep_what_passes(at);
    const DeviceFrame frame = frame_in(at);
    std::array<const Margins*, max_planes> margins{};
    for (int i = 0; i < format_.planes(); ++i) margins[i] = &phases_.margins(i);
    cuda::check(cudaStreamWaitEvent(computing_.get(), in.brought.get()));
    in.raw.to_planes(margins, frame.noisy, computing_.get());
    if (params_.guided) in.guide.raw().to_planes(margins, frame.shown, computing_.get());
    keep_original(in.raw, at);
    motion_.load(at, seen, format);
    cuda::check(cudaEventRecord(in.read.get(), computing_.get()));
    if (barred_.at(at) != nullptr) copy_reached(taken_, patch, barred_.at(at), computing_.get());
    make_guides(Phase::first, at);
    // The frame may go: on the host its memory, on a device the decoder's picture.
    cuda::check(cudaStreamSynchronize(bringing_.get()));
    taken_ = {};
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_.prediction(slot, earlier);
  }

  void filter(Phase phase, std::span<const SlotFrame> frames) override {
    const cuda::NvtxRange range(phase == Phase::first    ? "first phase"
                                : phase == Phase::second ? "second phase"
                                                         : "third phase");
    if (phase == Phase::first) motion_.find(frames);  // for all phases
    filter_sets(phase, frames, frame_in(frames[0].frame));
    if (phase == Phase::third && has_beside(params_))
      filter_sets(beside_third, frames, frame_beside(frames[0].frame));
  }

  void finish_phase(Phase phase, int at) override {
    const DeviceFrame frame = frame_in(at);
    normalise(phase, frame, frame.basic);
    make_guides(static_cast<Phase>(static_cast<int>(phase) + 1), at);
  }

  Frame finish(int at) override {
    const cuda::NvtxRange range("take a result away");
    Out& out = *out_[finished_++ % results];
    Frame clean = slots_[at].clean.pixels ? std::exchange(slots_[at].clean, {}) : pool_.acquire();
    cuda::check(cudaStreamWaitEvent(computing_.get(), out.taken.get()));
    write_samples(frame_in(at), frame_beside(at), out.raw);
    out.raw.restore(original(at), computing_.get());
    cuda::check(cudaEventRecord(out.written.get(), computing_.get()));
    cuda::check(cudaStreamWaitEvent(taking_.get(), out.written.get()));
    for (int i = 0; i < format_.planes(); ++i)
      if (phases_.changes(i)) out.raw.take(i, clean, taking_.get());
    cuda::check(cudaEventRecord(out.taken.get(), taking_.get()));
    return cuda::handed_out(std::move(clean));
  }

  int in_flight() const noexcept override { return results - 1; }

  void await() override {
    const cuda::NvtxRange range("wait for the oldest result");
    cuda::check(cudaEventSynchronize(out_[awaited_++ % results]->taken.get()));
  }

 private:
  struct Slot {
    Guide luma, made;
    Frame clean;  // has the planes that pass through
    Guide& guide_of(const PlaneSet& set) { return set.is_made() ? made : luma; }
  };
  /// Where guides of luma lie, and those that are made.
  struct GuideRing {
    PlaneRing<std::uint8_t> samples;
    PlaneRing<std::int32_t> half_norms, candidate_norms;
  };
  GuideRing& ring_of(const PlaneSet& set) { return set.is_made() ? made_guides_ : luma_guides_; }
  using Curves = std::array<CurvePair, max_planes>;
  struct In {
    RawFrame raw;
    GuideFrame guide;
    cuda::Event brought = cuda::make_event(), read = cuda::make_event();
    In(const Params& params, const FrameFormat& format, cudaStream_t stream,
       const std::array<float, 3>& sigma, const Curves& curves)
        : raw(format, stream, sigma, curves),
          guide(sigma, stabilisers_of(params, Layout::gray), Colour::opponent) {}
  };
  struct Out {
    RawFrame raw;
    cuda::Event written = cuda::make_event(), taken = cuda::make_event();
    Out(const FrameFormat& format, cudaStream_t stream, const std::array<float, 3>& sigma,
        const Curves& curves)
        : raw(format, stream, sigma, curves) {}
  };

  void plan_rings() {
    const int slots = static_cast<int>(slots_.size());
    if (slots * static_cast<double>(phases_.margins(0).size()) > INT_MAX)
      throw InvalidArgument("frames too large to be filtered over time on a GPU (planes in " +
                            std::to_string(slots) +
                            " slots cannot be addressed); choose a smaller --temporal");
    const auto ring = [&]<class T>(PlaneRing<T>& r, std::size_t size) {
      r = PlaneRing<T>(slots, size, computing_.get());
    };
    for (int i = 0; i < format_.planes(); ++i) {
      const std::size_t size = phases_.margins(i).size();
      ring(noisy_[i], size);
      if (params_.guided) ring(shown_[i], size);
      if (format_.sample == SampleType::f32) ring(original_[i], in_[0]->raw.plane_bytes(i));
      if (!phases_.is_filtered(i)) continue;
      ring(basic_[i], size);
      ring(numerators_[i], size);
      ring(denominators_[i], size);
      if (has_beside(params_)) {
        ring(numerators_beside_[i], size);
        ring(denominators_beside_[i], size);
      }
      result_[i] = zeroed<float>(size, computing_.get());
    }
    for (const PlaneSet& set : phases_.sets(Phase::first)) {
      const std::size_t references = phases_.kept_references(set);
      if (references == 0) continue;
      ring(kept_displacements_[set.planes.front()], references * phases_.kept_capacity());
      ring(kept_counts_[set.planes.front()], references);
    }
    for (int k = 0; k < known_plans(params_); ++k)
      for (const PlaneSet& set : phases_.sets(static_cast<Phase>(k))) {
        if (phases_.is_bayes(static_cast<Phase>(k))) {
          if (set.is_made() && plane_guides_.at(0) == nullptr)
            ring(plane_guides_, phases_.margins(1).size());
          continue;
        }
        GuideRing& guides = ring_of(set);
        if (guides.samples.at(0) != nullptr) continue;
        const std::size_t size = phases_.margins(set.is_made() ? 1 : 0).size();
        ring(guides.samples, size);
        ring(guides.half_norms, size);
        if (!params_.holes) continue;
        ring(guides.candidate_norms, size);
        ring(barred_, size);
      }
  }

  /// `frame`: the one of the references.
  void filter_sets(Phase phase, std::span<const SlotFrame> frames, const DeviceFrame& frame) {
    beside(side_, phases_, computing_.get(), [&](auto phases_of) {
      const std::vector<PlaneSet>& sets = phases_.sets(phase);
      for (std::size_t n = 0; n < sets.size(); ++n)
        filter_set(phase, sets[n], phases_of(n), frames, frame);
    });
  }

  void filter_set(Phase phase, const PlaneSet& set, CudaPhases& phases,
                  std::span<const SlotFrame> frames, const DeviceFrame& frame) {
    const int own = frames[0].frame;
    const int size = static_cast<int>(phases.margins(set.planes.front()).size());
    std::array<SearchFrame, max_frames> searched;
    std::array<int, max_frames> distance;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto [offset, at] = frames[i];
      searched[i] = {offset, {slots_[at].guide_of(set), motion_.cells(own, offset)}};
      distance[i] = (at - own) * size;
    }
    const std::span<const SearchFrame> all{searched.data(), frames.size()};
    const std::span<const int> apart{distance.data(), frames.size()};
    if (phases.is_bayes(phase))
      phases.filter_by_bayes(phase, set, frame, all, apart, plane_guide(set, own));
    else
      phases.filter(phase, set, frame, all, apart);
  }

  DeviceFrame frame_in(int at) const {
    DeviceFrame frame;
    for (int i = 0; i < format_.planes(); ++i) {
      frame.noisy[i] = noisy_[i].at(at);
      frame.shown[i] = shown_[i].at(at);
      frame.basic[i] = basic_[i].at(at);
      frame.sums[i] = {numerators_[i].at(at), denominators_[i].at(at)};
      frame.kept[i] = {kept_displacements_[i].at(at), kept_counts_[i].at(at)};
    }
    return frame;
  }
  /// With the sums of what is beside the third phase.
  DeviceFrame frame_beside(int at) const {
    DeviceFrame frame = frame_in(at);
    for (int i = 0; i < format_.planes(); ++i)
      frame.sums[i] = {numerators_beside_[i].at(at), denominators_beside_[i].at(at)};
    return frame;
  }

  void make_guides(Phase phase, int at) {
    if (!phases_.is_bayes(phase)) return make_byte_guides(phase, at, frame_in(at));
    make_plane_guides(phase, at);
    if (phase == Phase::third && has_beside(params_))
      make_byte_guides(beside_third, at, frame_beside(at));
  }

  void make_byte_guides(Phase phase, int at, const DeviceFrame& frame) {
    for (const PlaneSet& set : phases_.sets(phase)) {
      const GuideRing& to = ring_of(set);
      slots_[at].guide_of(set) = phases_.make_guide_and_clear_sums(
          phase, set, frame,
          {to.samples.at(at), to.half_norms.at(at), barred_.at(at), to.candidate_norms.at(at)});
    }
  }

  /// For phases by Bayes, which match in floats.
  void make_plane_guides(Phase phase, int at) {
    for (const PlaneSet& set : phases_.sets(phase)) {
      if (set.is_made()) phases_.make_plane_guide(phase, set, frame_in(at), plane_guides_.at(at));
      phases_.clear_sums(set, frame_in(at));
    }
  }
  const float* plane_guide(const PlaneSet& set, int at) const {
    return set.is_made() ? plane_guides_.at(at) : basic_[0].at(at);
  }

  void keep_what_passes(int at) {
    for (int i = 0; i < format_.planes(); ++i) {
      if (phases_.changes(i)) continue;
      Frame& clean = slots_[at].clean;
      if (!clean.pixels) clean = pool_.acquire();
      in_[last_]->raw.pass_through(i, taken_, clean, bringing_.get());
    }
  }

  /// Float samples as they came, for RawFrame::restore().
  RawPlanes original(int at) const {
    RawPlanes planes = in_[0]->raw.planes();
    for (int i = 0; i < format_.planes(); ++i) planes.data[i] = original_[i].at(at);
    return planes;
  }
  void keep_original(const RawFrame& raw, int at) {
    if (format_.sample != SampleType::f32) return;
    for (int i = 0; i < format_.planes(); ++i)
      cuda::check(cudaMemcpyAsync(original_[i].at(at), raw.planes().data[i], raw.plane_bytes(i),
                                  cudaMemcpyDeviceToDevice, computing_.get()));
  }

  void normalise(Phase phase, const DeviceFrame& frame,
                 const std::array<float*, max_planes>& estimates) {
    beside(side_, phases_, computing_.get(), [&](auto phases_of) {
      const std::vector<PlaneSet>& sets = phases_.sets(phase);
      for (std::size_t n = 0; n < sets.size(); ++n)
        phases_of(n).normalise(phase, sets[n], frame, estimates);
    });
  }

  void write_samples(const DeviceFrame& frame, const DeviceFrame& beside_it, RawFrame& raw) {
    // Nobody needs the basic estimate any more: what is beside the third phase takes its place.
    if (has_beside(params_)) normalise(beside_third, beside_it, frame.basic);
    normalise(static_cast<Phase>(params_.phases - 1), frame,
              {result_[0].get(), result_[1].get(), result_[2].get()});
    Planes planes{};
    for (int i = 0; i < format_.planes(); ++i)
      planes[i] = phases_.is_filtered(i) ? result_[i].get() : frame.noisy[i];
    if (format_.layout == Layout::rgb)
      return raw.from_opponents(phases_.margins(0), planes, computing_.get());
    for (int i = 0; i < format_.planes(); ++i)
      if (phases_.changes(i)) raw.from_plane(i, phases_.margins(i), planes[i], computing_.get());
  }

  Params params_;
  FrameFormat format_;
  cuda::Stream computing_, bringing_, taking_;
  CudaPhases phases_;
  std::unique_ptr<SideSets> side_;  // null: none
  cuda::ResultFrames pool_;
  std::array<float, 3> levels_;  // of the noise in samples as they are stored
  Frame taken_;
  std::array<std::unique_ptr<In>, 2> in_;
  int last_ = 0;  // in_ of the frame taken last
  std::array<std::unique_ptr<Out>, results> out_;
  int finished_ = 0, awaited_ = 0;  // results
  std::vector<Slot> slots_;
  std::array<PlaneRing<float>, max_planes> noisy_, basic_, shown_;
  std::array<PlaneRing<std::byte>, max_planes> original_;  // of floats, as they came
  std::array<PlaneRing<unsigned long long>, max_planes> numerators_, numerators_beside_;
  std::array<PlaneRing<std::uint32_t>, max_planes> denominators_, denominators_beside_;
  // Of sets, by their first plane: groups for the second phase.
  std::array<PlaneRing<std::uint32_t>, max_planes> kept_displacements_;
  std::array<PlaneRing<std::uint8_t>, max_planes> kept_counts_;
  GuideRing luma_guides_, made_guides_;
  PlaneRing<float> plane_guides_;   // of phases by Bayes, where they are made
  PlaneRing<std::uint8_t> barred_;  // where frames may have holes: places that are no candidates
  std::array<cuda::DeviceBuffer<float>, max_planes> result_;
  DeviceMotion motion_;
};

}  // namespace

std::unique_ptr<FrameWorker> make_cuda_worker(const Params& params, const FrameFormat& format,
                                              cuda::MatcherFactory make_matcher,
                                              bool results_on_device) {
  return std::make_unique<CudaWorker>(params, format, make_matcher, results_on_device);
}

}  // namespace lull::bm3d
