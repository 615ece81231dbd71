#pragma once
// The covariance tables of the filter kernels for coloured noise (coloured_group.cuh), in device
// memory.

#include <array>
#include <memory>
#include <vector>

#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/params.h"
#include "cuda/handles.h"
#include "noise/noise_model.h"

namespace lull::bm3d {

/// The covariance tables of one plane in host memory, and the kernel parameters that describe these
/// tables.
struct KernelCovariance {
  CovarianceView view;                       // parameters, without the pointers
  std::vector<float> own;                    // CovarianceView::own
  std::vector<std::uint16_t> decorrelation;  // CovarianceView::decorrelation
};
/// Makes the covariance tables of a plane with coloured noise. The transform must be DCT or
/// Bior1.5.
[[nodiscard]] KernelCovariance make_kernel_covariance(const PlaneNoise& noise, Transform transform);

/// The covariance tables of all planes of a frame, in device memory. All tables are for the same
/// transform.
class Covariances {
 public:
  Covariances() = default;
  /// Copies the tables on `stream`. Planes with white noise or without noise need no tables.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  Covariances(const NoiseModel& noise, Transform transform, cudaStream_t stream);

  const CovarianceView& of(int plane) const { return views_[plane]; }

 private:
  std::vector<cuda::DeviceBuffer<float>> own_;
  std::vector<cuda::DeviceBuffer<std::uint16_t>> decorrelation_;
  std::array<CovarianceView, max_planes> views_{};
};

}  // namespace lull::bm3d
