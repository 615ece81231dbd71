// Sessions of the cuda backend. Where frames are filtered each for itself, a session has as many
// slots as frames in flight; each slot owns a stream and all that one frame needs on the device, so
// that the copies of one frame run beside the kernels of another. The host waits for one thing
// alone: the oldest frame, when all slots are taken. Over time, frame_session.h says what happens.

#include <cstring>
#include <vector>

#include "bm3d/cuda/session.h"
#include "bm3d/cuda/session_with_matcher.h"
#include "bm3d/cuda/slot.h"
#include "bm3d/cuda/worker.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "cuda/device_list.h"
#include "cuda/handles.h"
#include "cuda/nvtx.h"
#include "cuda/pinned_memory.h"

namespace lull::bm3d {
namespace {

/// Frames each for itself.
class SlotSession final : public Denoiser {
 public:
  SlotSession(const Params& params, const FrameFormat& format, int streams,
              cuda::MatcherFactory make_matcher)
      : format_(format), pool_(format, cuda::pinned_memory()) {
    for (int i = 0; i < streams; ++i)
      slots_.push_back(std::make_unique<CudaSlot>(params, format, make_matcher));
    pool_.reserve(streams + results_that_wait);
  }

  int latency() const noexcept override { return static_cast<int>(slots_.size()); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    CudaSlot& slot = *slots_[next_];
    next_ = (next_ + 1) % slots_.size();
    std::optional<Frame> ready = slot.finish();
    slot.start(std::move(noisy), pool_.acquire());
    return ready;
  }

  std::optional<Frame> drain() override {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      CudaSlot& slot = *slots_[next_];
      next_ = (next_ + 1) % slots_.size();
      if (std::optional<Frame> ready = slot.finish()) return ready;
    }
    return std::nullopt;
  }

 private:
  FrameFormat format_;
  FramePool pool_;
  std::vector<std::unique_ptr<CudaSlot>> slots_;
  std::size_t next_ = 0;  // slot of the oldest frame in flight, and of the next one to start
};

/// A session whose device is current while it works, and while it is made and destroyed.
class SessionOnDevice final : public Denoiser {
 public:
  SessionOnDevice(const Params& params, const FrameFormat& format, int device, int streams,
                  cuda::MatcherFactory make_matcher)
      : device_(device) {
    const cuda::DeviceScope scope(device);
    if (params.temporal > 0)
      session_ = open_session(session_plan(params, format), format,
                              make_cuda_worker(params, format, make_matcher));
    else
      session_ = std::make_unique<SlotSession>(params, format, streams, make_matcher);
  }

  ~SessionOnDevice() override {
    try {
      const cuda::DeviceScope scope(device_);
      session_.reset();
    } catch (...) {
    }
  }

  int latency() const noexcept override { return session_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    return on_device([&] { return session_->push(std::move(noisy)); });
  }
  std::optional<Frame> next() override {
    return on_device([&] { return session_->next(); });
  }
  std::optional<Frame> drain() override {
    return on_device([&] { return session_->drain(); });
  }

 private:
  /// Runs `work` while the device is current. It could be used when the session was opened: if it
  /// cannot any more, or lacks memory, it has failed.
  template <class Work>
  std::optional<Frame> on_device(Work&& work) const {
    try {
      const cuda::DeviceScope scope(device_);
      return work();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device_failed && error.kind() != ErrorKind::device_unavailable)
        throw;
      throw DeviceFailure("cuda:" + std::to_string(device_) + " failed (" +
                          without_suggestion(error.what()) + "); run the job again");
    }
  }

  int device_;
  std::unique_ptr<Denoiser> session_;
};

}  // namespace

std::unique_ptr<Denoiser> open_cuda(const Params& params, const FrameFormat& format, int device,
                                    int streams) {
  return open_cuda(params, format, device, streams, cuda::make_exhaustive_matcher);
}

std::unique_ptr<Denoiser> open_cuda(const Params& params, const FrameFormat& format, int device,
                                    int streams, cuda::MatcherFactory make_matcher) {
  const cuda::DeviceList list = cuda::list_devices();
  if (list.devices.empty())
    throw DeviceUnavailable("no GPU (" + list.reason + "); choose the device cpu");
  if (device < 0 || device >= static_cast<int>(list.devices.size()))
    throw DeviceUnavailable("no GPU " + std::to_string(device) + " (visible: 0 to " +
                            std::to_string(list.devices.size() - 1) + "); see: lull devices");
  return std::make_unique<SessionOnDevice>(params, format, device, streams, make_matcher);
}

std::pmr::memory_resource* cuda_frame_memory() { return cuda::pinned_memory(); }

}  // namespace lull::bm3d
