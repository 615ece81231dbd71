#pragma once
// Iterated linear combinations of patches (linear/params.h) on planes in GPU memory.

#include <array>
#include <vector>

#include "cuda/handles.h"
#include "cuda/layout/margins.h"
#include "linear/cuda/kernels.h"
#include "linear/plan.h"
#include "linear/schedule.h"

namespace lull::linear {

/// Filters the planes of one frame at a time. The class owns all memory except the planes of the
/// frame.
class DeviceFilter {
 public:
  /// `noise` is the noise in the colour space of the filter (Y, U and V for RGB). `margins[i]` is
  /// the size and the padding of plane `i` in device memory. All planes of a set must have equal
  /// margins. All functions queue their work on `stream`.
  /// @throws OutOfDeviceMemory
  DeviceFilter(const FrameFormat& format, const NoiseModel& noise,
               const std::array<Margins, max_planes>& margins, cudaStream_t stream);

  /// Filters the planes `y` and writes the results to `x`. The pointers of missing and unfiltered
  /// planes in `x` must be null.
  void run(const Planes& y, const std::array<float*, max_planes>& x);

 private:
  void upload_autocorrelation(int plane);
  void filter_set(const SetPlan& plan, const Planes& y, const std::array<float*, max_planes>& x);
  void match_set(const SetPlan& plan, const GroupSizes& sizes, Source source, const Planes& y,
                 const std::array<float*, max_planes>& x);
  void combine_set(const SetPlan& plan, const GroupSizes& sizes, const Step& step, const Planes& y,
                   const std::array<float*, max_planes>& x);
  const float* make_guide(const SetPlan& plan, Source source, const Planes& y,
                          const std::array<float*, max_planes>& x);
  GroupSizes fitted_sizes(const SetPlan& plan, const GroupSizes& sizes) const;

  FrameFormat format_;
  NoiseModel noise_;
  std::array<Margins, max_planes> margins_;
  std::vector<SetPlan> sets_;
  cudaStream_t stream_;
  DeviceGroups groups_;
  // Autocorrelation of the noise of each plane. For white noise, the buffer is empty.
  std::array<cuda::DeviceBuffer<float>, max_planes> autocorrelations_;
  // Buffers for the set of planes that the filter processes. All sets use the same buffers.
  std::array<cuda::DeviceBuffer<float>, max_planes> z_;
  cuda::DeviceBuffer<float> guide_;  // guides that are computed from several planes
  cuda::DeviceBuffer<std::uint8_t> quantised_;
  cuda::DeviceBuffer<std::int32_t> norms_;
  cuda::DeviceBuffer<std::uint16_t> members_;
  cuda::DeviceBuffer<std::uint8_t> counts_;
  cuda::DeviceBuffer<float2> moments_;
  cuda::DeviceBuffer<unsigned long long> sums_x_, sums_z_;
  cuda::DeviceBuffer<std::uint32_t> weights_;
};

}  // namespace lull::linear
