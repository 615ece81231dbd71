#include "io/pictures/float_white.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "core/float_range.h"

namespace lull::io {
namespace {

template <class Use>
void for_samples(const AVFrame& picture, int planes, Use use) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  for (int c = 0; c < planes; ++c)
    for (int y = 0; y < picture.height; ++y) {
      const int plane = d.comp[c].plane;
      const std::uint8_t* row = picture.data[plane] + std::ptrdiff_t{y} * picture.linesize[plane];
      for (int x = 0; x < picture.width; ++x) use(reinterpret_cast<const float*>(row)[x]);
    }
}

/// Histogram of the finite samples of a picture, with powers of two as bin edges.
class Distribution {
 public:
  Distribution(const AVFrame& picture, int planes) {
    for_samples(picture, planes, [&](float v) {
      if (!std::isfinite(v)) return;
      ++finite_;
      if (!(v > 1)) return;
      int exponent = 0;  // v is in [2^(exponent-1), 2^exponent)
      ++beyond_[std::frexp(v, &exponent) > 0.5f ? exponent - 1 : exponent - 2];
    });
    for (int power = max_power; power-- > 0;) beyond_[power] += beyond_[power + 1];
  }

  /// Returns the fraction of the samples above 2^power.
  double share_beyond(int power) const { return share(beyond_[power]); }
  /// Returns the smallest power of two (at least 1) such that at most the fraction `max_beyond` of
  /// the samples is greater.
  float min_white(double max_beyond) const {
    int power = 0;
    while (share_beyond(power) > max_beyond) ++power;
    return std::ldexp(1.0f, power);
  }
  double share(std::int64_t count) const {
    return finite_ > 0 ? static_cast<double>(count) / static_cast<double>(finite_) : 0;
  }

 private:
  static constexpr int max_power = 128;  // all floats are below 2^128
  std::array<std::int64_t, max_power + 1> beyond_{};
  std::int64_t finite_ = 0;
};

std::string text_of(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

constexpr double noted_share = 0.01, negligible_share = 0.001;

}  // namespace

White choose_white(const AVFrame& first, int planes, double requested) {
  const double max_white = std::ldexp(1.0, 64);
  if (requested != 0 && !(requested >= 1 / max_white && requested <= max_white))
    throw InvalidArgument("white = " + text_of("%g", requested) +
                          " (must be a number above 0, 2^64 at most); choose another");
  const Distribution values(first, planes);
  White white{.value = static_cast<float>(requested), .note = {}};
  if (requested == 0) white.value = values.share_beyond(0) > 0.5 ? values.min_white(0.05) : 1.0f;
  if (requested == 0 && white.value != 1) {
    white.note = "most of the first picture is brighter than 1; " + text_of("%g", white.value) +
                 " is taken as white (same as --white " + text_of("%g", white.value) + ")";
    return white;
  }
  const float end = filter_range_max / 255 * white.value;
  std::int64_t unfiltered = 0;
  for_samples(first, planes, [&](float v) { unfiltered += std::isfinite(v) && v > end ? 1 : 0; });
  if (values.share(unfiltered) >= noted_share)
    white.note = text_of("%.0f %% of the first picture is", 100 * values.share(unfiltered)) +
                 text_of(" brighter than %.3g and is not filtered; ", end) +
                 text_of("--white %g filters it", values.min_white(negligible_share));
  return white;
}

}  // namespace lull::io
