#include "tools/pages/residual_planes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/slices.h"

namespace lull::tools {
namespace {

/// Converts the plane of the residual test to floats on the 0..255 scale. In RGB frames, this plane
/// is the mean of R, G and B. In all other frames, it is the first plane.
template <class T>
void to_floats(const Frame& frame, PlaneView<float> to) {
  const int planes = frame.format.layout == Layout::rgb ? 3 : 1;
  const auto scale = static_cast<float>(255 / frame.format.full_scale() / planes);
  for (int y = 0; y < to.height; ++y) {
    std::fill_n(to.row(y), to.width, 0.0f);
    for (int i = 0; i < planes; ++i) {
      const T* from = frame.plane<T>(i).row(y);
      for (int x = 0; x < to.width; ++x) to(x, y) += scale * static_cast<float>(from[x]);
    }
  }
}

Plane<float> floats_of(const Frame& frame) {
  Plane<float> plane(frame.format.width, frame.format.height);
  switch (frame.format.sample) {
    case SampleType::u8:
      to_floats<std::uint8_t>(frame, plane.view());
      break;
    case SampleType::u16:
      to_floats<std::uint16_t>(frame, plane.view());
      break;
    case SampleType::f32:
      to_floats<float>(frame, plane.view());
      break;
  }
  return plane;
}

template <class T>
double rms_of(const Frame& before, const Frame& after, int plane) {
  constexpr int step = 8;
  const PlaneView<const T> a = before.plane<T>(plane), b = after.plane<T>(plane);
  const int shift_x = plane == 0 ? 0 : before.format.chroma_shift_x;
  const int shift_y = plane == 0 ? 0 : before.format.chroma_shift_y;
  double sum = 0, count = 0;
  for (int y = std::min(step / 2, a.height - 1); y < a.height; y += step) {
    float row = 0;
    int in_row = 0;
    for (int x = 0; x < a.width; ++x) {
      if (before.mask && !before.mask->inside(x << shift_x, y << shift_y)) continue;
      const float difference = static_cast<float>(a(x, y)) - static_cast<float>(b(x, y));
      if (!std::isfinite(difference)) continue;
      row += difference * difference;
      ++in_row;
    }
    sum += static_cast<double>(row);
    count += in_row;
  }
  return count > 0 ? std::sqrt(sum / count) * 255 / before.format.full_scale() : 0;
}

/// Returns the minimum sample value for the statistics under photon noise: the value at which the
/// noise level equals the signal of one photon. For darker samples, small errors of the denoised
/// values would change the expected noise level too much. The result is minus infinity if the read
/// noise alone has at least this level.
float min_signal_of(const PhotonNoise& noise) {
  if (noise.read >= noise.gain) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(noise.offset + noise.gain - noise.read * noise.read / noise.gain);
}

}  // namespace

ExpectedNoise::ExpectedNoise(const SceneNoise& scene, Layout layout,
                             const std::optional<VolumeNoise>& volume_noise)
    : plane_(scene.estimate.noise.plane(0)),
      volume_noise_(volume_noise),
      min_signal_(-std::numeric_limits<float>::infinity()) {
  if (scene.volume && scene.volume->noise.sigma > 0) plane_ = {.sigma = scene.volume->level};
  if (layout == Layout::rgb) {
    const PlaneNoise green = scene.estimate.noise.plane(1);
    plane_ = scene.estimate.noise.in_opponent_space().plane(0);
    plane_.curve = green.curve;
    if (green.curve && green.sigma > 0) factor_ = plane_.sigma / green.sigma;
  }
  if (volume_noise_ && !volume_noise_->map) plane_.sigma = volume_noise_->sigma;
  if (volume_noise_ && volume_noise_->kind == NoiseKind::rician)
    min_signal_ = volume_noise_->zero + 3 * level();
  if (volume_noise_ && volume_noise_->photons) min_signal_ = min_signal_of(*volume_noise_->photons);
}

float ExpectedNoise::level() const {
  return plane_.curve ? factor_ * plane_.curve->level() : plane_.sigma;
}

void ExpectedNoise::levels(PlaneView<const float> after, int slice, int from_x, int from_y,
                           PlaneView<float> to) const {
  constexpr float min_signal = 1e-6f;
  const NoiseMap* map = volume_noise_ && slice >= 0 ? volume_noise_->map.get() : nullptr;
  const PhotonNoise* photons =
      volume_noise_ && volume_noise_->photons ? &*volume_noise_->photons : nullptr;
  Plane<float> slice_levels;
  if (map) {
    slice_levels = Plane<float>(map->voxels[0], map->voxels[1]);
    map->slice(std::min(slice, map->voxels[2] - 1), slice_levels.view());
  }
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x) {
      float level = plane_.sigma;
      if (map)
        level = slice_levels.view()(std::min(x + from_x, map->voxels[0] - 1),
                                    std::min(y + from_y, map->voxels[1] - 1));
      else if (photons)
        level = static_cast<float>(std::sqrt(photons->variance(static_cast<double>(after(x, y)))));
      else if (plane_.curve)
        level = factor_ * plane_.curve->at(after(x, y));
      to(x, y) = std::max(level, min_signal);
    }
}

ResidualPlanes residual_planes(const Frame& before, const Frame& after, const ExpectedNoise& noise,
                               const SliceMask* mask, int from_x, int from_y) {
  ResidualPlanes planes{floats_of(before), floats_of(after), {}, {}};
  const int width = before.format.width, height = before.format.height;
  planes.level = Plane<float>(width, height);
  planes.counts = Plane<std::uint8_t>(width, height);
  noise.levels(planes.after.view(), before.slice, from_x, from_y, planes.level.view());
  const PlaneView<float> a = planes.before.view(), b = planes.after.view();
  const bool clips = before.format.sample != SampleType::f32;
  const float dark = clips ? 1.0f : -std::numeric_limits<float>::infinity();
  const float bright = clips ? 254.0f : std::numeric_limits<float>::infinity();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool finite = std::isfinite(a(x, y)) && std::isfinite(b(x, y));
      const bool inside = !mask || mask->inside(x + from_x, y + from_y);
      planes.counts.view()(x, y) =
          finite && inside && a(x, y) > dark && a(x, y) < bright && b(x, y) > noise.min_signal();
      if (!finite) a(x, y) = b(x, y) = 0;
    }
  return planes;
}

double removed_rms(const Frame& before, const Frame& after, int plane) {
  switch (before.format.sample) {
    case SampleType::u8:
      return rms_of<std::uint8_t>(before, after, plane);
    case SampleType::u16:
      return rms_of<std::uint16_t>(before, after, plane);
    case SampleType::f32:
      return rms_of<float>(before, after, plane);
  }
  return 0;
}

}  // namespace lull::tools
