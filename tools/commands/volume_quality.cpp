#include "tools/commands/volume_quality.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tools/commands/quality.h"

namespace lull::tools {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<float> window_along(std::int64_t length) {
  return gaussian_window(static_cast<int>(std::min<std::int64_t>(length, 1 << 20)));
}

void add_scaled(const float* from, float weight, std::size_t count, float* sum) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += weight * from[i];
}

/// Returns SSIM for peak 1. fill() has subtracted 0.5 from the samples, because variances of floats
/// are most precise near 0.
double index_of(float a, float b, float squares, float product) {
  constexpr float c1 = 0.01f * 0.01f, c2 = 0.03f * 0.03f;
  const float covariance = product - a * b;
  const float variances = squares - (a * a + b * b);
  a += 0.5f, b += 0.5f;
  return static_cast<double>((2 * a * b + c1) * (2 * covariance + c2) /
                             ((a * a + b * b + c1) * (variances + c2)));
}

}  // namespace

VolumeTotals& VolumeTotals::operator+=(const VolumeTotals& other) {
  voxels += other.voxels;
  not_finite += other.not_finite;
  squares += other.squares;
  positions += other.positions;
  ssim_sum += other.ssim_sum;
  return *this;
}

double VolumeTotals::mse() const {
  return voxels > 0 ? squares / static_cast<double>(voxels) : not_a_number;
}
double VolumeTotals::ssim() const {
  return positions > 0 ? ssim_sum / static_cast<double>(positions) : not_a_number;
}

VolumeQuality::VolumeQuality(int width, int height, std::int64_t slices, double peak)
    : width_(width),
      height_(height),
      peak_(peak),
      across_(window_along(width)),
      down_(window_along(height)),
      through_(window_along(slices)),
      positions_x_(width - static_cast<int>(across_.size()) + 1),
      positions_y_(height - static_cast<int>(down_.size()) + 1),
      ring_(through_.size()) {
  const std::size_t positions = static_cast<std::size_t>(positions_x_) * positions_y_;
  for (auto& plane : samples_) plane.resize(static_cast<std::size_t>(width) * height);
  for (auto& plane : rows_) plane.resize(static_cast<std::size_t>(positions_x_) * height);
  for (auto& plane : local_) plane.resize(positions);
  for (Moments& moments : ring_)
    for (auto& plane : moments) plane.resize(positions);
}

void VolumeQuality::add(const std::vector<double>& a, const std::vector<double>& b,
                        const SliceMask* mask) {
  add_errors(a, b, mask);
  fill(a, b);
  blur(ring_[masks_.size() % ring_.size()]);
  masks_.push_back(mask);
  if (masks_.size() >= through_.size()) add_positions();
}

void VolumeQuality::add_errors(const std::vector<double>& a, const std::vector<double>& b,
                               const SliceMask* mask) {
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x) {
      if (mask && !mask->inside(x, y)) continue;
      const std::size_t i = static_cast<std::size_t>(y) * width_ + x;
      const double difference = a[i] - b[i];
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
        ++totals_.not_finite;
        continue;
      }
      ++totals_.voxels;
      totals_.squares += difference * difference;
    }
}

/// Stores the samples of a slice. Samples that are not finite become NaN. Windows with NaN are
/// invalid.
void VolumeQuality::fill(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool finite = std::isfinite(a[i]) && std::isfinite(b[i]);
    const float va = static_cast<float>(finite ? a[i] / peak_ - 0.5 : not_a_number);
    const float vb = static_cast<float>(finite ? b[i] / peak_ - 0.5 : not_a_number);
    samples_[0][i] = va;
    samples_[1][i] = vb;
    samples_[2][i] = va * va + vb * vb;
    samples_[3][i] = va * vb;
  }
}

/// Filters a slice along rows, then along columns.
void VolumeQuality::blur(Moments& into) {
  for (std::size_t m = 0; m < samples_.size(); ++m) {
    std::ranges::fill(rows_[m], 0.0f);
    std::ranges::fill(into[m], 0.0f);
    const auto positions = static_cast<std::size_t>(positions_x_);
    for (int y = 0; y < height_; ++y)
      for (std::size_t t = 0; t < across_.size(); ++t)
        add_scaled(&samples_[m][static_cast<std::size_t>(y) * width_ + t], across_[t], positions,
                   &rows_[m][y * positions]);
    for (int y = 0; y < positions_y_; ++y)
      for (std::size_t t = 0; t < down_.size(); ++t)
        add_scaled(&rows_[m][(y + t) * positions], down_[t], positions, &into[m][y * positions]);
  }
}

/// Evaluates the windows whose last slice is the newest slice.
void VolumeQuality::add_positions() {
  const std::size_t first = masks_.size() - through_.size();
  const SliceMask* mask = masks_[first + (through_.size() - 1) / 2];
  for (std::size_t m = 0; m < local_.size(); ++m) {
    std::ranges::fill(local_[m], 0.0f);
    for (std::size_t t = 0; t < through_.size(); ++t)
      add_scaled(ring_[(first + t) % ring_.size()][m].data(), through_[t], local_[m].size(),
                 local_[m].data());
  }
  const int middle_x = static_cast<int>(across_.size() - 1) / 2;
  const int middle_y = static_cast<int>(down_.size() - 1) / 2;
  for (int y = 0; y < positions_y_; ++y)
    for (int x = 0; x < positions_x_; ++x) {
      if (mask && !mask->inside(x + middle_x, y + middle_y)) continue;
      const std::size_t i = static_cast<std::size_t>(y) * positions_x_ + x;
      const double index = index_of(local_[0][i], local_[1][i], local_[2][i], local_[3][i]);
      if (std::isnan(index)) continue;
      ++totals_.positions;
      totals_.ssim_sum += index;
    }
}

}  // namespace lull::tools
