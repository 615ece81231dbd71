#pragma once
// Launches the kernels of temporal linear combinations (linear/params.h) on `stream`, without
// allocation or synchronisation.

#include <array>
#include <cstdint>

#include "linear/cuda/kernels.h"
#include "linear/cuda/time_windows.h"

namespace lull::linear {

/// Arguments of match_over_time(), which finds the groups of all reference patches of the first
/// frame (match_time.cu).
struct TimeMatchArgs {
  Margins margins;
  SearchedFrames frames;
  std::array<QuantisedGuide, max_frames> guides;
  DeviceGroups groups;
  /// Motion bonus: the matcher subtracts this amount from the distance of the candidate to which
  /// the motion vector points. The unit is the square of a level of the quantised guide. Element 0
  /// is for patches in one frame, and element 1 for patches that span two frames.
  std::array<std::uint32_t, 2> bonus{};
};
void match_over_time(const TimeMatchArgs& args, cudaStream_t stream);

/// Sums of weighted estimates of a frame in fixed point (time_value_scale()).
struct TimeSums {
  std::int32_t *x = nullptr, *z = nullptr;
  std::uint32_t* weights = nullptr;  // sums of weights, at the first samples of patches
};

/// The pictures of a frame (linear/params.h). x is the estimate, and z a partly denoised picture.
/// In the pilot, both point to the noisy picture.
struct TimeFrame {
  const float *x = nullptr, *z = nullptr;
  const float2* moments = nullptr;  // CombineArgs::moments
  TimeSums sums;
};

/// Arguments of one step for one plane of the frame that contains the reference patches.
struct TimeCombineArgs {
  Margins margins;
  SearchedFrames frames;
  std::array<TimeFrame, max_frames> pictures;
  DeviceGroups groups;
  float sigma = 0;
  const float* autocorrelation = nullptr;  // null: white noise
  Step step;
  int max_frames_searched = 1;  // maximum of frames.count in the session
  float value_scale = 0;        // time_value_scale()
};
/// Returns true if the kernels for these parameters fit into shared memory, for a device with the
/// limits `limits`.
[[nodiscard]] bool fits_over_time(const SetParams& params, int frames,
                                  const cuda::DeviceLimits& limits);
/// Combines the patches of all groups and adds the estimates to the sums (combine_time.cu).
void combine_over_time(const TimeCombineArgs& args, cudaStream_t stream);

/// Computes the weighted means of the estimates, and sets the sums to 0 (finish.cu). `z` may be
/// null.
void finish_over_time(const TimeSums& sums, float value_scale, const Margins& margins, int side,
                      float* x, float* z, cudaStream_t stream);

}  // namespace lull::linear
