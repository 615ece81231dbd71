#include "raw/raw_session.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "raw/demosaic.h"
#include "raw/directional.h"
#include "raw/mosaic_samples.h"

namespace lull::raw {
namespace {

FrameFormat colour_format(const FrameFormat& mosaic) {
  return {.width = mosaic.width,
          .height = mosaic.height,
          .layout = Layout::rgb,
          .sample = SampleType::f32,
          .bits = 32,
          .white = 255};
}
FrameFormat plane_format(const FrameFormat& mosaic) {
  FrameFormat format = colour_format(mosaic);
  format.layout = Layout::gray;
  return format;
}

std::array<PlaneView<float>, 3> colours_of(const Frame& frame) {
  return {frame.plane<float>(0), frame.plane<float>(1), frame.plane<float>(2)};
}

/// Factors by which the first and the last filter raise the noise level, because demosaicing errors
/// look like additional noise.
constexpr float first_strength = 1.2f, last_strength = 1.1f;

class RawSession final : public Denoiser {
 public:
  RawSession(const RawParams& params, const FrameFormat& format, const RawFilters& filters)
      : params_(params),
        format_(format),
        levels_(result_levels(params.sensor)),
        colours_(colour_format(format)),
        planes_(plane_format(format)),
        results_(raw_result_format(format, params.result)),
        first_(filters.first(
            scaled(measured_noise(params.sensor.pattern, params.vst->sigma()), first_strength),
            colours_.format())),
        last_(filters.last(
            scaled(demosaiced_noise(params.sensor.pattern, last_filters, params.vst->sigma()),
                   last_strength),
            colours_.format())) {}

  int latency() const noexcept override { return first_->latency() + last_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_ || noisy.on_device)
      throw InvalidArgument(
          "a frame of another format (a session takes one format, in host memory); open another "
          "session");
    const PlaneView<const std::uint16_t> mosaic = noisy.plane<std::uint16_t>(0);
    Pending& frame = pending_.emplace_back();
    frame.ratio = green_ratio(mosaic, params_.sensor);
    frame.stabilised = planes_.acquire();
    stabilise(mosaic, params_.sensor, *params_.vst, frame.ratio, frame.stabilised.plane<float>(0));
    Frame colours = colours_.acquire();
    colours.copy_info(noisy);
    demosaic_along_edges(frame.stabilised.plane<float>(0), params_.sensor.pattern,
                         colours_of(colours));
    frame.noisy = std::move(noisy);
    take_first(first_->push(std::move(colours)));
    for (auto more = first_->next(); more; more = first_->next()) take_first(std::move(more));
    return next();
  }

  std::optional<Frame> next() override {
    if (done_.empty()) return std::nullopt;
    Frame frame = std::move(done_.front());
    done_.pop_front();
    return frame;
  }

  std::optional<Frame> drain() override {
    if (!draining_) {
      draining_ = true;
      for (auto more = first_->drain(); more; more = first_->drain()) take_first(std::move(more));
      for (auto more = last_->drain(); more; more = last_->drain()) take_last(std::move(more));
    }
    std::optional<Frame> frame = next();
    if (!frame) draining_ = false;
    return frame;
  }

 private:
  static constexpr LinearFilters last_filters = LinearFilters::bilinear;

  /// A frame whose result is not yet finished.
  struct Pending {
    Frame noisy, stabilised;
    float ratio = 1;  // ratio of the greens (green_ratio())
    bool has_first = false;
  };

  void take_first(std::optional<Frame> basic) {
    if (!basic) return;
    const auto frame =
        std::ranges::find_if(pending_, [](const Pending& p) { return !p.has_first; });
    if (frame == pending_.end())
      throw InternalError("a filter returned more frames than it received");
    frame->has_first = true;
    take_last(last_->push(refined(*frame, *basic)));
    for (auto more = last_->next(); more; more = last_->next()) take_last(std::move(more));
  }

  /// Demosaics the samples minus the basic estimate, and adds the basic estimate to the result.
  Frame refined(const Pending& frame, const Frame& basic) {
    const BayerPattern& pattern = params_.sensor.pattern;
    const auto estimate = colours_of(basic);
    const PlaneView<const float> samples = frame.stabilised.plane<float>(0);
    const Frame difference = planes_.acquire();
    const PlaneView<float> rest = difference.plane<float>(0);
    tbb::parallel_for(0, samples.height, [&](int y) {
      for (int x = 0; x < samples.width; ++x)
        rest(x, y) = samples(x, y) - estimate[pattern.at(x, y)](x, y);
    });
    Frame colours = colours_.acquire();
    colours.copy_info(frame.noisy);
    const auto sum = colours_of(colours);
    demosaic(rest, pattern, last_filters, sum);
    tbb::parallel_for(0, samples.height, [&](int y) {
      for (int c = 0; c < 3; ++c)
        for (int x = 0; x < samples.width; ++x) sum[c](x, y) += estimate[c](x, y);
    });
    return colours;
  }

  void take_last(std::optional<Frame> filtered) {
    if (!filtered) return;
    if (pending_.empty()) throw InternalError("a filter returned more frames than it received");
    const Pending frame = std::move(pending_.front());
    pending_.pop_front();
    Frame clean = results_.acquire();
    clean.copy_info(frame.noisy);
    if (params_.result == Result::linear)
      invert_colours(*filtered, clean);
    else
      invert_mosaic(frame, *filtered, clean);
    done_.push_back(std::move(clean));
  }

  static std::uint16_t rounded(float v) {
    return static_cast<std::uint16_t>(std::lround(std::clamp(v, 0.0f, 65535.0f)));
  }

  void invert_colours(const Frame& filtered, const Frame& clean) const {
    const auto from = colours_of(filtered);
    tbb::parallel_for(0, format_.height, [&](int y) {
      for (int c = 0; c < 3; ++c) {
        const SampleCurve& inverse = params_.vst->inverse(c);
        std::uint16_t* to = clean.plane<std::uint16_t>(c).row(y);
        for (int x = 0; x < format_.width; ++x)
          to[x] = rounded(65535 * std::min(inverse(from[c](x, y)), 1.0f));
      }
    });
  }

  /// Converts a result to a mosaic. Clipped samples do not change, because their true values are
  /// unknown.
  void invert_mosaic(const Pending& frame, const Frame& filtered, const Frame& clean) const {
    const Sensor& sensor = params_.sensor;
    const auto from = colours_of(filtered);
    const PlaneView<const std::uint16_t> noisy = frame.noisy.plane<std::uint16_t>(0);
    const float factor = levels_.white / sensor.white;
    tbb::parallel_for(0, format_.height, [&](int y) {
      std::uint16_t* to = clean.plane<std::uint16_t>(0).row(y);
      for (int x = 0; x < format_.width; ++x) {
        const auto sample = static_cast<float>(noisy(x, y));
        const int colour = sensor.pattern.at(x, y), site = (y & 1) * 2 + (x & 1);
        float v = params_.vst->inverse(colour)(from[colour](x, y));
        if (colour == 1 && sensor.pattern.at(x + 1, y) == 2) v /= frame.ratio;
        const float black = levels_.black[site];
        to[x] =
            rounded(sample >= sensor.white ? sample * factor
                                           : black + (levels_.white - black) * std::min(v, 1.0f));
      }
    });
  }

  RawParams params_;
  FrameFormat format_;
  ResultLevels levels_;
  FramePool colours_, planes_, results_;
  std::unique_ptr<Denoiser> first_, last_;
  std::deque<Pending> pending_;
  std::deque<Frame> done_;
  bool draining_ = false;
};

}  // namespace

FrameFormat raw_result_format(const FrameFormat& format, Result result) {
  return {.width = format.width,
          .height = format.height,
          .layout = result == Result::linear ? Layout::rgb : Layout::gray,
          .sample = SampleType::u16,
          .bits = 16};
}

std::unique_ptr<Denoiser> open_raw(const RawParams& params, const FrameFormat& format,
                                   const RawFilters& filters) {
  if (format.layout != Layout::gray || format.sample != SampleType::u16 || format.bits != 16)
    throw InvalidArgument("a mosaic that is not grey with 16 bits; convert it");
  return std::make_unique<RawSession>(params, format, filters);
}

}  // namespace lull::raw
