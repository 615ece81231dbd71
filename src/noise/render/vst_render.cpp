#include "noise/render/vst_render.h"

#include <tbb/task_arena.h>

#include <cmath>
#include <optional>
#include <utility>

#include "noise/vst_session.h"

namespace lull {
namespace {

constexpr int level_radius = 5;

/// For each pixel, the factor that scales its noise level to `stabilised_light_sigma`.
using Factor = Plane<float>;

class RenderVstSession final : public VstSession<Factor> {
 public:
  RenderVstSession(const RenderNoise& noise, const FrameFormat& format,
                   std::unique_ptr<Denoiser> filter, std::unique_ptr<RepeatFinder> repeats,
                   int threads)
      : VstSession(format, stabilised_light_format(format), std::move(filter)),
        noise_(noise),
        format_(format),
        repeats_(std::move(repeats)),
        arena_(threads > 0 ? threads : tbb::task_arena::automatic),
        light_(format),
        scratch_(format.width, format.height) {
    for (int c = 0; c < format.planes(); ++c) back_[c] = Plane<float>(format.width, format.height);
  }

  std::optional<Frame> drain() override {
    std::optional<Frame> rest = VstSession::drain();
    if (!rest && repeats_) repeats_->clear();
    return rest;
  }

 private:
  void stabilise(PendingFrame& frame) override {
    if (repeats_ && frame.noisy.repeat_state == RepeatState::unknown)
      frame.stabilised.repeat_state = repeats_->find(frame.noisy);
    arena_.execute([&] { light_.decompose(frame.noisy, noise_); });
    frame.inverse_data = find_factor();
    for (int c = 0; c < format_.planes(); ++c) {
      const PlaneView<const float> from = light_.light(c), factor = frame.inverse_data.view();
      const PlaneView<float> to = frame.stabilised.plane<float>(c);
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) to(x, y) = from(x, y) * factor(x, y);
    }
  }

  Plane<float> find_factor() {
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
      for (int x = 0; x < l.width; ++x) l(x, y) = stabilised_light_sigma / std::sqrt(l(x, y));
    return level;
  }

  void invert(const PendingFrame& frame, const Frame& filtered, Frame& clean) override {
    arena_.execute([&] { light_.load_albedo(frame.noisy); });
    std::array<PlaneView<const float>, 3> views;
    for (int c = 0; c < format_.planes(); ++c) {
      const PlaneView<const float> from = filtered.plane<float>(c),
                                   factor = frame.inverse_data.view();
      const PlaneView<float> to = back_[c].view();
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) to(x, y) = from(x, y) / factor(x, y);
      views[c] = to;
    }
    arena_.execute([&] { light_.recompose(views, frame.noisy, clean); });
  }

  RenderNoise noise_;
  FrameFormat format_;
  std::unique_ptr<RepeatFinder> repeats_;
  tbb::task_arena arena_;  // the TBB arena that runs the calculations of light
  Light light_;
  Plane<float> scratch_;
  std::array<Plane<float>, 3> back_;
};

}  // namespace

FrameFormat stabilised_light_format(const FrameFormat& format) {
  FrameFormat stabilised = format;
  stabilised.white = 255;
  return stabilised;
}

std::unique_ptr<Denoiser> with_render_vst(const RenderNoise& noise, const FrameFormat& format,
                                          std::unique_ptr<Denoiser> filter,
                                          std::unique_ptr<RepeatFinder> repeats, int threads) {
  return std::make_unique<RenderVstSession>(noise, format, std::move(filter), std::move(repeats),
                                            threads);
}

}  // namespace lull
