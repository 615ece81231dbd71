#include "pipeline/scale_denoiser.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/plane.h"
#include "core/samples.h"

namespace lull::pipeline {
namespace {

/// The place of a sample beyond the border.
int mirrored(int at, int size) {
  if (size == 1) return 0;
  while (at < 0 || at >= size) at = at < 0 ? -1 - at : 2 * size - 1 - at;
  return at;
}

/// out[i] of `half`, from samples 2i - 1 .. 2i + 2 of `size`.
template <class In>
float halved(const In& in, int i, int size) {
  const auto at = [&](int k) { return in(mirrored(2 * i + k, size)); };
  return (at(-1) + at(2) + 3 * (at(0) + at(1))) / 8;
}

/// Sample i of the enlarged, from those around it in `half`, of `size`: 3/4 and 1/4.
template <class In>
float enlarged(const In& in, int i, int size) {
  const int near = i / 2, far = near + (i % 2 == 0 ? -1 : 1);
  return 0.75f * in(mirrored(near, size)) + 0.25f * in(mirrored(far, size));
}

/// [1 2 1] / 4.
template <class In>
float smoothed(const In& in, int i, int size) {
  return (in(mirrored(i - 1, size)) + 2 * in(i) + in(mirrored(i + 1, size))) / 4;
}

/// `filter` along columns, then along rows, from a plane to one of another size.
template <class Filter>
void separable(PlaneView<const float> from, PlaneView<float> to, const Filter& filter) {
  Plane<float> columns(from.width, to.height);
  const PlaneView<float> middle = columns.view();
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < from.width; ++x)
      middle(x, y) = filter([&](int k) { return from(x, k); }, y, from.height);
  for (int y = 0; y < to.height; ++y) {
    const float* row = middle.row(y);
    for (int x = 0; x < to.width; ++x)
      to(x, y) = filter([&](int k) { return row[k]; }, x, from.width);
  }
}

constexpr auto halve = [](const auto& in, int i, int size) { return halved(in, i, size); };
constexpr auto enlarge = [](const auto& in, int i, int size) { return enlarged(in, i, size); };
constexpr auto smooth = [](const auto& in, int i, int size) { return smoothed(in, i, size); };

Plane<float> samples_of(const Frame& frame, int i) {
  Plane<float> plane(frame.format.plane_width(i), frame.format.plane_height(i));
  load_plane(frame, i, plane.view());
  return plane;
}

int half_of(int size) { return (size + 1) / 2; }

Plane<float> half_plane(PlaneView<const float> plane) {
  Plane<float> half(half_of(plane.width), half_of(plane.height));
  separable(plane, half.view(), halve);
  return half;
}

class ScaleDenoiser final : public Denoiser {
 public:
  ScaleDenoiser(const FrameFormat& frame, std::unique_ptr<Denoiser> fine,
                std::unique_ptr<Denoiser> coarse)
      : halving_(frame), pool_(frame), fine_(std::move(fine)), coarse_(std::move(coarse)) {}

  int latency() const noexcept override { return std::max(fine_->latency(), coarse_->latency()); }

  std::optional<Frame> push(Frame noisy) override {
    push_to(*coarse_, halving_.of(noisy), coarse_done_);
    push_to(*fine_, std::move(noisy), fine_done_);
    return next();
  }

  std::optional<Frame> next() override {
    if (fine_done_.empty() || coarse_done_.empty()) return std::nullopt;
    const Frame fine = std::move(fine_done_.front()), coarse = std::move(coarse_done_.front());
    fine_done_.pop_front();
    coarse_done_.pop_front();
    return fine.pixels && coarse.pixels ? recomposed(fine, coarse) : fine;
  }

  std::optional<Frame> drain() override {
    if (fine_done_.empty())
      if (auto rest = fine_->drain()) fine_done_.push_back(*std::move(rest));
    if (coarse_done_.empty())
      if (auto rest = coarse_->drain()) coarse_done_.push_back(*std::move(rest));
    if (fine_done_.empty() != coarse_done_.empty())
      throw InternalError("the sessions of two scales gave back different numbers of frames");
    return next();
  }

 private:
  static void push_to(Denoiser& session, Frame frame, std::deque<Frame>& done) {
    for (auto ready = session.push(std::move(frame)); ready; ready = session.next())
      done.push_back(*std::move(ready));
  }

  Frame recomposed(const Frame& fine, const Frame& coarse) {
    Frame result = pool_.acquire();
    result.take_identity(fine);
    for (int i = 0; i < fine.format.planes(); ++i) {
      Plane<float> plane = samples_of(fine, i);
      // What the half knows better, and of that the lowest frequencies.
      Plane<float> better = samples_of(coarse, i), low(better.width(), better.height());
      const Plane<float> half = half_plane(plane.view());
      for (int y = 0; y < better.height(); ++y)
        for (int x = 0; x < better.width(); ++x) better.view()(x, y) -= half.view()(x, y);
      separable(better.view(), low.view(), smooth);
      Plane<float> added(plane.width(), plane.height());
      separable(low.view(), added.view(), enlarge);
      for (int y = 0; y < plane.height(); ++y)
        for (int x = 0; x < plane.width(); ++x) plane.view()(x, y) += added.view()(x, y);
      store_plane(plane.view(), result, i);
    }
    return result;
  }

  Halving halving_;
  FramePool pool_;
  std::unique_ptr<Denoiser> fine_, coarse_;
  std::deque<Frame> fine_done_, coarse_done_;
};

}  // namespace

FrameFormat half_format(const FrameFormat& frame) {
  FrameFormat half = frame;
  half.width = half_of(frame.width);
  half.height = half_of(frame.height);
  half.sample = SampleType::f32;
  half.bits = 32;
  half.white = 255;
  return half;
}

Frame Halving::of(const Frame& frame) {
  if (frame.on_device)
    throw InvalidArgument(
        "a frame in the memory of a GPU (it is made smaller in the host's memory); decode it on "
        "the CPU");
  Frame half = pool_.acquire();
  half.take_identity(frame);
  half.likeness = frame.likeness;
  half.aside = frame.aside;
  for (int i = 0; i < frame.format.planes(); ++i)
    store_plane(half_plane(samples_of(frame, i).view()).view(), half, i);
  return half;
}

std::unique_ptr<Denoiser> by_scales(const FrameFormat& frame, std::unique_ptr<Denoiser> fine,
                                    std::unique_ptr<Denoiser> coarse) {
  return std::make_unique<ScaleDenoiser>(frame, std::move(fine), std::move(coarse));
}

}  // namespace lull::pipeline
