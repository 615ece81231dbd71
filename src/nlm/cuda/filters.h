#pragma once
// Frames and slices in the memory of the current device, and the kernels that take them: what the
// workers (workers.h) and the benchmarks run. Everything is queued on a stream and waits for
// nothing; only run() may allocate. Planes come and go without pads, as Margins::none() says.

#include <span>
#include <vector>

#include "cuda/handles.h"
#include "nlm/cuda/kernels.h"

namespace lull::nlm::cuda {

/// For planes of motion cells of 32 samples.
[[nodiscard]] TilesPlan plan_tiles(const Params& params, const Space& space, int guides,
                                   int planes);

/// Where the kernel for everything has its weights.
class Workspaces {
 public:
  Workspaces();
  /// Chooses plan.side.
  void reserve(TilesPlan& plan, int sources);
  float* get() const { return memory_.get(); }
  int count() const { return count_; }

 private:
  int multiprocessors_, count_ = 0;
  lull::cuda::DeviceBuffer<float> memory_;
};

/// CandidateFrame, with its motion on the device; null: none moves.
struct CandidateSlot {
  int slot = 0;
  const Motion* motion = nullptr;
};

class FrameFilter {
 public:
  FrameFilter(const FramePlan& plan, cudaStream_t stream);
  /// FrameEngine::load(). `holes`: row by row without gaps, not 0 where there is one; null: none.
  void load(int slot, const Planes3& samples, const Planes3& guides,
            const std::uint8_t* holes = nullptr);
  /// FrameEngine::estimate().
  void run(std::span<const CandidateSlot> frames);
  /// Of plane number `c` of the planes, until the next run().
  const float* result(int c) const { return results_[c].get(); }

 private:
  enum class Way { blocks, boxes, tiles };
  struct Slot {
    std::array<lull::cuda::DeviceBuffer<float>, 3> samples, guides;
    lull::cuda::DeviceBuffer<float> marked;  // the guide that shows holes, if frames may have any
    bool has_holes = false;
  };

  static Way way_of(const FramePlan& plan);
  Planes3 samples_of(int slot) const;
  Planes3 guides_of(int slot) const;
  Results3 results() const;
  TileSource source_of(int slot, const Motion* motion) const;
  void run_tiles(std::span<const CandidateSlot> frames);

  FramePlan plan_;
  cudaStream_t stream_;
  Way way_;  // of single frames
  Space space_;
  Curve curve_;
  std::array<float, 3> guide_scale_{}, sample_scale_{};
  TilesPlan tiles_;
  std::vector<Slot> slots_;
  std::array<lull::cuda::DeviceBuffer<float>, 3> results_;
  lull::cuda::DeviceBuffer<std::byte> layers_;
  Workspaces workspaces_;
};

/// Slices are loaded on one stream and filtered on another, the computing one: who owns these sees
/// to it that slices are there when they are filtered, and not in use any more when the slice that
/// is depth() further on takes their place.
class VolumeFilter {
 public:
  /// `together`: slices that run() takes at most.
  VolumeFilter(const VolumePlan& plan, int together, cudaStream_t computing);
  /// How many slices a filter would rather have at a time.
  [[nodiscard]] static int slices_at_a_time(const VolumePlan& plan);
  /// Room for the slices of one run(), with those around them, and for as many more as it takes.
  [[nodiscard]] static int depth(const Params& params, int together) {
    return 2 * (together + params.reach_slices());
  }
  void load(int z, const float* samples, const float* guide, cudaStream_t stream);
  /// VolumeEngine::estimate(). `results`: of the wanted slices, one after the other.
  void run(SliceSpan wanted, SliceSpan there, float* results);

 private:
  float* sample(int z) const;
  float* guide(int z) const;
  void run_tiles(int z, SliceSpan there, float* result);

  VolumePlan plan_;
  cudaStream_t stream_;
  Space space_;
  Curve curve_;
  float guide_scale_, sample_scale_;
  CubesPlan cubes_;
  bool takes_cubes_;
  int depth_;
  TilesPlan tiles_;
  lull::cuda::DeviceBuffer<float> samples_, guides_;  // rings of `depth_` slices
  Workspaces workspaces_;
};

}  // namespace lull::nlm::cuda
