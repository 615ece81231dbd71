#pragma once
// What patches share of noise that is not white, in device memory: the tables of the filter kernels
// (coloured_group.cuh), made once for a phase.

#include <array>
#include <memory>
#include <vector>

#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/params.h"
#include "cuda/handles.h"
#include "noise/noise_model.h"

namespace lull::bm3d {

/// The tables as they lie in memory, and what kernels need to know of them.
struct CovarianceTable {
  CovarianceView view;               // without its pointers
  std::vector<float> own;            // CovarianceView::own
  std::vector<std::uint16_t> apart;  // CovarianceView::apart
};
/// `noise`: not white. The transform has rows: dct or bior.
[[nodiscard]] CovarianceTable make_covariance_table(const PlaneNoise& noise, Transform transform);

/// Those of the planes of a frame, under the transform of one phase.
class Covariances {
 public:
  Covariances() = default;
  /// Copies on `stream`. Planes that are white, or without noise, need none.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  Covariances(const NoiseModel& noise, Transform transform, cudaStream_t stream);

  const CovarianceView& of(int plane) const { return views_[plane]; }

 private:
  std::vector<cuda::DeviceBuffer<float>> own_;
  std::vector<cuda::DeviceBuffer<std::uint16_t>> apart_;
  std::array<CovarianceView, max_planes> views_{};
};

}  // namespace lull::bm3d
