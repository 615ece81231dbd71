#pragma once
// One plane of all slices of a volume, in GPU memory. All functions queue their work on CUDA
// streams.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bm4d/cuda/extent.h"
#include "bm4d/cuda/kernels.h"
#include "bm4d/propagation.h"
#include "bm4d/volume_worker.h"

namespace lull::bm4d::cuda {

/// Checks that kernels can address all slices and group members.
/// @throws InvalidArgument  the slices are too large, or the groups at one z position have too many
///     members
void require_addressable(const Params& params, const FrameFormat& format);

class PlaneVolume {
 public:
  /// The parameters and the format must pass require_addressable().
  PlaneVolume(const PlanePlan& plan, const FrameFormat& format, const Extent& extent,
              cudaStream_t stream);
  ~PlaneVolume();

  int plane() const { return plane_; }
  /// Returns the number of group members for which the caller provides memory. All planes may use
  /// the same memory.
  std::size_t members() const;

  void begin(int z);
  /// Loads slices from planes of stored samples in device memory.
  void load(SliceSpan slices, const StoredPlanes& stored, cudaStream_t stream);
  void filter(const Layers& layers, std::uint32_t* groups, cudaStream_t stream);
  void finish_basic(SliceSpan slices, cudaStream_t stream);
  void finish(SliceSpan slices, const StoredPlanes& original, const StoredPlanes& results,
              cudaStream_t stream);

 private:
  struct Memory;

  Memory& of(Phase phase) const { return *phases_[phase == Phase::first ? 0 : 1]; }
  void make_norms(Memory& memory, const Layers& layers, cudaStream_t stream) const;
  std::uint32_t* reserve_groups(ReferenceCubes& cubes);
  KeptLists lists_for(const ReferenceCubes& cubes) const;
  std::size_t layers_at_once(const Memory& memory) const;
  void prepare(Phase phase, int end, cudaStream_t stream);
  PhaseEnd end_of(Phase phase, SliceSpan slices) const;

  VolumePlan plan_;
  int plane_;
  Extent extent_;
  Margins margins_;
  int first_ = 0;  // first slice of the volume
  Slices<float> noisy_, basic_;
  Slices<CellSum> cells_;  // used for float samples
  std::vector<std::unique_ptr<Memory>> phases_;
  KeptLayers kept_layers_;                        // used if the second phase does not search
  lull::cuda::DeviceBuffer<std::uint32_t> kept_;  // groups in the slots of kept_layers_
};

}  // namespace lull::bm4d::cuda
