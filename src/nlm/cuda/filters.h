#pragma once
// Frames and slices in the memory of the current device, and the kernels that take them: what the
// engines (frames_cuda.cpp, volumes_cuda.cpp) and the benchmarks run. Everything is queued on the
// stream; only run() may allocate there, and waits for nothing, as take() may (cuda/staging.h).

#include <span>
#include <vector>

#include "cuda/handles.h"
#include "cuda/staging.h"
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

class FrameFilter {
 public:
  FrameFilter(const FramePlan& plan, cudaStream_t stream);
  void load(int slot, const PlaneViews& samples, const PlaneViews& guides,
            const Holes* holes = nullptr);
  /// FrameEngine::estimate(), whose results stay here.
  void run(std::span<const CandidateFrame> frames);
  void take(const std::array<PlaneView<float>, 3>& results);

 private:
  enum class Way { blocks, boxes, tiles };
  struct Slot {
    std::array<lull::cuda::DeviceBuffer<float>, 3> samples, guides;
    lull::cuda::DeviceBuffer<float> marked;  // the guide that shows holes, if frames may have any
    bool has_holes = false;
  };

  static Way way_of(const FramePlan& plan);
  void load_plane(PlaneView<const float> samples, float scale, float* to);
  Planes3 samples_of(int slot) const;
  Planes3 guides_of(int slot) const;
  Results3 results() const;
  void load_marked(Slot& slot, PlaneView<const float> samples, const Holes& holes);
  TileSource source_of(int slot, const Motion* motion) const;
  void run_tiles(std::span<const CandidateFrame> frames);

  FramePlan plan_;
  cudaStream_t stream_;
  Way way_;  // of single frames
  Space space_;
  Curve curve_;
  std::array<float, 3> guide_scale_{}, sample_scale_{};
  TilesPlan tiles_;
  std::vector<Slot> slots_;
  lull::cuda::DeviceBuffer<float> raw_;  // a plane on its way
  std::array<lull::cuda::DeviceBuffer<float>, 3> results_;
  lull::cuda::DeviceBuffer<std::byte> layers_;
  lull::cuda::DeviceBuffer<Motion> motion_;
  lull::cuda::Staging staging_;
  Workspaces workspaces_;
};

class VolumeFilter {
 public:
  VolumeFilter(const VolumePlan& plan, cudaStream_t stream);
  /// Slices that run() takes at most.
  int slices_at_a_time() const { return together_; }
  void load(int z, PlaneView<const float> samples, PlaneView<const float> guide);
  /// VolumeEngine::estimate(), whose results stay here.
  void run(SliceSpan wanted, SliceSpan there);
  /// Of slice number k of those wanted.
  void take(int k, PlaneView<float> result);

 private:
  float* sample(int z) const;
  float* guide(int z) const;
  void load_plane(PlaneView<const float> samples, float scale, float* to);
  void run_tiles(int z, SliceSpan there, float* result);

  VolumePlan plan_;
  cudaStream_t stream_;
  Space space_;
  Curve curve_;
  float guide_scale_, sample_scale_;
  CubesPlan cubes_;
  bool takes_cubes_;
  int together_, depth_;
  TilesPlan tiles_;
  lull::cuda::DeviceBuffer<float> samples_, guides_;  // rings of `depth_` slices
  lull::cuda::DeviceBuffer<float> raw_, results_;
  lull::cuda::Staging staging_;
  Workspaces workspaces_;
};

}  // namespace lull::nlm::cuda
