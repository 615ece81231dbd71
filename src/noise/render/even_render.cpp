#include "noise/render/even_render.h"

#include <tbb/task_arena.h>

#include <cmath>
#include <utility>

#include "noise/even_session.h"

namespace lull {
namespace {

constexpr int level_radius = 5;

/// even_level / s, for each pixel.
using Factor = Plane<float>;

class EvenRender final : public EvenSession<Factor> {
 public:
  EvenRender(const RenderNoise& noise, const FrameFormat& format, std::unique_ptr<Denoiser> filter,
             std::unique_ptr<RepeatFinder> repeats, int threads)
      : EvenSession(format, even_light_format(format), std::move(filter)),
        noise_(noise),
        format_(format),
        repeats_(std::move(repeats)),
        arena_(threads > 0 ? threads : tbb::task_arena::automatic),
        light_(format),
        scratch_(format.width, format.height) {
    for (int c = 0; c < format.planes(); ++c) back_[c] = Plane<float>(format.width, format.height);
  }

 private:
  void make_even(Inside& frame) override {
    if (repeats_ && frame.noisy.likeness == Likeness::unknown)
      frame.even.likeness = repeats_->find(frame.noisy);
    arena_.execute([&] { light_.take(frame.noisy, noise_); });
    frame.known = find_level();
    for (int c = 0; c < format_.planes(); ++c) {
      const PlaneView<const float> from = light_.light(c), factor = frame.known.view();
      const PlaneView<float> to = frame.even.plane<float>(c);
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) to(x, y) = from(x, y) * factor(x, y);
    }
  }

  Plane<float> find_level() {
    Plane<float> level(format_.width, format_.height);
    const PlaneView<float> l = level.view();
    const float share = 1 / static_cast<float>(format_.planes());
    for (int y = 0; y < l.height; ++y)
      for (int x = 0; x < l.width; ++x) {
        float sum = 0;
        for (int c = 0; c < format_.planes(); ++c) sum += light_.variance(c)(x, y);
        l(x, y) = sum * share;
      }
    box_mean(l, level_radius, scratch_.view(), l);
    for (int y = 0; y < l.height; ++y)
      for (int x = 0; x < l.width; ++x) l(x, y) = even_level / std::sqrt(l(x, y));
    return level;
  }

  void bring_back(const Inside& frame, const Frame& filtered, Frame& clean) override {
    arena_.execute([&] { light_.take_albedo(frame.noisy); });
    std::array<PlaneView<const float>, 3> views;
    for (int c = 0; c < format_.planes(); ++c) {
      const PlaneView<const float> from = filtered.plane<float>(c), factor = frame.known.view();
      const PlaneView<float> to = back_[c].view();
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) to(x, y) = from(x, y) / factor(x, y);
      views[c] = to;
    }
    arena_.execute([&] { light_.put(views, frame.noisy, clean); });
  }

  RenderNoise noise_;
  FrameFormat format_;
  std::unique_ptr<RepeatFinder> repeats_;
  tbb::task_arena arena_;  // what light is made on
  Light light_;
  Plane<float> scratch_;
  std::array<Plane<float>, 3> back_;
};

}  // namespace

FrameFormat even_light_format(const FrameFormat& format) {
  FrameFormat even = format;
  even.white = 255;
  return even;
}

std::unique_ptr<Denoiser> even_render(const RenderNoise& noise, const FrameFormat& format,
                                      std::unique_ptr<Denoiser> filter,
                                      std::unique_ptr<RepeatFinder> repeats, int threads) {
  return std::make_unique<EvenRender>(noise, format, std::move(filter), std::move(repeats),
                                      threads);
}

}  // namespace lull
