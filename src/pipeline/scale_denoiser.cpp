#include "pipeline/scale_denoiser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/samples.h"

namespace lull::pipeline {
namespace {

/// Returns the index `at`, mirrored into the range 0..size - 1.
int mirrored(int at, int size) {
  if (size == 1) return 0;
  while (at < 0 || at >= size) at = at < 0 ? -1 - at : 2 * size - 1 - at;
  return at;
}

/// Returns sample i at half size. The function computes this sample from samples 2 * i - 1 to 2 * i
/// + 2 of `in`, which has `size` samples.
template <class In>
float halved(const In& in, int i, int size) {
  const auto at = [&](int k) { return in(mirrored(2 * i + k, size)); };
  return (at(-1) + at(2) + 3 * (at(0) + at(1))) / 8;
}

/// Returns sample i at double size. The sample is the weighted mean of the two nearest of the
/// `size` samples of `in`, with the weights 3/4 and 1/4.
template <class In>
float enlarged(const In& in, int i, int size) {
  const int near = i / 2, far = near + (i % 2 == 0 ? -1 : 1);
  return 0.75f * in(mirrored(near, size)) + 0.25f * in(mirrored(far, size));
}

/// Filters sample i with [1 2 1] / 4.
template <class In>
float smoothed(const In& in, int i, int size) {
  return (in(mirrored(i - 1, size)) + 2 * in(i) + in(mirrored(i + 1, size))) / 4;
}

/// Computes the plane `to` from the plane `from` with a one-dimensional `filter` along columns,
/// then along rows. The planes may have different sizes. `middle` is scratch memory.
template <class Filter>
void separable(PlaneView<const float> from, PlaneView<float> to, std::vector<float>& middle,
               const Filter& filter) {
  const auto width = static_cast<std::size_t>(from.width);
  middle.resize(width * to.height);
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < from.width; ++x)
      middle[y * width + x] = filter([&](int k) { return from(x, k); }, y, from.height);
  for (int y = 0; y < to.height; ++y) {
    const float* row = &middle[y * width];
    for (int x = 0; x < to.width; ++x)
      to(x, y) = filter([&](int k) { return row[k]; }, x, from.width);
  }
}

constexpr auto halve = [](const auto& in, int i, int size) { return halved(in, i, size); };
constexpr auto enlarge = [](const auto& in, int i, int size) { return enlarged(in, i, size); };
constexpr auto smooth = [](const auto& in, int i, int size) { return smoothed(in, i, size); };

int half_of(int size) { return (size + 1) / 2; }

PlaneView<const float> read(const Plane<float>& plane) { return plane.view(); }

class ScaleDenoiser final : public Denoiser {
 public:
  ScaleDenoiser(const FrameFormat& frame, std::unique_ptr<Denoiser> fine,
                std::unique_ptr<Denoiser> coarse, const ResultSamples& results)
      : halving_(frame),
        pool_(result_format(frame, results)),
        fine_(std::move(fine)),
        coarse_(std::move(coarse)) {
    for (int i = 0; i < frame.planes(); ++i) {
      const int width = frame.plane_width(i), height = frame.plane_height(i);
      for (Plane<float>* whole : {&scratch_[i].whole, &scratch_[i].added}) *whole = {width, height};
      for (Plane<float>* half : {&scratch_[i].correction, &scratch_[i].half})
        *half = {half_of(width), half_of(height)};
    }
  }

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
      throw InternalError("the sessions of the two scales returned different numbers of frames");
    return next();
  }

 private:
  static void push_to(Denoiser& session, Frame frame, std::deque<Frame>& done) {
    for (auto ready = session.push(std::move(frame)); ready; ready = session.next())
      done.push_back(*std::move(ready));
  }

  Frame recomposed(const Frame& fine, const Frame& coarse) {
    Frame result = pool_.acquire();
    result.copy_info(fine);
    for (int i = 0; i < fine.format.planes(); ++i) {
      Scratch& r = scratch_[i];
      const PlaneView<float> whole = r.whole.view(), correction = r.correction.view(),
                             half = r.half.view();
      load_plane(fine, i, whole);
      load_plane(coarse, i, correction);
      separable(read(r.whole), half, intermediate_, halve);
      // The next steps correct the lowest frequencies of the full-size result, which `half`
      // contains at half size. The correction is the result of the half-size session minus `half`,
      // after a low-pass filter.
      for (int y = 0; y < half.height; ++y)
        for (int x = 0; x < half.width; ++x) correction(x, y) -= half(x, y);
      separable(read(r.correction), half, intermediate_, smooth);
      separable(read(r.half), r.added.view(), intermediate_, enlarge);
      for (int y = 0; y < whole.height; ++y)
        for (int x = 0; x < whole.width; ++x) whole(x, y) += r.added.view()(x, y);
      store_plane(whole, result, i);
    }
    return result;
  }

  /// Scratch memory for one plane, reused for all frames.
  struct Scratch {
    Plane<float> whole, added, correction, half;
  };

  Halving halving_;
  FramePool pool_;
  std::array<Scratch, 3> scratch_;
  std::vector<float> intermediate_;
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

Halving::Halving(const FrameFormat& frame) : pool_(half_format(frame)) {
  for (int i = 0; i < frame.planes(); ++i) {
    whole_[i] = {frame.plane_width(i), frame.plane_height(i)};
    half_[i] = {half_of(frame.plane_width(i)), half_of(frame.plane_height(i))};
  }
}

Frame Halving::of(const Frame& frame) {
  if (frame.on_device)
    throw InvalidArgument(
        "a frame in the memory of a GPU (it is reduced in host memory); decode it on "
        "the CPU");
  Frame half = pool_.acquire();
  half.copy_info(frame);
  half.mask.reset();  // the mask has the size of the complete frame
  for (int i = 0; i < frame.format.planes(); ++i) {
    load_plane(frame, i, whole_[i].view());
    separable(read(whole_[i]), half_[i].view(), intermediate_, halve);
    store_plane(half_[i].view(), half, i);
  }
  return half;
}

std::unique_ptr<Denoiser> by_scales(const FrameFormat& frame, std::unique_ptr<Denoiser> fine,
                                    std::unique_ptr<Denoiser> coarse,
                                    const ResultSamples& results) {
  return std::make_unique<ScaleDenoiser>(frame, std::move(fine), std::move(coarse), results);
}

}  // namespace lull::pipeline
