// Frames lie in slots. Three streams: one brings frames and counts what decides about them, at high
// priority, because the host waits for that; one computes; one takes results away. A frame is
// filtered before it may come out: its result is on its way meanwhile, to memory of its own.

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/nvtx.h"
#include "cuda/raw_frame.h"
#include "cuda/results/result_frames.h"
#include "match/cuda/guide_frame.h"
#include "nlm/cuda/filters.h"
#include "nlm/cuda/workers.h"
#include "nlm/plans.h"
#include "time/device_motion.h"

namespace lull::nlm {
namespace {

using lull::cuda::check;
using lull::cuda::DeviceBuffer;

constexpr int results = 3;  // on their way, and the one that comes

/// Planes that share their weights.
struct FilteredSet {
  PlaneSet planes;
  cuda::FrameFilter filter;
};

class CudaFrameWorker final : public FrameWorker {
 public:
  CudaFrameWorker(const Params& params, const FrameFormat& format, bool results_on_device)
      : params_(params),
        format_(format),
        levels_(params.noise.levels_in_samples()),
        bringing_(lull::cuda::make_stream(lull::cuda::Priority::high)),
        computing_(lull::cuda::make_stream()),
        taking_(lull::cuda::make_stream()),
        pool_(format, results_on_device),
        slots_(session_plan(params, format).slots()) {
    const Stabilisers stabilisers = stabilisers_of(params);
    for (auto& in : in_) in = std::make_unique<In>(*this, stabilisers);
    for (auto& out : out_) out = std::make_unique<Out>(*this, stabilisers);
    for (const PlaneSet& planes : plane_sets(format, params.noise)) add_set(planes);
    if (params.holes)
      holes_ = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(format.width) * format.height);
    if (params.temporal > 0)
      motion_.emplace(format, levels_, slot_count(), bringing_.get(), computing_.get());
    pool_.reserve(slot_count() + results + lull::cuda::results_that_wait);
    check(cudaStreamSynchronize(computing_.get()));
  }

  ~CudaFrameWorker() override {
    for (const auto* stream : {&bringing_, &computing_, &taking_})
      (void)cudaStreamSynchronize(stream->get());
  }

  void take(const Frame& frame) override {
    const lull::cuda::NvtxRange range("bring a frame");
    taken_ = frame;
    last_ ^= 1;
    In& in = *in_[last_];
    check(cudaStreamWaitEvent(bringing_.get(), in.read.get()));
    in.raw.bring(frame, bringing_.get());
    if (params_.guided) in.guide.bring(frame, bringing_.get());
    check(cudaEventRecord(in.brought.get(), bringing_.get()));
  }

  FrameDifference difference() override {
    return motion_->difference(in_[last_]->raw.planes(), in_[last_ ^ 1]->raw.planes());
  }

  void load(int at) override {
    In& in = *in_[last_];
    slots_[at] = {};
    const RawPlanes& seen = (params_.guided ? in.guide.raw() : in.raw).planes();
    const FrameFormat& seen_format = params_.guided ? in.guide.format() : format_;
    if (motion_ && params_.scene_cut > 0) motion_->load_predicted(at, seen, seen_format);
    pass_through(slots_[at]);
    check(cudaStreamWaitEvent(computing_.get(), in.brought.get()));
    to_planes(in);
    for (int i = 0; i < format_.planes(); ++i)
      if (std::byte* const original = original_[i].at(at))
        check(cudaMemcpyAsync(original, in.raw.planes().data[i], in.raw.plane_bytes(i),
                              cudaMemcpyDeviceToDevice, computing_.get()));
    if (motion_) motion_->load(at, seen, seen_format);
    check(cudaEventRecord(in.read.get(), computing_.get()));
    const std::uint8_t* const holes = bring_holes();
    for (FilteredSet& set : sets_)
      set.filter.load(at, planes_of(set.planes.planes, flat_),
                      planes_of(set.planes.guides, flat_guide_), holes);
    // The frame may go: on the host its memory, on a device the decoder's picture.
    check(cudaStreamSynchronize(bringing_.get()));
    taken_ = {};
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_->prediction(slot, earlier);
  }

  void filter(Phase, std::span<const SlotFrame> frames) override {
    const lull::cuda::NvtxRange range("filter a frame");
    const int own = frames[0].frame;
    Slot& slot = slots_[own];
    Out& out = *out_[filtered_++ % results];
    if (motion_) motion_->find(frames);
    check(cudaStreamWaitEvent(computing_.get(), out.taken.get()));
    for (FilteredSet& set : sets_) {
      std::array<cuda::CandidateSlot, max_frames> candidates;
      for (std::size_t f = 0; f < frames.size(); ++f)
        candidates[f] = {frames[f].frame,
                         motion_ ? motion_->cells(own, frames[f].offset) : nullptr};
      set.filter.run({candidates.data(), frames.size()});
      for (std::size_t k = 0; k < set.planes.planes.size(); ++k) {
        const int i = set.planes.planes[k];
        out.raw.from_plane(i, margins_[i], set.filter.result(static_cast<int>(k)),
                           computing_.get());
      }
    }
    out.raw.restore(original_in(own, out.raw), computing_.get());
    check(cudaEventRecord(out.written.get(), computing_.get()));
    check(cudaStreamWaitEvent(taking_.get(), out.written.get()));
    for (const FilteredSet& set : sets_)
      for (const int i : set.planes.planes) out.raw.take(i, memory_of(slot), taking_.get());
    check(cudaEventRecord(out.taken.get(), taking_.get()));
    slot.taken = lull::cuda::make_event();
    check(cudaEventRecord(slot.taken.get(), taking_.get()));
  }

  void finish_phase(Phase, int) override {}

  /// (Nobody wants the result of a frame that was not filtered: it is of a margin.)
  Frame finish(int at) override {
    Slot slot = std::exchange(slots_[at], {});
    finished_.push_back(std::move(slot.taken));
    return lull::cuda::handed_out(std::move(memory_of(slot)));
  }

  int in_flight() const noexcept override { return results - 1; }

  void await() override {
    const lull::cuda::NvtxRange range("wait for the oldest result");
    if (const lull::cuda::Event taken = std::exchange(finished_.front(), nullptr))
      check(cudaEventSynchronize(taken.get()));
    finished_.pop_front();
  }

 private:
  using FlatPlanes = std::array<DeviceBuffer<float>, max_planes>;
  struct In {
    RawFrame raw;
    GuideFrame guide;
    lull::cuda::Event brought = lull::cuda::make_event(), read = lull::cuda::make_event();
    In(const CudaFrameWorker& worker, const Stabilisers& stabilisers)
        : raw(planes_alone(worker.format_), worker.computing_.get(), worker.levels_,
              curves_of(stabilisers)),
          guide(worker.levels_, stabilisers, Colour::as_is) {}
  };
  struct Out {
    RawFrame raw;
    lull::cuda::Event written = lull::cuda::make_event(), taken = lull::cuda::make_event();
    Out(const CudaFrameWorker& worker, const Stabilisers& stabilisers)
        : raw(planes_alone(worker.format_), worker.computing_.get(), worker.levels_,
              curves_of(stabilisers)) {}
  };
  /// A frame that is not out yet.
  struct Slot {
    Frame clean;              // once it has memory
    lull::cuda::Event taken;  // the result is there; null: it was not filtered
  };

  int slot_count() const { return static_cast<int>(slots_.size()); }

  void add_set(const PlaneSet& planes) {
    const FramePlan plan = frame_plan(params_, format_, planes);
    sets_.push_back({planes, cuda::FrameFilter(plan, computing_.get())});
    for (const int i : planes.planes) {
      margins_[i] = Margins::none(plan.width, plan.height);
      flat_[i] = zeroed<float>(margins_[i].size(), computing_.get());
      if (format_.sample == SampleType::f32)
        original_[i] = {slot_count(), in_[0]->raw.plane_bytes(i), computing_.get()};
    }
    for (const int i : planes.guides)
      if (params_.guided) flat_guide_[i] = zeroed<float>(margins_[i].size(), computing_.get());
  }

  Frame& memory_of(Slot& slot) {
    if (!slot.clean.pixels) slot.clean = pool_.acquire();
    return slot.clean;
  }

  /// Of the frame taken last.
  void pass_through(Slot& slot) {
    for (int i = 0; i < format_.planes(); ++i)
      if (params_.noise.sigma(i) == 0)
        in_[last_]->raw.pass_through(i, taken_, memory_of(slot), bringing_.get());
  }

  void to_planes(const In& in) {
    std::array<const Margins*, max_planes> margins{};
    for (int i = 0; i < max_planes; ++i) margins[i] = &margins_[i];
    const auto memory_in = [](const FlatPlanes& planes) {
      return std::array{planes[0].get(), planes[1].get(), planes[2].get()};
    };
    in.raw.to_planes(margins, memory_in(flat_), computing_.get());
    if (params_.guided) in.guide.raw().to_planes(margins, memory_in(flat_guide_), computing_.get());
  }

  static cuda::Planes3 planes_of(const std::vector<int>& numbers, const FlatPlanes& all) {
    cuda::Planes3 planes{};
    for (std::size_t k = 0; k < numbers.size(); ++k) planes[k] = all[numbers[k]].get();
    return planes;
  }

  const std::uint8_t* bring_holes() {
    if (!params_.holes || !holes_of(taken_)) return nullptr;
    copy_reached(taken_, 1, holes_.get(), computing_.get());
    return holes_.get();
  }

  /// Float samples as they came, for RawFrame::restore(); of planes that pass through any will do.
  RawPlanes original_in(int at, const RawFrame& raw) const {
    RawPlanes planes = raw.planes();
    for (int i = 0; i < format_.planes(); ++i)
      if (std::byte* const original = original_[i].at(at)) planes.data[i] = original;
    return planes;
  }

  Params params_;
  FrameFormat format_;
  std::array<float, max_planes> levels_;  // of the noise in samples as they are stored
  lull::cuda::Stream bringing_, computing_, taking_;
  lull::cuda::ResultFrames pool_;
  std::vector<Slot> slots_;
  Frame taken_;
  std::array<std::unique_ptr<In>, 2> in_;
  int last_ = 0;  // in_ of the frame taken last
  std::array<std::unique_ptr<Out>, results> out_;
  int filtered_ = 0;                        // frames
  std::deque<lull::cuda::Event> finished_;  // Slot::taken of frames that nobody waited for
  std::vector<FilteredSet> sets_;
  std::array<Margins, max_planes> margins_;                // none, of the planes that are filtered
  FlatPlanes flat_, flat_guide_;                           // of the frame loaded last
  std::array<PlaneRing<std::byte>, max_planes> original_;  // of floats, as they came
  DeviceBuffer<std::uint8_t> holes_;                       // of the frame loaded last
  std::optional<DeviceMotion> motion_;                     // over time
};

}  // namespace

std::unique_ptr<FrameWorker> make_cuda_frame_worker(const Params& params, const FrameFormat& format,
                                                    bool results_on_device) {
  return std::make_unique<CudaFrameWorker>(params, format, results_on_device);
}

}  // namespace lull::nlm
