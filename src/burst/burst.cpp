#include "burst/burst.h"

#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "burst/affine_warp.h"
#include "burst/alignment.h"
#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"

namespace lull::burst {
namespace {

PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

class AlignedDenoiser final : public Denoiser {
 public:
  AlignedDenoiser(std::unique_ptr<Denoiser> denoiser, const FrameFormat& format, int main_plane,
                  std::int64_t keep, int around)
      : denoiser_(std::move(denoiser)),
        pool_(format),
        main_plane_(main_plane),
        keep_(keep),
        around_(around) {
    for (int i = 0; i < format.planes(); ++i)
      for (std::array<Plane<float>, 3>* planes : {&samples_, &intermediate_, &warped_})
        (*planes)[i] = {format.plane_width(i), format.plane_height(i)};
  }

  int latency() const noexcept override { return denoiser_->latency() + around_; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (frames are aligned in host memory); decode it on "
          "the CPU");
    const std::int64_t number = pushed_++;
    // The last `around_` frames before the reference frame wait for the reference frame.
    if (number < keep_ && number >= keep_ - around_) {
      waiting_.push_back(std::move(noisy));
      return next();
    }
    if (number == keep_) {
      reference_.emplace(pyramid_of(noisy));
      push_waiting();
    }
    take(number > keep_ && number <= keep_ + around_ ? warp_to_reference(noisy) : std::move(noisy));
    return next();
  }

  std::optional<Frame> next() override {
    if (ready_.empty()) return denoiser_->next();
    std::optional<Frame> frame = std::move(ready_.front());
    ready_.pop_front();
    return frame;
  }

  std::optional<Frame> drain() override {
    push_waiting();  // the clip ended before the reference frame arrived
    if (std::optional<Frame> frame = next()) return frame;
    std::optional<Frame> frame = denoiser_->drain();
    if (!frame) pushed_ = 0, reference_.reset();
    return frame;
  }

 private:
  void take(Frame frame) {
    for (auto ready = denoiser_->push(std::move(frame)); ready; ready = denoiser_->next())
      ready_.push_back(*std::move(ready));
  }

  void push_waiting() {
    for (Frame& frame : std::exchange(waiting_, {}))
      take(reference_ ? warp_to_reference(frame) : std::move(frame));
  }

  /// Returns plane `i` of `frame` as floats. Samples that are not finite become 0.
  PlaneView<const float> load(const Frame& frame, int i) {
    const PlaneView<float> plane = samples_[i].view();
    load_plane(frame, i, plane);
    if (frame.format.sample == SampleType::f32)
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
          if (!std::isfinite(plane(x, y))) plane(x, y) = 0;
    return plane;
  }

  Pyramid pyramid_of(const Frame& frame) { return Pyramid(load(frame, main_plane_)); }

  /// Returns the warped frame without guide, features and holes (FrameInputs), because the function
  /// does not warp these.
  Frame warp_to_reference(const Frame& frame) {
    const Alignment found = find_alignment(*reference_, pyramid_of(frame));
    Frame result = pool_.acquire();
    result.copy_info(frame);
    for (int i = 0; i < frame.format.planes(); ++i) {
      const FrameFormat& f = frame.format;
      const AffineWarp by(found, 1.0 * f.plane_width(main_plane_) / f.plane_width(i),
                          1.0 * f.plane_height(main_plane_) / f.plane_height(i));
      warp(load(frame, i), by, intermediate_[i].view(), warped_[i].view());
      store_plane(read(warped_[i]), result, i);
    }
    return result;
  }

  std::unique_ptr<Denoiser> denoiser_;
  FramePool pool_;
  int main_plane_;
  std::int64_t keep_, pushed_ = 0;
  int around_;
  std::optional<Pyramid> reference_;
  std::deque<Frame> waiting_, ready_;
  std::array<Plane<float>, 3> samples_, intermediate_, warped_;
};

}  // namespace

std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser, const FrameFormat& format,
                                  int main_plane, std::int64_t keep, int around) {
  return std::make_unique<AlignedDenoiser>(std::move(denoiser), format, main_plane, keep, around);
}

}  // namespace lull::burst
