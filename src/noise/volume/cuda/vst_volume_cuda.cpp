// The session stores slices until the filter returns their results. The host waits for the end of a
// kernel before it reuses the buffers of the kernel.

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "cuda/handles.h"
#include "cuda/results/result_frames.h"
#include "noise/volume/cuda/kernels.h"
#include "noise/volume/cuda/vst_volume.h"
#include "noise/volume/vst_volume.h"

namespace lull::cuda {
namespace {

class DeviceVolumeVstSession final : public Denoiser {
 public:
  DeviceVolumeVstSession(const VolumeNoise& noise, const FrameFormat& format, int device,
                         std::unique_ptr<Denoiser> filter)
      : device_(device),
        format_(format),
        noise_(noise),
        pool_(format, device_memory(device)),
        stabilised_pool_(stabilised_format(format), device_memory(device)),
        filter_(std::move(filter)) {
    const DeviceScope scope(device);
    const RicianStabiliser rician(rician_shrink_range);
    inverse_ = rician.inverse();
    table_ = DeviceBuffer<float>(RicianInverse::knots + 1);
    check(cudaMemcpy(table_.get(), inverse_.table, table_.bytes(), cudaMemcpyHostToDevice));
    inverse_.table = table_.get();
    if (!noise.map) return;
    level_ = Plane<float>(format.width, format.height);
    levels_ = DeviceBuffer<float>(static_cast<std::size_t>(format.width) * format.height);
  }

  int latency() const noexcept override { return filter_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    check_slice(noisy);
    PendingSlice& slice = pending_.emplace_back();
    slice.z = noisy.slice >= 0 ? noisy.slice : next_slice_;
    next_slice_ = slice.z + 1;
    slice.stabilised = stabilise(noisy, slice.z);
    slice.stabilised.copy_info(noisy);
    if (noisy.guide) {
      check_slice(*noisy.guide);
      slice.stabilised.guide =
          std::make_shared<const Frame>(publish_frame(stabilise(*noisy.guide, slice.z)));
    }
    slice.noisy = std::move(noisy);
    return result(filter_->push(publish_frame(slice.stabilised)));
  }
  std::optional<Frame> next() override { return result(filter_->next()); }
  std::optional<Frame> drain() override {
    std::optional<Frame> rest = result(filter_->drain());
    if (!rest) next_slice_ = 0;
    return rest;
  }

 private:
  /// A slice whose result the filter has not returned yet.
  struct PendingSlice {
    Frame noisy, stabilised;
    int z = 0;
  };

  void check_slice(const Frame& frame) const {
    if (frame.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (!frame.on_device || frame.on_device->device != device_ || frame.on_device->shift != 0)
      throw InvalidArgument("a slice that is not in the memory of GPU " + std::to_string(device_) +
                            " (this session works there); copy it there");
  }

  Frame stabilise(const Frame& frame, int z) {
    const DeviceScope scope(device_);
    Frame stabilised = on_device(stabilised_pool_.acquire(), device_);
    stabilise_slice(frame.on_device->planes[0], format_, SampleVst(noise_, inverse_), level(z),
                    stabilised.planes[0], cudaStreamPerThread);
    check(cudaStreamSynchronize(cudaStreamPerThread));
    return stabilised;
  }

  std::optional<Frame> result(std::optional<Frame> filtered) {
    if (!filtered) return std::nullopt;
    if (pending_.empty()) throw InternalError("a filter returned more frames than it received");
    const PendingSlice slice = std::move(pending_.front());
    pending_.pop_front();
    const DeviceScope scope(device_);
    Frame clean = on_device(pool_.acquire(), device_);
    clean.copy_info(slice.noisy);
    invert_slice(slice.noisy.on_device->planes[0], slice.stabilised.on_device->planes[0],
                 filtered->on_device->planes[0], format_, SampleVst(noise_, inverse_),
                 level(slice.z), clean.planes[0], cudaStreamPerThread);
    check(cudaStreamSynchronize(cudaStreamPerThread));
    return publish_frame(std::move(clean));
  }

  /// Returns the noise level of each voxel of slice `z`. Null: a constant level.
  const float* level(int z) {
    if (!noise_.map) return nullptr;
    if (std::exchange(level_slice_, z) == z) return levels_.get();
    const PlaneView<float> view = level_.view();
    noise_.map->slice(z, view);
    const std::size_t row = sizeof(float) * static_cast<std::size_t>(view.width);
    check(cudaMemcpy2DAsync(levels_.get(), row, view.data, sizeof(float) * view.stride, row,
                            view.height, cudaMemcpyHostToDevice, cudaStreamPerThread));
    return levels_.get();
  }

  int device_;
  FrameFormat format_;
  VolumeNoise noise_;
  FramePool pool_, stabilised_pool_;
  RicianInverse inverse_;  // points to `table_`
  DeviceBuffer<float> table_, levels_;
  Plane<float> level_;  // host memory from which levels_ is copied
  int level_slice_ = -1;
  int next_slice_ = 0;
  std::deque<PendingSlice> pending_;
  std::unique_ptr<Denoiser> filter_;  // is destroyed first, because it may still read pending_
};

}  // namespace

std::unique_ptr<Denoiser> with_vst_on_device(const VolumeNoise& noise, const FrameFormat& format,
                                             int device, std::unique_ptr<Denoiser> filter) {
  validate_vst(noise, format);
  if (noise.photons)
    throw InvalidArgument(
        "photon noise in the memory of a GPU (it is stabilised on the CPU); "
        "give frames in host memory");
  return std::make_unique<DeviceVolumeVstSession>(noise, format, device, std::move(filter));
}

}  // namespace lull::cuda
