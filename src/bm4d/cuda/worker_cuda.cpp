// The worker uses three CUDA streams: one for uploads and conversions, one for kernels, and one for
// downloads. Each batch of reference cubes takes a few launches.

// While the GPU computes, the host uploads the next batch. The host waits only for results.

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "bm4d/cuda/plane_volume.h"
#include "bm4d/cuda/worker.h"
#include "core/samples.h"
#include "cuda/check.h"
#include "cuda/handles.h"
#include "cuda/nvtx.h"
#include "cuda/raw_frame.h"
#include "cuda/results/result_frames.h"

namespace lull::bm4d {
namespace {

using lull::cuda::check;
using namespace bm4d::cuda;

class CudaWorker final : public VolumeWorker {
 public:
  CudaWorker(const Params& params, const FrameFormat& format, bool results_on_device,
             const FrameFormat& results)
      : format_(without_colour_transform(format)),
        extent_(params, format),
        upload_stream_(lull::cuda::make_stream(lull::cuda::Priority::high)),
        compute_stream_(lull::cuda::make_stream()),
        download_stream_(lull::cuda::make_stream()),
        noisy_(format_, params.noise.levels_in_samples(), extent_.noisy, compute_stream_.get()),
        results_(without_colour_transform(results), params.noise.levels_in_samples(),
                 2 * extent_.batch, compute_stream_.get()),
        pool_(results, results_on_device),
        converts_(!have_equal_samples(format, results)),
        uploaded_(lull::cuda::make_event()),
        computed_(lull::cuda::make_event()) {
    std::size_t members = 0;
    for (const PlanePlan& plan : plan_planes(params, format)) {
      volumes_.push_back(
          std::make_unique<PlaneVolume>(plan, format_, extent_, compute_stream_.get()));
      members = std::max(members, volumes_.back()->members());
      passes_[plan.plane] = false;
    }
    groups_ = lull::cuda::DeviceBuffer<std::uint32_t>(members);
    pool_.reserve(extent_.batch);
    check(cudaStreamSynchronize(compute_stream_.get()));
  }

  ~CudaWorker() override { wait_for_all(); }

  void begin(int z) override {
    wait_for_all();  // needed because the previous volume may still be in use
    uploaded_end_ = loaded_end_ = z;
    pending_results_.clear();
    for (auto& volume : volumes_) volume->begin(z);
  }

  void load(int z, const Frame& slice) override {
    const lull::cuda::NvtxRange range("upload a slice");
    // The new slice replaces an old slice of the ring buffer. Before that, the download of the old
    // slice's result must be complete.
    for (const PendingResult& pending : pending_results_)
      if (pending.end > z - extent_.noisy && pending.first <= z - extent_.noisy)
        check(cudaStreamWaitEvent(upload_stream_.get(), pending.finished.get()));
    noisy_.upload(z, slice, upload_stream_.get());
    uploaded_end_ = z + 1;
    if (uploaded_end_ - loaded_end_ == extent_.batch) make_planes();
  }

  void filter(const Layers& layers) override {
    const lull::cuda::NvtxRange range(layers.phase == Phase::first ? "first phase"
                                                                   : "second phase");
    make_planes();
    for (auto& volume : volumes_) volume->filter(layers, groups_.get(), compute_stream_.get());
  }

  void finish_basic(SliceSpan slices) override {
    make_planes();
    for (auto& volume : volumes_) volume->finish_basic(slices, compute_stream_.get());
  }

  Frame acquire() override { return pool_.acquire(); }

  void finish(int z, std::span<const Frame>, std::span<const Frame> clean) override {
    const lull::cuda::NvtxRange range("download results");
    make_planes();
    const SliceSpan slices{z, z + static_cast<int>(clean.size())};
    // The ring buffer has space for the results of two batches. The worker overwrites old results
    // after their download.
    for (const PendingResult& pending : pending_results_)
      if (pending.end > slices.first - 2 * extent_.batch &&
          pending.first < slices.end - 2 * extent_.batch)
        check(cudaStreamWaitEvent(compute_stream_.get(), pending.finished.get()));
    for (auto& volume : volumes_)
      volume->finish(slices, noisy_.plane(volume->plane()), results_.plane(volume->plane()),
                     compute_stream_.get());
    for (int k = 0; k < slices.size() && converts_; ++k)
      for (int i = 0; i < format_.planes(); ++i)
        if (passes_[i]) results_.convert(z + k, i, noisy_, compute_stream_.get());
    check(cudaEventRecord(computed_.get(), compute_stream_.get()));
    check(cudaStreamWaitEvent(download_stream_.get(), computed_.get()));
    for (int k = 0; k < slices.size(); ++k)
      for (int i = 0; i < format_.planes(); ++i)
        (passes_[i] && !converts_ ? noisy_ : results_)
            .download(z + k, i, clean[k], download_stream_.get());
    pending_results_.push_back({slices.first, slices.end, slices.size(), lull::cuda::make_event()});
    check(cudaEventRecord(pending_results_.back().finished.get(), download_stream_.get()));
    while (pending_results_.size() > 1 && pending_results_.front().waiting == 0 &&
           pending_results_.front().end <= uploaded_end_ - extent_.noisy - extent_.batch)
      pending_results_.pop_front();
  }

  void await() override {
    for (PendingResult& pending : pending_results_)
      if (pending.waiting > 0) {
        --pending.waiting;
        return check(cudaEventSynchronize(pending.finished.get()));
      }
  }

  int in_flight() const noexcept override { return extent_.batch; }
  int layers_at_a_time() const noexcept override { return extent_.layers; }

 private:
  /// Slices whose download has not completed.
  struct PendingResult {
    int first, end;
    int waiting;  // number of results for which the host has not waited
    lull::cuda::Event finished;
  };

  void wait_for_all() {
    for (const auto* stream : {&upload_stream_, &compute_stream_, &download_stream_})
      (void)cudaStreamSynchronize(stream->get());
  }

  /// Queues the conversion of all uploaded slices to floats. The compute stream waits for this
  /// conversion.
  void make_planes() {
    if (loaded_end_ == uploaded_end_) return;
    const SliceSpan fresh{std::exchange(loaded_end_, uploaded_end_), uploaded_end_};
    for (auto& volume : volumes_)
      volume->load(fresh, noisy_.plane(volume->plane()), upload_stream_.get());
    check(cudaEventRecord(uploaded_.get(), upload_stream_.get()));
    check(cudaStreamWaitEvent(compute_stream_.get(), uploaded_.get()));
  }

  FrameFormat format_;
  Extent extent_;
  lull::cuda::Stream upload_stream_, compute_stream_, download_stream_;
  StoredSlices noisy_, results_;
  lull::cuda::ResultFrames pool_;
  bool converts_;  // results have another sample format than slices
  lull::cuda::Event uploaded_, computed_;
  std::vector<std::unique_ptr<PlaneVolume>> volumes_;
  std::array<bool, max_planes> passes_{true, true, true};  // planes without noise
  lull::cuda::DeviceBuffer<std::uint32_t> groups_;
  std::deque<PendingResult> pending_results_;
  // The worker has uploaded the slices before `uploaded_end_`. It has also converted the slices
  // before `loaded_end_` to floats.
  int uploaded_end_ = 0, loaded_end_ = 0;
};

}  // namespace

std::unique_ptr<VolumeWorker> make_cuda_worker(const Params& params, const FrameFormat& format,
                                               bool results_on_device,
                                               const ResultSamples& results) {
  cuda::require_addressable(params, format);
  return std::make_unique<CudaWorker>(params, format, results_on_device,
                                      result_format(format, results));
}

}  // namespace lull::bm4d
