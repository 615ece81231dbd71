#include "bm3d/cuda/filter/covariance_cuda.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "bm3d/transforms.h"
#include "noise/patch_covariance.h"

namespace lull::bm3d {
namespace {

constexpr int coefficients = patch * patch;
/// Maximum magnitude of 1 - covariance / variance in the tables. Exact autocorrelations of the
/// noise give values within 0..2, but estimated autocorrelations can give larger values.
constexpr double max_decorrelation = 64;
/// Minimum of CovarianceView::unit, the numerator of group weights. The weight of a group of N
/// patches is at least unit / (64 * N). This lower bound makes the smallest weights large enough
/// for the fixed-point sums.
constexpr double min_unit = 0.25;

std::uint16_t half_bits(double value) {
  const __half_raw raw = __float2half_rn(static_cast<float>(value));
  return raw.x;
}

template <class T>
cuda::DeviceBuffer<T> copied(const std::vector<T>& values, cudaStream_t stream) {
  cuda::DeviceBuffer<T> buffer(values.size());
  cuda::check(
      cudaMemcpyAsync(buffer.get(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice, stream));
  cuda::check(cudaStreamSynchronize(stream));  // waits, because the caller releases `values`
  return buffer;
}

}  // namespace

KernelCovariance make_kernel_covariance(const PlaneNoise& noise, Transform transform) {
  const PatchCovariance covariance(noise, axis_rows(transform));
  KernelCovariance table;
  CovarianceView& view = table.view;
  view.reach_x = covariance.reach_x(), view.reach_y = covariance.reach_y();
  view.uncorrelated = view.index(view.reach_x, view.reach_y) + 1;
  const std::span<const double> own = covariance.at(0, 0);
  view.unit = static_cast<float>(std::max(own[0], min_unit));

  // The tables have the order [v][u] in host memory, and [u][v] in device memory.
  const auto transposed = [](int i, int place = 0) {
    return CovarianceView::column(place, i % patch) * patch + i / patch;
  };
  table.own.resize(2 * coefficients);
  for (int i = 0; i < coefficients; ++i) {
    table.own[transposed(i)] = static_cast<float>(own[i]);
    table.own[coefficients + transposed(i)] = static_cast<float>(std::sqrt(own[i]));
  }
  table.decorrelation.assign(static_cast<std::size_t>(view.uncorrelated + 1) * coefficients,
                             half_bits(1));
  for (int dy = 0; dy <= view.reach_y; ++dy)
    for (int dx = dy == 0 ? 0 : -view.reach_x; dx <= view.reach_x; ++dx) {
      const std::span<const double> shared = covariance.at(dx, dy);
      const int place = view.index(dx, dy);
      std::uint16_t* const row = table.decorrelation.data() + place * coefficients;
      for (int i = 0; i < coefficients; ++i)
        row[transposed(i, place)] =
            half_bits(std::clamp(1 - shared[i] / own[i], -max_decorrelation, max_decorrelation));
    }
  return table;
}

Covariances::Covariances(const NoiseModel& noise, Transform transform, cudaStream_t stream) {
  for (int i = 0; i < max_planes; ++i) {
    const PlaneNoise& plane = noise.plane(i);
    if (plane.is_white() || plane.sigma == 0) continue;
    for (int earlier = 0; earlier < i && views_[i].is_white(); ++earlier)
      if (noise.plane(earlier).correlation == plane.correlation) views_[i] = views_[earlier];
    if (!views_[i].is_white()) continue;
    const KernelCovariance table = make_kernel_covariance(plane, transform);
    own_.push_back(copied(table.own, stream));
    decorrelation_.push_back(copied(table.decorrelation, stream));
    views_[i] = table.view;
    views_[i].own = own_.back().get();
    views_[i].decorrelation = decorrelation_.back().get();
  }
}

}  // namespace lull::bm3d
