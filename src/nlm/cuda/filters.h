#pragma once
// Filters for frames and slices on the current device. All functions queue their work on a stream
// without waiting. Only run() may allocate memory. Input and output planes have no padding
// (Margins::none()).

#include <span>
#include <vector>

#include "cuda/handles.h"
#include "nlm/cuda/kernels.h"

namespace lull::nlm::cuda {

/// Checks that kernels can process planes of this format.
/// @throws InvalidArgument  kernels cannot address planes of this size, or the motion blocks of
///     subsampled chroma are smaller than the step
void require_addressable(const Params& params, const FrameFormat& format);

/// Returns the plan of the general kernel (tiles.cu) for planes with motion blocks of 32x32
/// samples.
[[nodiscard]] TilesPlan plan_tiles(const Params& params, const Space& space, int guides,
                                   int planes);

/// Memory for the weights of the general kernel (tiles.cu).
class Workspaces {
 public:
  Workspaces();
  /// Sets the side of a tile (plan.side), and allocates memory if the present memory is too small
  /// for a single thread block.
  void reserve(TilesPlan& plan, int sources);
  float* get() const { return memory_.get(); }
  int count() const { return count_; }

 private:
  int multiprocessors_, count_ = 0;
  lull::cuda::DeviceBuffer<float> memory_;
};

/// A CandidateFrame whose motion vectors are in device memory. If `motion` is null, there is no
/// motion.
struct CandidateSlot {
  int slot = 0;
  const Motion* motion = nullptr;
};

class FrameFilter {
 public:
  FrameFilter(const FramePlan& plan, cudaStream_t stream);
  /// Loads a frame as FrameEngine::load() does. `holes` has one byte per sample, row by row without
  /// gaps. A byte is 0 for a valid sample, and not 0 for a sample in a hole. If `holes` is null,
  /// there are no holes.
  void load(int slot, const Planes3& samples, const Planes3& guides,
            const std::uint8_t* holes = nullptr);
  /// Computes results as FrameEngine::estimate() does.
  void run(std::span<const CandidateSlot> frames);
  /// Returns the result of plane `c`, valid until the next call of run().
  const float* result(int c) const { return results_[c].get(); }

 private:
  enum class Kernel { blocks, boxes, tiles };
  struct Slot {
    std::array<lull::cuda::DeviceBuffer<float>, 3> samples, guides;
    // The guide with marked holes (hole_mark()). Empty if Params::holes is false.
    lull::cuda::DeviceBuffer<float> marked;
    bool has_holes = false;
  };

  static Kernel kernel_for(const FramePlan& plan);
  Planes3 samples_of(int slot) const;
  Planes3 guides_of(int slot) const;
  Results3 results() const;
  TileSource source_of(int slot, const Motion* motion) const;
  void run_tiles(std::span<const CandidateSlot> frames);

  FramePlan plan_;
  cudaStream_t stream_;
  Kernel kernel_;  // kernel for single frames
  Space space_;
  Curve curve_;
  std::array<float, 3> guide_scale_{}, sample_scale_{};
  TilesPlan tiles_;
  std::vector<Slot> slots_;
  std::array<lull::cuda::DeviceBuffer<float>, 3> results_;
  lull::cuda::DeviceBuffer<std::byte> layers_;
  Workspaces workspaces_;
};

/// Filters the slices of a volume on the compute stream. The memory is a ring buffer of depth()
/// slices: load() of slice z + depth() overwrites slice z. The caller must synchronise the streams
/// of load() and run().
class VolumeFilter {
 public:
  /// `batch_size` is the maximum number of slices of one call of run().
  VolumeFilter(const VolumePlan& plan, int batch_size, cudaStream_t compute_stream);
  /// Returns the preferred number of slices per call of run().
  [[nodiscard]] static int slices_at_a_time(const VolumePlan& plan);
  /// Returns the number of slices in memory: the slices of two successive calls of run(), with
  /// their neighbours.
  [[nodiscard]] static int depth(const Params& params, int batch_size) {
    return 2 * (batch_size + params.reach_slices());
  }
  void load(int z, const float* samples, const float* guide, cudaStream_t stream);
  /// Computes results as VolumeEngine::estimate() does. `results` receives the filtered slices of
  /// the span `wanted`, one after another.
  void run(SliceSpan wanted, SliceSpan available, float* results);

 private:
  float* sample(int z) const;
  float* guide(int z) const;
  void run_tiles(int z, SliceSpan available, float* result);

  VolumePlan plan_;
  cudaStream_t stream_;
  Space space_;
  Curve curve_;
  float guide_scale_, sample_scale_;
  CubesPlan cubes_;
  bool uses_cubes_;
  int depth_;
  TilesPlan tiles_;
  lull::cuda::DeviceBuffer<float> samples_, guides_;  // ring buffers of `depth_` slices
  Workspaces workspaces_;
};

}  // namespace lull::nlm::cuda
