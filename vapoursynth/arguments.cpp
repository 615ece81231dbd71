#include "vapoursynth/arguments.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/error.h"

namespace lull::vapoursynth {
namespace {

/// On a GPU: one that comes, one that is filtered and one that leaves. More would be in the way of
/// whoever asks for frames out of order.
constexpr int frames_in_flight = 3;

/// One value for all planes. @throws InvalidArgument  they differ
std::optional<int> same_for_all(const Arguments& given, const char* name) {
  const std::vector<int> values = given.integers(name);
  if (values.empty()) return std::nullopt;
  if (std::ranges::any_of(values, [&](int value) { return value != values.front(); }))
    throw InvalidArgument(std::string(name) +
                          " differs from plane to plane (lull has one for all); give one");
  return values.front();
}

void require_range(const char* name, std::optional<int> value, int min_value, int max_value) {
  if (!value || (*value >= min_value && *value <= max_value)) return;
  throw InvalidArgument(std::string(name) + " = " + std::to_string(*value) + " (must be from " +
                        std::to_string(min_value) + " to " + std::to_string(max_value) +
                        "); choose one in range");
}

/// Choices of BM3DCUDA that lull has one of.
void require_only(const Arguments& given, const char* name, const char* only) {
  std::optional<std::string> value = given.text(name);
  if (!value) return;
  std::ranges::transform(*value, value->begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (*value != only)
    throw InvalidArgument(std::string(name) + " = '" + *value + "' (lull has '" + only +
                          "' alone); leave it out");
}

}  // namespace

std::optional<int> Arguments::integer(const char* name) const {
  if (!has(name)) return std::nullopt;
  return api_->mapGetIntSaturated(map_, name, 0, nullptr);
}

std::vector<int> Arguments::integers(const char* name) const {
  std::vector<int> values;
  for (int i = 0; i < api_->mapNumElements(map_, name); ++i)
    values.push_back(api_->mapGetIntSaturated(map_, name, i, nullptr));
  return values;
}

std::vector<double> Arguments::numbers(const char* name) const {
  std::vector<double> values;
  for (int i = 0; i < api_->mapNumElements(map_, name); ++i)
    values.push_back(api_->mapGetFloat(map_, name, i, nullptr));
  return values;
}

std::optional<std::string> Arguments::text(const char* name) const {
  if (!has(name)) return std::nullopt;
  const char* data = api_->mapGetData(map_, name, 0, nullptr);
  return std::string(data, static_cast<std::size_t>(api_->mapGetDataSize(map_, name, 0, nullptr)));
}

FrameFormat format_of(const VSVideoInfo& clip) {
  const VSVideoFormat& given = clip.format;
  if (given.colorFamily == cfUndefined || clip.width == 0 || clip.height == 0)
    throw InvalidArgument("a clip whose format or size changes; split it where it does");
  const bool integer = given.sampleType == stInteger;
  if (integer ? given.bitsPerSample > 16 : given.bitsPerSample != 32)
    throw InvalidArgument("samples of " + std::to_string(given.bitsPerSample) + " bits (must be " +
                          (integer ? "8 to 16 for integers" : "32 for floats") +
                          "); resize to another format first");
  FrameFormat format{.width = clip.width, .height = clip.height};
  format.layout = given.colorFamily == cfGray  ? Layout::gray
                  : given.colorFamily == cfYUV ? Layout::yuv
                                               : Layout::rgb;
  format.bits = given.bitsPerSample;
  format.sample = !integer ? SampleType::f32 : format.bits == 8 ? SampleType::u8 : SampleType::u16;
  format.chroma_shift_x = given.subSamplingW;
  format.chroma_shift_y = given.subSamplingH;
  return format;
}

std::optional<std::array<float, 3>> sigmas_of(const Arguments& given) {
  const std::vector<double> values = given.numbers("sigma");
  if (values.empty()) return std::nullopt;
  if (values.size() > 3) throw InvalidArgument("more than three sigmas; give one for each plane");
  std::array<float, 3> sigma{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = values[std::min(i, values.size() - 1)];
    if (!(value >= 0) || !std::isfinite(value))
      throw InvalidArgument("sigma = " + std::to_string(value) +
                            " (must be a number from 0); choose another");
    sigma[i] = static_cast<float>(value);
  }
  return sigma;
}

SessionChoice denoise_choice(const Arguments& given) {
  const std::string method = given.text("method").value_or("auto");
  if (method != "auto" && method != "bm3d" && method != "nlm")
    throw InvalidArgument("method = '" + method +
                          "' (must be auto, bm3d or nlm); choose one of these");
  const std::optional<int> temporal = given.integer("temporal");
  require_range("temporal", temporal, 0, max_temporal);
  const std::string profile = given.text("profile").value_or("balanced");
  const bool looks_around = profile == "balanced" || profile == "high";  // as of the command
  const int radius = profile == "best" ? 4 : looks_around ? 2 : 0;
  return {.method = method == "nlm" ? "nlm" : "bm3d",
          .profile = profile,
          .device = given.text("device").value_or("auto"),
          .temporal = temporal.value_or(radius),
          .matcher = given.text("matcher").value_or("window"),
          .clusters = given.text("cluster").value_or(""),
          .streams = frames_in_flight,
          .guided = given.has("guide")};
}

SessionChoice bm3dv2_choice(const Arguments& given) {
  const std::optional<int> step = same_for_all(given, "block_step"),
                           range = same_for_all(given, "bm_range"),
                           place_range = same_for_all(given, "ps_range"),
                           radius = given.integer("radius"), device = given.integer("device_id");
  require_range("block_step", step, 1, 8);
  require_range("bm_range", range, 1, 63);
  require_range("ps_range", place_range, 1, 31);
  require_range("radius", radius, 0, max_temporal);
  if (device && *device < 0)
    throw InvalidArgument("device_id = " + std::to_string(*device) + " (must be from 0)");
  require_only(given, "bm_error_s", "ssd");
  require_only(given, "transform_2d_s", "dct");
  require_only(given, "transform_1d_s", "dct");
  SessionChoice choice{.device = device ? "cuda:" + std::to_string(*device) : "auto",
                       .temporal = radius.value_or(0),
                       .streams = frames_in_flight};
  choice.noise = NoiseModel(sigmas_of(given).value_or(std::array<float, 3>{3, 3, 3}));
  const bool basic_alone = !given.has("ref");
  choice.adjust = [=](bm3d::Params& params) {
    for (bm3d::PhaseParams* phase : {&params.hard, &params.wiener}) {
      if (step) phase->step = *step;
      if (range) phase->window = 2 * *range + 1;
      if (place_range) phase->temporal_window = 2 * *place_range + 1;
    }
    if (basic_alone) params.phases = 1;
  };
  return choice;
}

}  // namespace lull::vapoursynth
