#include "noise/render/light.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"

namespace lull {
namespace {

/// Returns plane `i` of a feature buffer. If the buffer is grey, returns its only plane.
PlaneView<const float> plane_of(const Frame& feature, int i) {
  return feature.plane<float>(std::min(i, feature.format.planes() - 1));
}

/// Calls work(first, end) for ranges of rows, in parallel in the TBB arena of the caller.
template <class Work>
void for_rows(int height, Work work) {
  tbb::parallel_for(tbb::blocked_range<int>(0, height, 16),
                    [&](const auto& rows) { work(rows.begin(), rows.end()); });
}

template <class Value>
void fill(PlaneView<float> to, Value value) {
  for_rows(to.height, [&](int first, int end) {
    for (int y = first; y < end; ++y)
      for (int x = 0; x < to.width; ++x) to(x, y) = value(x, y);
  });
}

/// Computes for each sample the squared response to the mask of Immerkaer 1996 ("Fast noise
/// variance estimation", doi:10.1006/cviu.1996.0060). For white noise, the mean of the result is
/// the noise variance.
void high_frequencies(PlaneView<const float> from, PlaneView<float> to) {
  for_rows(to.height, [&](int first, int end) {
    for (int y = first; y < end; ++y) {
      const float* row[3];
      for (int k = -1; k <= 1; ++k) row[k + 1] = from.row(std::clamp(y + k, 0, to.height - 1));
      for (int x = 0; x < to.width; ++x) {
        const int l = x > 0 ? x - 1 : 0, r = x + 1 < to.width ? x + 1 : x;
        const float v = 4 * row[1][x] - 2 * (row[1][l] + row[1][r] + row[0][x] + row[2][x]) +
                        row[0][l] + row[0][r] + row[2][l] + row[2][r];
        to(x, y) = v * v / 36;
      }
    }
  });
}

bool is_finite_plane(PlaneView<const float> plane) {
  std::atomic<bool> only = true;
  for_rows(plane.height, [&](int first, int end) {
    for (int y = first; y < end; ++y) {
      const float* row = plane.row(y);
      if (!std::all_of(row, row + plane.width, [](float v) { return std::isfinite(v); }))
        only = false;
    }
  });
  return only;
}

/// Returns whether filters can process the illumination `u`. The result is false for NaN, for
/// infinities, and for values so large that sums of their squares could overflow.
bool is_usable(float u) {
  constexpr float max_light = 1e18f;
  return std::abs(u) <= max_light;
}

/// Replaces NaN and infinities by the mean of the finite neighbouring samples.
void replace_non_finite(PlaneView<float> plane) {
  if (is_finite_plane(plane)) return;
  for (int y = 0; y < plane.height; ++y)
    for (int x = 0; x < plane.width; ++x) {
      if (std::isfinite(plane(x, y))) continue;
      float sum = 0, count = 0;
      for (int v = std::max(y - 2, 0); v <= std::min(y + 2, plane.height - 1); ++v)
        for (int u = std::max(x - 2, 0); u <= std::min(x + 2, plane.width - 1); ++u)
          if (std::isfinite(plane(u, v))) sum += plane(u, v), ++count;
      plane(x, y) = count > 0 ? sum / count : 0;
    }
}

}  // namespace

void box_mean(PlaneView<const float> from, int radius, PlaneView<float> scratch,
              PlaneView<float> to) {
  const int width = from.width, height = from.height;
  for_rows(height, [&](int begin, int stop) {
    std::vector<double> sums(static_cast<std::size_t>(width));
    double* const sum = sums.data();
    for (int y = begin; y < stop; ++y) {
      std::fill_n(sum, width, 0.0);
      for (int k = -radius; k <= radius; ++k) {
        const float* row = from.row(y) + k;
        const int end = std::min(width, width - k);
        for (int x = std::max(0, -k); x < end; ++x) sum[x] += static_cast<double>(row[x]);
      }
      float* const row = scratch.row(y);
      for (int x = 0; x < width; ++x) {
        const int count = std::min(x + radius, width - 1) - std::max(x - radius, 0) + 1;
        row[x] = static_cast<float>(sum[x] / count);
      }
    }
  });
  for_rows(height, [&](int begin, int stop) {
    std::vector<double> sums(static_cast<std::size_t>(width));
    double* const sum = sums.data();
    for (int y = begin; y < stop; ++y) {
      const int first = std::max(y - radius, 0), last = std::min(y + radius, height - 1);
      std::fill_n(sum, width, 0.0);
      for (int v = first; v <= last; ++v) {
        const float* row = scratch.row(v);
        for (int x = 0; x < width; ++x) sum[x] += static_cast<double>(row[x]);
      }
      float* const row = to.row(y);
      const double share = 1.0 / (last - first + 1);
      for (int x = 0; x < width; ++x) row[x] = static_cast<float>(sum[x] * share);
    }
  });
}

void check_features(const Frame& frame) {
  if (!frame.features) return;
  for (int f = 0; f < feature_count; ++f) {
    const auto& feature = frame.features->planes[f];
    if (!feature) continue;
    const FrameFormat &a = feature->format, &b = frame.format;
    if (a.sample != SampleType::f32)
      throw InvalidArgument("a feature with integer samples (" + std::string(feature_names[f]) +
                            " must have floats); convert it");
    if (a.width != b.width || a.height != b.height)
      throw InvalidArgument("the feature " + std::string(feature_names[f]) + " has " +
                            std::to_string(a.width) + "x" + std::to_string(a.height) +
                            " pixels (its frame has " + std::to_string(b.width) + "x" +
                            std::to_string(b.height) + "); give one of the same size");
  }
}

Light::Light(const FrameFormat& format)
    : width_(format.width),
      height_(format.height),
      planes_(format.planes()),
      scratch_(width_, height_) {
  if (format.sample != SampleType::f32 || format.layout == Layout::yuv)
    throw InvalidArgument(
        "features with frames that are no renders (renders are RGB or grey, with floats); omit "
        "the features");
  for (int i = 0; i < planes_; ++i) {
    light_[i] = Plane<float>(width_, height_);
    variance_[i] = Plane<float>(width_, height_);
    albedo_[i] = Plane<float>(width_, height_);
  }
}

void Light::decompose(const Frame& frame, const RenderNoise& noise) {
  load_albedo(frame);
  load_light(frame);
  load_variance(frame, noise);
  load_regressors(frame);
}

void Light::load_albedo(const Frame& frame) {
  check_features(frame);
  const auto* albedo = frame.features ? (*frame.features)[Feature::albedo].get() : nullptr;
  for (int i = 0; i < planes_; ++i) {
    const PlaneView<float> to = albedo_[i].view();
    if (!albedo) {
      fill(to, [](int, int) { return 1.0f; });
      continue;
    }
    const PlaneView<const float> from = plane_of(*albedo, i);
    fill(to, [&](int x, int y) {
      const float a = from(x, y);
      return std::isfinite(a) ? std::max(a, albedo_floor) : 1.0f;
    });
  }
}

void Light::load_light(const Frame& frame) {
  for (int i = 0; i < planes_; ++i) {
    const PlaneView<const float> from = frame.plane<float>(i);
    const PlaneView<const float> albedo = albedo_[i].view();
    fill(light_[i].view(), [&](int x, int y) {
      const float u = from(x, y) / albedo(x, y);
      return is_usable(u) ? u : std::numeric_limits<float>::quiet_NaN();
    });
    replace_non_finite(light_[i].view());
  }
}

void Light::load_variance(const Frame& frame, const RenderNoise& noise) {
  const Features none;
  const Features& features = frame.features ? *frame.features : none;
  const auto& given = features[Feature::variance];
  const auto &a = features[Feature::half_a], &b = features[Feature::half_b];
  const float level = noise.sigma * frame.format.white / 255;
  for (int i = 0; i < planes_; ++i) {
    const PlaneView<float> to = variance_[i].view();
    const PlaneView<const float> albedo = albedo_[i].view(), light = light_[i].view();
    int radius = 1;
    if (level > 0) {
      fill(to, [&](int x, int y) { return level * level / (albedo(x, y) * albedo(x, y)); });
    } else if (given) {
      const PlaneView<const float> from = plane_of(*given, i);
      fill(to, [&](int x, int y) { return from(x, y) / (albedo(x, y) * albedo(x, y)); });
    } else if (a && b) {
      const PlaneView<const float> first = plane_of(*a, i), second = plane_of(*b, i);
      fill(to, [&](int x, int y) {
        const float half = (first(x, y) - second(x, y)) / (2 * albedo(x, y));
        return half * half;
      });
      radius = 2;  // a single difference estimates a variance with only one degree of freedom
    } else {
      high_frequencies(light, to);
      radius = 3;
    }
    // At pixels with an illumination that filters cannot process, the noise variance becomes the
    // mean of the surrounding variances.
    const PlaneView<const float> samples = frame.plane<float>(i);
    fill(to, [&](int x, int y) {
      return is_usable(samples(x, y) / albedo(x, y)) ? to(x, y)
                                                     : std::numeric_limits<float>::quiet_NaN();
    });
    replace_non_finite(to);
    if (!(level > 0)) box_mean(to, radius, scratch_.view(), to);
    const float factor = noise.strength * noise.strength;
    fill(to, [&](int x, int y) {
      const float u = light(x, y), minimum = 1e-12f + 1e-8f * u * u;  // rounding error of floats
      const float v = to(x, y) * factor;
      return v > minimum ? std::min(v, 1e30f) : minimum;
    });
  }
}

void Light::load_regressors(const Frame& frame) {
  regressors_ = 0;
  if (!frame.features) return;
  const Features& features = *frame.features;
  if (const auto& normal = features[Feature::normal])
    for (int i = 0; i < normal->format.planes(); ++i) add_regressor(normal->plane<float>(i), false);
  if (const auto& depth = features[Feature::depth]) add_regressor(depth->plane<float>(0), true);
  if (const auto& albedo = features[Feature::albedo])
    for (int i = 0; i < albedo->format.planes(); ++i) add_regressor(albedo->plane<float>(i), false);
}

void Light::add_regressor(PlaneView<const float> from, bool logarithm) {
  Plane<float>&value = regressor_[regressors_], &noise = regressor_noise_[regressors_];
  if (value.width() == 0) {
    value = Plane<float>(width_, height_);
    noise = Plane<float>(width_, height_);
  }
  ++regressors_;
  fill(value.view(), [&](int x, int y) {
    const float v = from(x, y);
    if (logarithm) return v > 0 ? std::log(std::clamp(v, 1e-6f, 1e12f)) : 0.0f;
    return std::isfinite(v) ? std::clamp(v, -16.0f, 16.0f) : 0.0f;
  });
  high_frequencies(value.view(), noise.view());
  box_mean(noise.view(), 2, scratch_.view(), noise.view());
}

void Light::recompose(const std::array<PlaneView<const float>, 3>& filtered, const Frame& noisy,
                      const Frame& clean) const {
  for (int i = 0; i < planes_; ++i) {
    const PlaneView<const float> from = noisy.plane<float>(i), albedo = albedo_[i].view();
    const PlaneView<float> to = clean.plane<float>(i);
    fill(to, [&](int x, int y) {
      const float v = filtered[i](x, y) * albedo(x, y);
      return is_usable(from(x, y) / albedo(x, y)) && std::isfinite(v) ? v : from(x, y);
    });
  }
}

}  // namespace lull
