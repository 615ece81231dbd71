// Three streams: one brings slices, as samples and as planes of floats, one computes, and one takes
// results away. Each batch of layers is queued as a few launches over all its slices, and the host
// waits for results alone: those of a batch are on their way while it brings the next one. What
// slices are written to is used again when the results of a batch before are there.

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "bm4d/cuda/plane_volume.h"
#include "bm4d/cuda/worker.h"
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
  CudaWorker(const Params& params, const FrameFormat& format, bool results_on_device)
      : format_(planes_alone(format)),
        extent_(params, format),
        bringing_(lull::cuda::make_stream(lull::cuda::Priority::high)),
        computing_(lull::cuda::make_stream()),
        taking_(lull::cuda::make_stream()),
        noisy_(format_, params.noise.levels_in_samples(), extent_.noisy, computing_.get()),
        results_(format_, params.noise.levels_in_samples(), 2 * extent_.batch, computing_.get()),
        pool_(format, results_on_device),
        brought_(lull::cuda::make_event()),
        computed_(lull::cuda::make_event()) {
    std::size_t members = 0;
    for (const PlanePlan& plan : plan_planes(params, format)) {
      volumes_.push_back(std::make_unique<PlaneVolume>(plan, format_, extent_, computing_.get()));
      members = std::max(members, volumes_.back()->members());
      passes_[plan.plane] = false;
    }
    groups_ = lull::cuda::DeviceBuffer<std::uint32_t>(members);
    pool_.reserve(extent_.batch);
    check(cudaStreamSynchronize(computing_.get()));
  }

  ~CudaWorker() override { wait_for_all(); }

  void begin(int z) override {
    wait_for_all();  // what is written now may be in use by the volume before
    brought_end_ = loaded_end_ = z;
    written_.clear();
    for (auto& volume : volumes_) volume->begin(z);
  }

  void load(int z, const Frame& slice) override {
    const lull::cuda::NvtxRange range("bring a slice");
    // Where this slice goes is another one: its result has to be there.
    for (const Written& written : written_)
      if (written.end > z - extent_.noisy && written.first <= z - extent_.noisy)
        check(cudaStreamWaitEvent(bringing_.get(), written.there.get()));
    noisy_.bring(z, slice, bringing_.get());
    brought_end_ = z + 1;
    if (brought_end_ - loaded_end_ == extent_.batch) make_planes();
  }

  void filter(const Layers& layers) override {
    const lull::cuda::NvtxRange range(layers.phase == Phase::first ? "first phase"
                                                                   : "second phase");
    make_planes();
    for (auto& volume : volumes_) volume->filter(layers, groups_.get(), computing_.get());
  }

  void finish_basic(SliceSpan slices) override {
    make_planes();
    for (auto& volume : volumes_) volume->finish_basic(slices, computing_.get());
  }

  Frame acquire() override { return pool_.acquire(); }

  void finish(int z, std::span<const Frame>, std::span<const Frame> clean) override {
    const lull::cuda::NvtxRange range("take results away");
    make_planes();
    const SliceSpan slices{z, z + static_cast<int>(clean.size())};
    // The memory for results holds those of two batches.
    for (const Written& written : written_)
      if (written.end > slices.first - 2 * extent_.batch &&
          written.first < slices.end - 2 * extent_.batch)
        check(cudaStreamWaitEvent(computing_.get(), written.there.get()));
    for (auto& volume : volumes_)
      volume->finish(slices, noisy_.plane(volume->plane()), results_.plane(volume->plane()),
                     computing_.get());
    check(cudaEventRecord(computed_.get(), computing_.get()));
    check(cudaStreamWaitEvent(taking_.get(), computed_.get()));
    for (int k = 0; k < slices.size(); ++k)
      for (int i = 0; i < format_.planes(); ++i)
        (passes_[i] ? noisy_ : results_).take(z + k, i, clean[k], taking_.get());
    written_.push_back({slices.first, slices.end, slices.size(), lull::cuda::make_event()});
    check(cudaEventRecord(written_.back().there.get(), taking_.get()));
    while (written_.size() > 1 && written_.front().waiting == 0 &&
           written_.front().end <= brought_end_ - extent_.noisy - extent_.batch)
      written_.pop_front();
  }

  void await() override {
    for (Written& written : written_)
      if (written.waiting > 0) {
        --written.waiting;
        return check(cudaEventSynchronize(written.there.get()));
      }
  }

  int in_flight() const noexcept override { return extent_.batch; }
  int layers_at_a_time() const noexcept override { return extent_.layers; }

 private:
  /// Slices whose results are on their way.
  struct Written {
    int first, end;
    int waiting;  // results that nobody waited for
    lull::cuda::Event there;
  };

  void wait_for_all() {
    for (const auto* stream : {&bringing_, &computing_, &taking_})
      (void)cudaStreamSynchronize(stream->get());
  }

  /// Of all slices that were brought: what is computed from now on sees them.
  void make_planes() {
    if (loaded_end_ == brought_end_) return;
    const SliceSpan fresh{std::exchange(loaded_end_, brought_end_), brought_end_};
    for (auto& volume : volumes_)
      volume->load(fresh, noisy_.plane(volume->plane()), bringing_.get());
    check(cudaEventRecord(brought_.get(), bringing_.get()));
    check(cudaStreamWaitEvent(computing_.get(), brought_.get()));
  }

  FrameFormat format_;
  Extent extent_;
  lull::cuda::Stream bringing_, computing_, taking_;
  StoredSlices noisy_, results_;
  lull::cuda::ResultFrames pool_;
  lull::cuda::Event brought_, computed_;
  std::vector<std::unique_ptr<PlaneVolume>> volumes_;
  std::array<bool, max_planes> passes_{true, true, true};  // of planes: without noise
  lull::cuda::DeviceBuffer<std::uint32_t> groups_;
  std::deque<Written> written_;
  int brought_end_ = 0, loaded_end_ = 0;  // slices before it are on the GPU, are planes of floats
};

}  // namespace

std::unique_ptr<VolumeWorker> make_cuda_worker(const Params& params, const FrameFormat& format,
                                               bool results_on_device) {
  return std::make_unique<CudaWorker>(params, format, results_on_device);
}

}  // namespace lull::bm4d
