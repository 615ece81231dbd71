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
  /// `noise` is the noise in the colour space of the filter (Y, U and V for RGB). `guided` is true
  /// for frames with guides. `margins[i]` is the layout of plane `i`, equal for all planes of a
  /// set. All functions queue their work on `stream`.
  /// @throws OutOfDeviceMemory
  DeviceFilter(const FrameFormat& format, const NoiseModel& noise, bool guided,
               const std::array<Margins, max_planes>& margins, cudaStream_t stream);

  /// The pictures of a frame.
  struct Pictures {
    Planes y;            // noisy planes
    Planes frame_guide;  // Frame::guide, only in guided sessions
    /// Results. The pointers of missing and unfiltered planes must be null.
    std::array<float*, max_planes> x;
    const std::uint8_t* holes = nullptr;  // flags as for quantise() (kernels.h); null: no holes
  };
  void run(const Pictures& pictures);

 private:
  void upload_autocorrelation(int plane);
  void filter_set(const SetPlan& plan, const Pictures& pictures);
  void match_set(const SetPlan& plan, const GroupSizes& sizes, Source source,
                 const Pictures& pictures);
  void combine_set(const SetPlan& plan, const GroupSizes& sizes, const Step& step,
                   const Pictures& pictures);
  const float* make_guide(const SetPlan& plan, Source source, const Pictures& pictures);
  GroupSizes fitted_sizes(const SetPlan& plan, const GroupSizes& sizes) const;

  FrameFormat format_;
  NoiseModel noise_;
  bool guided_;
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
