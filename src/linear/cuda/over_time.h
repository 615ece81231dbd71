#pragma once
// Temporal linear combinations of patches (linear/params.h) on planes in GPU memory. Each frame is
// in a slot (time/frame_session.h).

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "cuda/handles.h"
#include "cuda/layout/margins.h"
#include "linear/cuda/kernels_time.h"
#include "linear/plan.h"
#include "linear/schedule.h"
#include "time/frame_session.h"

namespace lull::linear {

/// Returns true if a device has enough shared memory for the kernels that filter frames of this
/// format. `radius` is the temporal radius, and `limits` are the limits of the device.
[[nodiscard]] bool fits_over_time(const FrameFormat& format, const NoiseModel& noise, int radius,
                                  const cuda::DeviceLimits& limits);

/// Filters frames with temporal linear combinations. The class owns the pictures of all unfinished
/// frames.
class DeviceFilterOverTime {
 public:
  /// Returns the motion vectors from the frame in a slot to the frame at a temporal offset. The
  /// vectors are in device memory, one for each motion block of the first plane. A null pointer
  /// means that all vectors are zero.
  using MotionCells = std::function<const Motion*(int slot, int offset)>;

  /// The constructor has the arguments of DeviceFilter (filter.h), and two more: the number of
  /// slots and the temporal radius.
  /// @throws OutOfDeviceMemory
  DeviceFilterOverTime(const FrameFormat& format, const NoiseModel& noise,
                       const std::array<Margins, max_planes>& margins, int slots, int radius,
                       cudaStream_t stream);

  /// Returns the noisy planes of a slot. The caller fills them before start().
  [[nodiscard]] std::array<float*, max_planes> noisy(int slot) const;
  /// Prepares the first step of a frame whose noisy planes are complete.
  void start(int slot);
  /// Performs a step for the reference patches of frames[0], and adds the estimates to the sums of
  /// all frames.
  void filter(int step, std::span<const SlotFrame> frames, const MotionCells& cells);
  /// Computes the pictures x and z from the sums of a step, and prepares the next step.
  void finish_step(int step, int slot);
  /// Returns the filtered planes of a slot after the last step. For an unfiltered plane, the result
  /// is the noisy plane.
  [[nodiscard]] Planes results(int slot) const;

 private:
  /// The pictures, sums and moments of a plane, for all slots.
  struct PlaneMemory {
    PlaneRing<float> y, x, z;
    PlaneRing<std::int32_t> sums_x, sums_z;
    PlaneRing<std::uint32_t> weights;
    PlaneRing<float2> moments;
    cuda::DeviceBuffer<float> autocorrelation;  // empty: white noise
  };
  /// The guides of a set of planes in all slots, and the groups of the iterations.
  struct SetMemory {
    PlaneRing<std::uint8_t> samples;
    PlaneRing<std::int32_t> norms;
    PlaneRing<std::uint16_t> members;
    PlaneRing<std::uint8_t> counts;
  };

  void plan_set(std::size_t set, int slots);
  void plan_plane(int plane, int slots);
  const Margins& margins_of(const SetPlan& plan) const { return margins_[plan.set.planes.front()]; }
  GroupSizes sizes_of(const SetPlan& plan, int step) const;
  SearchedFrames searched(const SetPlan& plan, const GroupSizes& sizes,
                          std::span<const SlotFrame> frames, const MotionCells& cells) const;
  DeviceGroups groups_of(std::size_t set, int step, int slot) const;
  void make_guides(Source source, int slot);
  const float* guide(const SetPlan& plan, Source source, int slot);
  void match(std::size_t set, int step, const SearchedFrames& searched,
             std::span<const SlotFrame> frames);
  void combine(std::size_t set, int step, const SearchedFrames& searched,
               std::span<const SlotFrame> frames);
  TimeSums sums_of(int plane, int slot) const;
  bool is_filtered(int plane) const { return planes_[plane].x.at(0) != nullptr; }

  FrameFormat format_;
  NoiseModel noise_;
  std::array<Margins, max_planes> margins_;
  int radius_;
  std::vector<SetPlan> sets_;
  cudaStream_t stream_;
  std::array<PlaneMemory, max_planes> planes_;
  std::vector<SetMemory> set_memory_;
  // Buffers of the current step, for one set of planes at a time.
  cuda::DeviceBuffer<std::uint16_t> pilot_members_;
  cuda::DeviceBuffer<std::uint8_t> pilot_counts_;
  cuda::DeviceBuffer<float> guide_;  // guides that are computed from several planes
};

}  // namespace lull::linear
