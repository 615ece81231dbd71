// The worker for frames uses three CUDA streams: one for uploads, one for kernels, and one for
// downloads. Uploads have a high priority, because the host waits for the statistics of frames.

// Each slot has memory for a frame and its result. The worker filters frames before the session
// requests the results.

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

constexpr int max_results = 3;  // maximum number of results in flight, including the next one

/// Planes that the worker filters with the same weights.
struct FilteredSet {
  PlaneSet planes;
  cuda::FrameFilter filter;
};

class CudaFrameWorker final : public FrameWorker {
 public:
  CudaFrameWorker(const Params& params, const FrameFormat& format, bool results_on_device,
                  const ResultSamples& results)
      : params_(params),
        format_(format),
        results_(result_format(format, results)),
        levels_(params.noise.levels_in_samples()),
        upload_stream_(lull::cuda::make_stream(lull::cuda::Priority::high)),
        compute_stream_(lull::cuda::make_stream()),
        download_stream_(lull::cuda::make_stream()),
        pool_(results_, results_on_device),
        slots_(session_plan(params, format).slots()) {
    const Stabilisers stabilisers = stabilisers_of(params);
    for (auto& in : inputs_) in = std::make_unique<Input>(*this, stabilisers);
    for (auto& out : outputs_) out = std::make_unique<Output>(*this, stabilisers);
    for (const PlaneSet& planes : plane_sets(format, params.noise)) add_set(planes);
    if (params.holes)
      holes_ = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(format.width) * format.height);
    if (params.temporal > 0)
      motion_.emplace(format, levels_, slot_count(), upload_stream_.get(), compute_stream_.get());
    pool_.reserve(slot_count() + max_results + lull::cuda::expected_queued_results);
    check(cudaStreamSynchronize(compute_stream_.get()));
  }

  ~CudaFrameWorker() override {
    for (const auto* stream : {&upload_stream_, &compute_stream_, &download_stream_})
      (void)cudaStreamSynchronize(stream->get());
  }

  void take(const Frame& frame) override {
    const lull::cuda::NvtxRange range("upload a frame");
    // The worker compares the stored frame with the next frame, so the stored frame must be valid.
    // The check therefore comes before the assignment.
    (void)guide_of(frame, params_.guided);
    if (params_.holes) (void)holes_of(frame);
    last_frame_ = frame;
    last_input_ ^= 1;
    Input& in = *inputs_[last_input_];
    check(cudaStreamWaitEvent(upload_stream_.get(), in.consumed.get()));
    in.raw.upload(frame, upload_stream_.get());
    if (params_.guided) in.guide.upload(frame, upload_stream_.get());
    check(cudaEventRecord(in.uploaded.get(), upload_stream_.get()));
  }

  FrameDifference difference() override {
    return motion_->difference(inputs_[last_input_]->raw.planes(),
                               inputs_[last_input_ ^ 1]->raw.planes());
  }

  void load(int at) override {
    Input& in = *inputs_[last_input_];
    slots_[at] = {};
    const RawPlanes& matched_planes = (params_.guided ? in.guide.raw() : in.raw).planes();
    const FrameFormat& guide_format = params_.guided ? in.guide.format() : format_;
    if (motion_ && params_.scene_cut > 0) motion_->load_predicted(at, matched_planes, guide_format);
    pass_through(slots_[at]);
    check(cudaStreamWaitEvent(compute_stream_.get(), in.uploaded.get()));
    to_planes(in);
    for (int i = 0; i < format_.planes(); ++i)
      if (std::byte* const original = original_[i].at(at))
        check(cudaMemcpyAsync(original, in.raw.planes().data[i], in.raw.plane_bytes(i),
                              cudaMemcpyDeviceToDevice, compute_stream_.get()));
    if (motion_) motion_->load(at, matched_planes, guide_format);
    check(cudaEventRecord(in.consumed.get(), compute_stream_.get()));
    const std::uint8_t* const holes = upload_holes();
    for (FilteredSet& set : sets_)
      set.filter.load(at, planes_of(set.planes.planes, flat_),
                      planes_of(set.planes.guides, flat_guide_), holes);
    // After this wait, the caller may release the frame, which is in host memory or in a picture of
    // the decoder.
    check(cudaStreamSynchronize(upload_stream_.get()));
    last_frame_ = {};
  }

  PredictionCost prediction(int slot, int earlier) override {
    return motion_->prediction(slot, earlier);
  }

  void filter(Phase, std::span<const SlotFrame> frames) override {
    const lull::cuda::NvtxRange range("filter a frame");
    const int own = frames[0].frame;
    Slot& slot = slots_[own];
    Output& out = *outputs_[filtered_++ % max_results];
    if (motion_) motion_->find(frames);
    check(cudaStreamWaitEvent(compute_stream_.get(), out.downloaded.get()));
    for (FilteredSet& set : sets_) {
      std::array<cuda::CandidateSlot, max_frames> candidates;
      for (std::size_t f = 0; f < frames.size(); ++f)
        candidates[f] = {frames[f].frame,
                         motion_ ? motion_->cells(own, frames[f].offset) : nullptr};
      set.filter.run({candidates.data(), frames.size()});
      for (std::size_t k = 0; k < set.planes.planes.size(); ++k) {
        const int i = set.planes.planes[k];
        out.raw.from_plane(i, margins_[i], set.filter.result(static_cast<int>(k)),
                           compute_stream_.get());
      }
    }
    out.raw.restore(original_in(own, out.raw), compute_stream_.get());
    check(cudaEventRecord(out.ready.get(), compute_stream_.get()));
    check(cudaStreamWaitEvent(download_stream_.get(), out.ready.get()));
    for (const FilteredSet& set : sets_)
      for (const int i : set.planes.planes)
        out.raw.download(i, memory_of(slot), download_stream_.get());
    check(cudaEventRecord(out.downloaded.get(), download_stream_.get()));
    slot.downloaded = lull::cuda::make_event();
    check(cudaEventRecord(slot.downloaded.get(), download_stream_.get()));
  }

  void finish_phase(Phase, int) override {}

  /// Returns the result of the frame in slot `at`. If the worker has not filtered the frame, the
  /// samples are arbitrary, and the caller discards the result.
  Frame finish(int at) override {
    Slot slot = std::exchange(slots_[at], {});
    finished_.push_back(std::move(slot.downloaded));
    return lull::cuda::publish_frame(std::move(memory_of(slot)));
  }

  int in_flight() const noexcept override { return max_results - 1; }

  void await() override {
    const lull::cuda::NvtxRange range("wait for the oldest result");
    if (const lull::cuda::Event downloaded = std::exchange(finished_.front(), nullptr))
      check(cudaEventSynchronize(downloaded.get()));
    finished_.pop_front();
  }

 private:
  using FlatPlanes = std::array<DeviceBuffer<float>, max_planes>;
  struct Input {
    RawFrame raw;
    GuideFrame guide;
    lull::cuda::Event uploaded = lull::cuda::make_event(), consumed = lull::cuda::make_event();
    Input(const CudaFrameWorker& worker, const Stabilisers& stabilisers)
        : raw(without_colour_transform(worker.format_), worker.compute_stream_.get(),
              worker.levels_, curves_of(stabilisers), without_colour_transform(worker.results_)),
          guide(worker.levels_, stabilisers, Colour::as_is) {}
  };
  struct Output {
    RawFrame raw;
    lull::cuda::Event ready = lull::cuda::make_event(), downloaded = lull::cuda::make_event();
    Output(const CudaFrameWorker& worker, const Stabilisers& stabilisers)
        : raw(without_colour_transform(worker.format_), worker.compute_stream_.get(),
              worker.levels_, curves_of(stabilisers), without_colour_transform(worker.results_)) {}
  };
  /// A frame whose result the worker has not returned yet.
  struct Slot {
    Frame clean;                   // once its memory is allocated
    lull::cuda::Event downloaded;  // the result is complete; null: the frame was not filtered
  };

  int slot_count() const { return static_cast<int>(slots_.size()); }

  void add_set(const PlaneSet& planes) {
    const FramePlan plan = frame_plan(params_, format_, planes);
    sets_.push_back({planes, cuda::FrameFilter(plan, compute_stream_.get())});
    for (const int i : planes.planes) {
      margins_[i] = Margins::none(plan.width, plan.height);
      flat_[i] = zeroed<float>(margins_[i].size(), compute_stream_.get());
      if (format_.sample == SampleType::f32)
        original_[i] = {slot_count(), inputs_[0]->raw.plane_bytes(i), compute_stream_.get()};
    }
    for (const int i : planes.guides)
      if (params_.guided) flat_guide_[i] = zeroed<float>(margins_[i].size(), compute_stream_.get());
  }

  Frame& memory_of(Slot& slot) {
    if (!slot.clean.pixels) slot.clean = pool_.acquire();
    return slot.clean;
  }

  /// Copies the unfiltered planes of the most recently accepted frame to the result in `slot`.
  void pass_through(Slot& slot) {
    for (int i = 0; i < format_.planes(); ++i)
      if (params_.noise.sigma(i) == 0)
        inputs_[last_input_]->raw.pass_through(i, last_frame_, memory_of(slot),
                                               upload_stream_.get());
  }

  void to_planes(const Input& in) {
    std::array<const Margins*, max_planes> margins{};
    for (int i = 0; i < max_planes; ++i) margins[i] = &margins_[i];
    const auto memory_in = [](const FlatPlanes& planes) {
      return std::array{planes[0].get(), planes[1].get(), planes[2].get()};
    };
    in.raw.to_planes(margins, memory_in(flat_), compute_stream_.get());
    if (params_.guided)
      in.guide.raw().to_planes(margins, memory_in(flat_guide_), compute_stream_.get());
  }

  static cuda::Planes3 planes_of(const std::vector<int>& numbers, const FlatPlanes& all) {
    cuda::Planes3 planes{};
    for (std::size_t k = 0; k < numbers.size(); ++k) planes[k] = all[numbers[k]].get();
    return planes;
  }

  const std::uint8_t* upload_holes() {
    if (!params_.holes || !holes_of(last_frame_)) return nullptr;
    copy_reached(last_frame_, 1, holes_.get(), compute_stream_.get());
    return holes_.get();
  }

  /// Returns the planes for RawFrame::restore(). A plane refers to its original float samples if
  /// the worker has stored these samples, and otherwise to the samples of `raw`.
  RawPlanes original_in(int at, const RawFrame& raw) const {
    RawPlanes planes = raw.planes();
    for (int i = 0; i < format_.planes(); ++i)
      if (std::byte* const original = original_[i].at(at)) planes.data[i] = original;
    return planes;
  }

  Params params_;
  FrameFormat format_, results_;
  std::array<float, max_planes> levels_;  // noise levels of stored samples
  lull::cuda::Stream upload_stream_, compute_stream_, download_stream_;
  lull::cuda::ResultFrames pool_;
  std::vector<Slot> slots_;
  Frame last_frame_;
  std::array<std::unique_ptr<Input>, 2> inputs_;
  int last_input_ = 0;  // index of the last frame taken in inputs_
  std::array<std::unique_ptr<Output>, max_results> outputs_;
  int filtered_ = 0;  // number of filtered frames
  // Events that occur when the downloads of returned results are complete, oldest result first. The
  // worker removes an event when the caller waits for the result. An event is null if the worker
  // did not filter the frame.
  std::deque<lull::cuda::Event> finished_;
  std::vector<FilteredSet> sets_;
  std::array<Margins, max_planes> margins_;  // no padding, for the planes that are filtered
  FlatPlanes flat_, flat_guide_;             // the last frame loaded
  std::array<PlaneRing<std::byte>, max_planes> original_;  // original samples of float planes
  DeviceBuffer<std::uint8_t> holes_;                       // holes of the last frame loaded
  std::optional<DeviceMotion> motion_;                     // null without a temporal radius
};

}  // namespace

std::unique_ptr<FrameWorker> make_cuda_frame_worker(const Params& params, const FrameFormat& format,
                                                    bool results_on_device,
                                                    const ResultSamples& results) {
  cuda::require_addressable(params, format);
  return std::make_unique<CudaFrameWorker>(params, format, results_on_device, results);
}

}  // namespace lull::nlm
