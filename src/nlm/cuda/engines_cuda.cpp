// The cuda backend's engines: planes come from and go to the host's memory.

#include <optional>
#include <string>

#include "core/error.h"
#include "cuda/check.h"
#include "nlm/cuda/engine.h"
#include "nlm/cuda/filters.h"

namespace lull::nlm {
namespace {

using lull::cuda::check;

/// A filter whose device is current while it works, and while it is made and destroyed.
template <class Filter, class Plan>
class FilterOnDevice {
 public:
  FilterOnDevice(const Plan& plan, int device) : device_(device) {
    const lull::cuda::DeviceScope scope(device);
    stream_ = lull::cuda::make_stream();
    filter_.emplace(plan, stream_.get());
    check(cudaStreamSynchronize(stream_.get()));
  }
  ~FilterOnDevice() {
    try {
      const lull::cuda::DeviceScope scope(device_);
      (void)cudaStreamSynchronize(stream_.get());
      filter_.reset();
      stream_.reset();
    } catch (...) {
    }
  }
  FilterOnDevice(const FilterOnDevice&) = delete;
  FilterOnDevice& operator=(const FilterOnDevice&) = delete;

  /// Runs `work` on the filter and waits for what it queued. The device could be used when the
  /// filter was made: if it cannot any more, or lacks memory, it has failed.
  template <class Work>
  void run(const Work& work) {
    try {
      const lull::cuda::DeviceScope scope(device_);
      work(*filter_);
      check(cudaStreamSynchronize(stream_.get()));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device_failed && error.kind() != ErrorKind::device_unavailable)
        throw;
      throw DeviceFailure("cuda:" + std::to_string(device_) + " failed (" +
                          without_suggestion(error.what()) + "); run the job again");
    }
  }
  const Filter& filter() const { return *filter_; }

 private:
  int device_;
  lull::cuda::Stream stream_;
  std::optional<Filter> filter_;
};

class CudaFrameEngine final : public FrameEngine {
 public:
  CudaFrameEngine(const FramePlan& plan, int device) : filter_(plan, device) {}

  void load(int slot, const PlaneViews& samples, const PlaneViews& guides) override {
    filter_.run([&](cuda::FrameFilter& filter) { filter.load(slot, samples, guides); });
  }
  void estimate(std::span<const CandidateFrame> frames,
                const std::array<PlaneView<float>, 3>& results) override {
    filter_.run([&](cuda::FrameFilter& filter) {
      filter.run(frames);
      filter.take(results);
    });
  }

 private:
  FilterOnDevice<cuda::FrameFilter, FramePlan> filter_;
};

class CudaVolumeEngine final : public VolumeEngine {
 public:
  CudaVolumeEngine(const VolumePlan& plan, int device) : filter_(plan, device) {}

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
  FilterOnDevice<cuda::VolumeFilter, VolumePlan> filter_;
};

}  // namespace

std::unique_ptr<FrameEngine> make_cuda_frame_engine(const FramePlan& plan, int device) {
  return std::make_unique<CudaFrameEngine>(plan, device);
}
std::unique_ptr<VolumeEngine> make_cuda_volume_engine(const VolumePlan& plan, int device) {
  return std::make_unique<CudaVolumeEngine>(plan, device);
}

}  // namespace lull::nlm
