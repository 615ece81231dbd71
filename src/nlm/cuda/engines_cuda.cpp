// The cuda backend's engines: planes come from and go to the host's memory.

#include "cuda/check.h"
#include "nlm/cuda/engine.h"
#include "nlm/cuda/filters.h"

namespace lull::nlm {
namespace {

using lull::cuda::check;

/// A filter and its stream.
template <class Filter>
class FilterOnStream {
 public:
  template <class Plan>
  explicit FilterOnStream(const Plan& plan)
      : stream_(lull::cuda::make_stream()), filter_(plan, stream_.get()) {
    check(cudaStreamSynchronize(stream_.get()));
  }
  ~FilterOnStream() { (void)cudaStreamSynchronize(stream_.get()); }
  FilterOnStream(const FilterOnStream&) = delete;
  FilterOnStream& operator=(const FilterOnStream&) = delete;

  /// Runs `work` on the filter and waits for what it queued.
  template <class Work>
  void run(const Work& work) {
    work(filter_);
    check(cudaStreamSynchronize(stream_.get()));
  }
  const Filter& filter() const { return filter_; }

 private:
  lull::cuda::Stream stream_;
  Filter filter_;
};

class CudaFrameEngine final : public FrameEngine {
 public:
  explicit CudaFrameEngine(const FramePlan& plan) : filter_(plan) {}

  void load(int slot, const PlaneViews& samples, const PlaneViews& guides,
            const Holes* holes) override {
    filter_.run([&](cuda::FrameFilter& filter) { filter.load(slot, samples, guides, holes); });
  }
  void estimate(std::span<const CandidateFrame> frames,
                const std::array<PlaneView<float>, 3>& results) override {
    filter_.run([&](cuda::FrameFilter& filter) {
      filter.run(frames);
      filter.take(results);
    });
  }

 private:
  FilterOnStream<cuda::FrameFilter> filter_;
};

class CudaVolumeEngine final : public VolumeEngine {
 public:
  explicit CudaVolumeEngine(const VolumePlan& plan) : filter_(plan) {}

  int slices_at_a_time() const override { return filter_.filter().slices_at_a_time(); }
  void begin(int) override {}
  void load(int z, PlaneView<const float> samples, PlaneView<const float> guide) override {
    filter_.run([&](cuda::VolumeFilter& filter) { filter.load(z, samples, guide); });
  }
  void estimate(SliceSpan wanted, SliceSpan there,
                std::span<const PlaneView<float>> results) override {
    filter_.run([&](cuda::VolumeFilter& filter) {
      filter.run(wanted, there);
      for (int k = 0; k < wanted.size(); ++k) filter.take(k, results[k]);
    });
  }

 private:
  FilterOnStream<cuda::VolumeFilter> filter_;
};

}  // namespace

std::unique_ptr<FrameEngine> make_cuda_frame_engine(const FramePlan& plan) {
  return std::make_unique<CudaFrameEngine>(plan);
}
std::unique_ptr<VolumeEngine> make_cuda_volume_engine(const VolumePlan& plan) {
  return std::make_unique<CudaVolumeEngine>(plan);
}

}  // namespace lull::nlm
