#include "vapoursynth/arguments.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/error.h"

namespace lull::vapoursynth {
namespace {

/// Number of frames that a GPU processes at the same time: one in upload, one in the filter, and
/// one in download. A larger number would delay requests for frames that are out of order.
constexpr int streams_per_gpu = 3;

/// Returns the value of an argument that must be equal for all planes.
/// @throws InvalidArgument  the values of the planes differ
std::optional<int> common_value(const Arguments& given, const char* name) {
  const std::vector<int> values = given.integers(name);
  if (values.empty()) return std::nullopt;
  if (std::ranges::any_of(values, [&](int value) { return value != values.front(); }))
    throw InvalidArgument(
        std::string(name) +
        " differs from plane to plane (lull uses one value for all planes); give one");
  return values.front();
}

void require_range(const char* name, std::optional<int> value, int min_value, int max_value) {
  if (!value || (*value >= min_value && *value <= max_value)) return;
  throw InvalidArgument(std::string(name) + " = " + std::to_string(*value) + " (must be from " +
                        std::to_string(min_value) + " to " + std::to_string(max_value) +
                        "); choose one in range");
}

/// Throws an error if an argument of BM3DCUDA differs from `only`, the only value that lull
/// supports.
void require_only(const Arguments& given, const char* name, const char* only) {
  std::optional<std::string> value = given.text(name);
  if (!value) return;
  std::ranges::transform(*value, value->begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (*value != only)
    throw InvalidArgument(std::string(name) + " = '" + *value + "' (lull supports only '" + only +
                          "'); leave it out");
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
    throw InvalidArgument("the format or size of the clip changes; split it at these frames");
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
  if (values.size() > 3) throw InvalidArgument("more than three sigmas; give one per plane");
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
  const bool is_temporal =
      profile == "balanced" || profile == "high";  // the same defaults as lull denoise
  const int radius = profile == "best" ? 4 : is_temporal ? 2 : 0;
  return {.method = method == "nlm" ? "nlm" : "bm3d",
          .profile = profile,
          .device = given.text("device").value_or("auto"),
          .temporal = temporal.value_or(radius),
          .matcher = given.text("matcher").value_or("window"),
          .clusters = given.text("cluster").value_or(""),
          .streams = streams_per_gpu,
          .guided = given.has("guide")};
}

SessionChoice bm3dv2_choice(const Arguments& given) {
  const std::optional<int> step = common_value(given, "block_step"),
                           range = common_value(given, "bm_range"),
                           place_range = common_value(given, "ps_range"),
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
                       .streams = streams_per_gpu};
  choice.noise = NoiseModel(sigmas_of(given).value_or(std::array<float, 3>{3, 3, 3}));
  const bool basic_only = !given.has("ref");
  choice.adjust = [=](bm3d::Params& params) {
    for (bm3d::PhaseParams* phase : {&params.hard, &params.wiener}) {
      if (step) phase->step = *step;
      if (range) phase->window = 2 * *range + 1;
      if (place_range) phase->temporal_window = 2 * *place_range + 1;
    }
    if (basic_only) params.phases = 1;
  };
  return choice;
}

}  // namespace lull::vapoursynth
