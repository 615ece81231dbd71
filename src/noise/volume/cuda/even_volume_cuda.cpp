// Slices wait beside what the filter sees of them, as on the host (noise/even_session.h). Kernels
// are waited for: they are short, and what they read and write is at rest before and after.

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/plane.h"
#include "cuda/handles.h"
#include "cuda/results/result_frames.h"
#include "noise/volume/cuda/even_volume.h"
#include "noise/volume/cuda/kernels.h"
#include "noise/volume/even_volume.h"

namespace lull::cuda {
namespace {

class EvenVolumeOnDevice final : public Denoiser {
 public:
  EvenVolumeOnDevice(const VolumeNoise& noise, const FrameFormat& format, int device,
                     std::unique_ptr<Denoiser> filter)
      : device_(device),
        format_(format),
        noise_(noise),
        pool_(format, device_memory(device)),
        even_pool_(even_format(format), device_memory(device)),
        filter_(std::move(filter)) {
    const DeviceScope scope(device);
    const RicianStabiliser rician(rician_doubt);
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
    Inside& slice = inside_.emplace_back();
    slice.z = noisy.slice >= 0 ? noisy.slice : counted_;
    counted_ = slice.z + 1;
    slice.even = made_even(noisy, slice.z);
    slice.even.take_identity(noisy);
    slice.even.likeness = noisy.likeness;
    slice.even.aside = noisy.aside;
    if (noisy.guide) {
      check_slice(*noisy.guide);
      slice.even.guide =
          std::make_shared<const Frame>(handed_out(made_even(*noisy.guide, slice.z)));
    }
    slice.noisy = std::move(noisy);
    return result(filter_->push(handed_out(slice.even)));
  }
  std::optional<Frame> next() override { return result(filter_->next()); }
  std::optional<Frame> drain() override {
    std::optional<Frame> rest = result(filter_->drain());
    if (!rest) counted_ = 0;
    return rest;
  }

 private:
  /// A slice whose result is not out yet.
  struct Inside {
    Frame noisy, even;
    int z = 0;
  };

  void check_slice(const Frame& frame) const {
    if (frame.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (!frame.on_device || frame.on_device->device != device_ || frame.on_device->shift != 0)
      throw InvalidArgument("a slice that is no plane in the memory of GPU " +
                            std::to_string(device_) + " (the session's are); copy it there");
  }

  Frame made_even(const Frame& frame, int z) {
    const DeviceScope scope(device_);
    Frame even = on_device(even_pool_.acquire(), device_);
    make_slice_even(frame.on_device->planes[0], format_, EvenSamples(noise_, inverse_), level(z),
                    even.planes[0], cudaStreamPerThread);
    check(cudaStreamSynchronize(cudaStreamPerThread));
    return even;
  }

  std::optional<Frame> result(std::optional<Frame> filtered) {
    if (!filtered) return std::nullopt;
    if (inside_.empty()) throw InternalError("a filter gave back more frames than it got");
    const Inside slice = std::move(inside_.front());
    inside_.pop_front();
    const DeviceScope scope(device_);
    Frame clean = on_device(pool_.acquire(), device_);
    clean.take_identity(slice.noisy);
    bring_slice_back(slice.noisy.on_device->planes[0], slice.even.on_device->planes[0],
                     filtered->on_device->planes[0], format_, EvenSamples(noise_, inverse_),
                     level(slice.z), clean.planes[0], cudaStreamPerThread);
    check(cudaStreamSynchronize(cudaStreamPerThread));
    return handed_out(std::move(clean));
  }

  /// Of each voxel of a slice; null: the same everywhere.
  const float* level(int z) {
    if (!noise_.map) return nullptr;
    if (std::exchange(level_of_, z) == z) return levels_.get();
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
  FramePool pool_, even_pool_;
  RicianInverse inverse_;  // its table is table_
  DeviceBuffer<float> table_, levels_;
  Plane<float> level_;  // on its way to levels_
  int level_of_ = -1;
  int counted_ = 0;
  std::deque<Inside> inside_;
  std::unique_ptr<Denoiser> filter_;  // goes first: it may be reading what is inside
};

}  // namespace

std::unique_ptr<Denoiser> made_even_on_device(const VolumeNoise& noise, const FrameFormat& format,
                                              int device, std::unique_ptr<Denoiser> filter) {
  validate_even(noise, format);
  return std::make_unique<EvenVolumeOnDevice>(noise, format, device, std::move(filter));
}

}  // namespace lull::cuda
