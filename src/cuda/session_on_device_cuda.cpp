#include <string>
#include <utility>

#include "core/error.h"
#include "cuda/device_list.h"
#include "cuda/handles.h"
#include "cuda/pinned_memory.h"
#include "cuda/session_on_device.h"

namespace lull::cuda {
namespace {

class SessionOnDevice final : public Denoiser {
 public:
  SessionOnDevice(int device, const std::function<std::unique_ptr<Denoiser>()>& open)
      : device_(device) {
    lock_pages_with(device);
    const DeviceScope scope(device);
    session_ = open();
  }

  ~SessionOnDevice() override {
    try {
      const DeviceScope scope(device_);
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
  template <class Work>
  std::optional<Frame> on_device(Work&& work) const {
    try {
      const DeviceScope scope(device_);
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

std::unique_ptr<Denoiser> open_on_device(int device,
                                         const std::function<std::unique_ptr<Denoiser>()>& open) {
  const DeviceList list = list_devices();
  if (list.devices.empty())
    throw DeviceUnavailable("no GPU (" + list.reason + "); choose the device cpu");
  if (device < 0 || device >= static_cast<int>(list.devices.size()))
    throw DeviceUnavailable("no GPU " + std::to_string(device) + " (visible: 0 to " +
                            std::to_string(list.devices.size() - 1) + "); see: lull devices");
  return std::make_unique<SessionOnDevice>(device, open);
}

}  // namespace lull::cuda
