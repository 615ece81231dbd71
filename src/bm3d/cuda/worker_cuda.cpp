// The GPU worker for temporal filtering. Frames are in ring buffers, so the distance between two
// frames in memory is a simple offset.

#include <memory>
#include <utility>
#include <vector>

#include "bm3d/cuda/chroma_lane.h"
#include "bm3d/cuda/frame_transfer.h"
#include "bm3d/cuda/phases.h"
#include "bm3d/cuda/worker.h"
#include "cuda/nvtx.h"

namespace lull::bm3d {
namespace {

class CudaWorker : public FrameWorker {
 public:
  CudaWorker(const Params& params, const FrameFormat& format, cuda::MatcherFactory make_matcher,
             bool results_on_device, const ResultSamples& results)
      : params_(params),
        format_(format),
        transfer_(params, format, results, results_on_device, session_plan(params, format).slots()),
        phases_(params, format, transfer_.stream(), make_matcher),
        chroma_lane_(ChromaLane::make(params, format, phases_, make_matcher)) {
    slots_.resize(session_plan(params, format).slots());
    if (phases_.filters_any()) plan_rings();
    cuda::check(cudaStreamSynchronize(transfer_.stream()));
  }

  ~CudaWorker() override { transfer_.wait(); }

  void take(const Frame& frame) override { transfer_.take(frame); }

  FrameDifference difference() override { return transfer_.difference(); }

  void load(int at) override {
    const DeviceFrame frame = frame_in(at);
    transfer_.load(at, margins(), frame.noisy, frame.guide_planes);
    if (invalid_.at(at) != nullptr)
      copy_reached(transfer_.last_frame(), patch, invalid_.at(at), transfer_.stream());
    make_guides(Phase::first, at);
    transfer_.loaded();
  }

  PredictionCost prediction(int slot, int earlier) override {
    return transfer_.motion().prediction(slot, earlier);
  }

  void filter(Phase phase, std::span<const SlotFrame> frames) override {
    const cuda::NvtxRange range(phase == Phase::first ? "first phase" : "second phase");
    if (phase == Phase::first) transfer_.motion().find(frames);  // is done once, for all phases
    run_concurrently(chroma_lane_, phases_, transfer_.stream(), [&](auto phases_of) {
      const std::vector<PlaneSet>& sets = phases_.sets(phase);
      for (std::size_t n = 0; n < sets.size(); ++n)
        filter_set(phase, sets[n], phases_of(n), frames);
    });
  }

  void finish_phase(Phase phase, int at) override {
    const DeviceFrame frame = frame_in(at);
    normalise(phase, frame, frame.basic);
    make_guides(Phase::second, at);
  }

  Frame finish(int at) override {
    RawFrame& to = transfer_.next_output();
    transfer_.convert(margins(), results(frame_in(at)), to);
    return transfer_.finish(at);
  }

  int in_flight() const noexcept override { return transfer_.in_flight(); }
  void await() override { transfer_.await(); }

 private:
  struct Slot {
    Guide luma, composite;
    Guide& guide_of(const PlaneSet& set) { return set.is_composite() ? composite : luma; }
  };
  /// The guides of all frames in the ring buffers: either all luma guides, or all guides that
  /// combine several planes.
  struct GuideRing {
    PlaneRing<std::uint8_t> samples;
    PlaneRing<std::int32_t> half_norms, candidate_norms;
  };
  GuideRing& ring_of(const PlaneSet& set) {
    return set.is_composite() ? composite_guides_ : luma_guides_;
  }
  void plan_rings() {
    const int slots = static_cast<int>(slots_.size());
    const auto ring = [&]<class T>(PlaneRing<T>& r, std::size_t size) {
      r = PlaneRing<T>(slots, size, transfer_.stream());
    };
    for (int i = 0; i < format_.planes(); ++i) {
      const std::size_t size = phases_.margins(i).size();
      ring(noisy_[i], size);
      if (params_.guided) ring(guide_planes_[i], size);
      if (!phases_.is_filtered(i)) continue;
      ring(basic_[i], size);
      ring(numerators_[i], size);
      ring(denominators_[i], size);
      result_[i] = zeroed<float>(size, transfer_.stream());
    }
    for (const PlaneSet& set : phases_.sets(Phase::first)) {
      const std::size_t references = phases_.kept_references(set);
      if (references == 0) continue;
      ring(kept_displacements_[set.planes.front()], references * phases_.kept_capacity());
      ring(kept_counts_[set.planes.front()], references);
    }
    for (const Phase phase : all_phases)
      for (const PlaneSet& set : phases_.sets(phase)) {
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

  void filter_set(Phase phase, const PlaneSet& set, CudaPhases& phases,
                  std::span<const SlotFrame> frames) {
    const int own = frames[0].frame;
    const auto size = static_cast<std::ptrdiff_t>(phases.margins(set.planes.front()).size());
    std::array<SearchFrame, max_frames> searched;
    std::array<std::ptrdiff_t, max_frames> distance;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto [offset, at] = frames[i];
      searched[i] = {offset, {slots_[at].guide_of(set), transfer_.motion().cells(own, offset)}};
      distance[i] = (at - own) * size;
    }
    phases.filter(phase, set, frame_in(own), {searched.data(), frames.size()},
                  {distance.data(), frames.size()});
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

  void make_guides(Phase phase, int at) {
    for (const PlaneSet& set : phases_.sets(phase)) {
      const GuideRing& to = ring_of(set);
      slots_[at].guide_of(set) = phases_.make_guide_and_clear_sums(
          phase, set, frame_in(at),
          {to.samples.at(at), to.half_norms.at(at), invalid_.at(at), to.candidate_norms.at(at)});
    }
  }

  void normalise(Phase phase, const DeviceFrame& frame,
                 const std::array<float*, max_planes>& estimates) {
    run_concurrently(chroma_lane_, phases_, transfer_.stream(), [&](auto phases_of) {
      const std::vector<PlaneSet>& sets = phases_.sets(phase);
      for (std::size_t n = 0; n < sets.size(); ++n)
        phases_of(n).normalise(phase, sets[n], frame, estimates);
    });
  }

  /// Computes the results of a frame.
  Planes results(const DeviceFrame& frame) {
    normalise(static_cast<Phase>(params_.phases - 1), frame,
              {result_[0].get(), result_[1].get(), result_[2].get()});
    Planes planes{};
    for (int i = 0; i < format_.planes(); ++i)
      planes[i] = phases_.is_filtered(i) ? result_[i].get() : frame.noisy[i];
    return planes;
  }

  FrameTransfer::PlaneMargins margins() const {
    FrameTransfer::PlaneMargins all;
    for (int i = 0; i < format_.planes(); ++i) all[i] = phases_.margins(i);
    return all;
  }

  Params params_;
  FrameFormat format_;
  FrameTransfer transfer_;
  CudaPhases phases_;
  std::unique_ptr<ChromaLane> chroma_lane_;  // null if chroma has no stream of its own
  std::vector<Slot> slots_;
  std::array<PlaneRing<float>, max_planes> noisy_, basic_, guide_planes_;
  std::array<PlaneRing<unsigned long long>, max_planes> numerators_;
  std::array<PlaneRing<std::uint32_t>, max_planes> denominators_;
  // Groups that the first phase stores for the second phase. Element i contains the groups of the
  // set of planes (PlaneSet) that begins with plane i.
  std::array<PlaneRing<std::uint32_t>, max_planes> kept_displacements_;
  std::array<PlaneRing<std::uint8_t>, max_planes> kept_counts_;
  GuideRing luma_guides_, composite_guides_;
  // The memory of GuideBuffer::invalid for all frames. Empty if frames cannot have holes.
  PlaneRing<std::uint8_t> invalid_;
  std::array<cuda::DeviceBuffer<float>, max_planes> result_;
};

}  // namespace

std::unique_ptr<FrameWorker> make_cuda_worker(const Params& params, const FrameFormat& format,
                                              cuda::MatcherFactory make_matcher,
                                              bool results_on_device,
                                              const ResultSamples& results) {
  return std::make_unique<CudaWorker>(params, format, make_matcher, results_on_device, results);
}

}  // namespace lull::bm3d
