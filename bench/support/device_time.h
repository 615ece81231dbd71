#pragma once
// Measures time with events on a stream. This is the time on the device, independent of the cost of
// launches on the host. CUDA only.

#include <algorithm>
#include <vector>

#include "cuda/handles.h"

namespace lull::bench {

/// Times in ms, in ascending order.
class Times {
 public:
  explicit Times(std::vector<float> ms) : ms_(std::move(ms)) { std::sort(ms_.begin(), ms_.end()); }
  double at(double share) const {
    return static_cast<double>(
        ms_[static_cast<std::size_t>(share * static_cast<double>(ms_.size() - 1))]);
  }
  double median() const { return at(0.5); }

 private:
  std::vector<float> ms_;
};

class DeviceTimer {
 public:
  explicit DeviceTimer(cudaStream_t stream) : stream_(stream) {}

  /// Returns the time in ms of the work that `work` queues on the stream. The function waits for
  /// the end of that work.
  template <class Work>
  float once(const Work& work) const {
    cuda::check(cudaEventRecord(begin_.get(), stream_));
    work();
    cuda::check(cudaEventRecord(end_.get(), stream_));
    cuda::check(cudaEventSynchronize(end_.get()));
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, begin_.get(), end_.get()));
    return ms;
  }

  /// Measures the work `repeats` times, after three warm-up runs.
  template <class Work>
  Times repeat(int repeats, const Work& work) const {
    for (int i = 0; i < 3; ++i) once(work);
    std::vector<float> times;
    for (int i = 0; i < std::max(1, repeats); ++i) times.push_back(once(work));
    return Times(std::move(times));
  }

 private:
  cudaStream_t stream_;
  cuda::Event begin_ = cuda::make_event(cuda::Timing::on);
  cuda::Event end_ = cuda::make_event(cuda::Timing::on);
};

}  // namespace lull::bench
