#include "noise/render/even_render.h"

#include <cmath>
#include <deque>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"

namespace lull {
namespace {

constexpr int level_radius = 5;

class EvenRender final : public Denoiser {
 public:
  EvenRender(const RenderNoise& noise, const FrameFormat& format, std::unique_ptr<Denoiser> filter)
      : noise_(noise),
        format_(format),
        pool_(format),
        even_pool_(even_light_format(format)),
        light_(format),
        scratch_(format.width, format.height),
        filter_(std::move(filter)) {
    for (int c = 0; c < format.planes(); ++c) back_[c] = Plane<float>(format.width, format.height);
  }

  int latency() const noexcept override { return filter_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (renders come from the host's); decode it on the CPU");
    light_.take(noisy, noise_);
    Inside& frame = inside_.emplace_back(Inside{noisy, even_pool_.acquire(), {}});
    frame.factor = find_level();
    frame.even.take_identity(noisy);
    frame.even.likeness = noisy.likeness;
    frame.even.aside = noisy.aside;
    for (int c = 0; c < format_.planes(); ++c) {
      const PlaneView<const float> from = light_.light(c), factor = frame.factor.view();
      const PlaneView<float> to = frame.even.plane<float>(c);
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) to(x, y) = from(x, y) * factor(x, y);
    }
    return result(filter_->push(frame.even));
  }
  std::optional<Frame> next() override { return result(filter_->next()); }
  std::optional<Frame> drain() override { return result(filter_->drain()); }

 private:
  /// A frame whose result is not out yet.
  struct Inside {
    Frame noisy, even;
    Plane<float> factor;  // even_level / s
  };

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

  std::optional<Frame> result(std::optional<Frame> filtered) {
    if (!filtered) return std::nullopt;
    if (inside_.empty()) throw InternalError("a filter gave back more frames than it got");
    const Inside frame = std::move(inside_.front());
    inside_.pop_front();
    light_.take(frame.noisy, noise_);  // for its albedo
    std::array<PlaneView<const float>, 3> views;
    for (int c = 0; c < format_.planes(); ++c) {
      const PlaneView<const float> from = filtered->plane<float>(c), factor = frame.factor.view();
      const PlaneView<float> to = back_[c].view();
      for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) to(x, y) = from(x, y) / factor(x, y);
      views[c] = to;
    }
    Frame clean = pool_.acquire();
    clean.take_identity(frame.noisy);
    light_.put(views, frame.noisy, clean);
    return clean;
  }

  RenderNoise noise_;
  FrameFormat format_;
  FramePool pool_, even_pool_;
  Light light_;
  Plane<float> scratch_;
  std::array<Plane<float>, 3> back_;
  std::unique_ptr<Denoiser> filter_;
  std::deque<Inside> inside_;
};

}  // namespace

FrameFormat even_light_format(const FrameFormat& format) {
  FrameFormat even = format;
  even.white = 255;
  return even;
}

std::unique_ptr<Denoiser> even_render(const RenderNoise& noise, const FrameFormat& format,
                                      std::unique_ptr<Denoiser> filter) {
  return std::make_unique<EvenRender>(noise, format, std::move(filter));
}

}  // namespace lull
