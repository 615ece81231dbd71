#pragma once
// A plane with noise on a GPU, whose samples of all slices are a volume. Everything is queued.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bm4d/cuda/kernels.h"
#include "bm4d/propagation.h"
#include "bm4d/volume_worker.h"

namespace lull::bm4d::cuda {

/// How many slices and layers are in work at a time.
struct Extent {
  int layers;    // filtered together
  int batch;     // slices that come between two batches
  int noisy;     // slices from the oldest that is not finished
  int phase[2];  // those that a phase looks at and adds to

  Extent(const Params& params, const FrameFormat& format);
};

class PlaneVolume {
 public:
  PlaneVolume(const PlanePlan& plan, const FrameFormat& format, const Extent& extent,
              cudaStream_t stream);
  ~PlaneVolume();

  int plane() const { return plane_; }
  /// Members of groups that do not stay: room for them serves one plane after the other.
  std::size_t members() const;

  void begin(int z);
  /// Slices of which the samples are there.
  void load(SliceSpan slices, const StoredPlanes& stored, cudaStream_t stream);
  void filter(const Layers& layers, std::uint32_t* groups, cudaStream_t stream);
  void finish_basic(SliceSpan slices, cudaStream_t stream);
  void finish(SliceSpan slices, const StoredPlanes& original, const StoredPlanes& results,
              cudaStream_t stream);

 private:
  struct Memory;

  Memory& of(Phase phase) const { return *phases_[phase == Phase::first ? 0 : 1]; }
  void make_norms(Memory& memory, const Layers& layers, cudaStream_t stream) const;
  std::uint32_t* room_for(ReferenceCubes& cubes);
  KeptLists lists_for(const ReferenceCubes& cubes) const;
  std::size_t layers_at_once(const Memory& memory) const;
  void prepare(Phase phase, int end, cudaStream_t stream);
  PhaseEnd end_of(Phase phase, SliceSpan slices) const;

  VolumePlan plan_;
  int plane_;
  Extent extent_;
  Margins margins_;
  int first_ = 0;  // slice that was loaded first
  Slices<float> noisy_, basic_;
  Slices<CellSum> cells_;  // of floats
  std::vector<std::unique_ptr<Memory>> phases_;
  KeptLayers kept_layers_;                        // where the second phase does not search
  lull::cuda::DeviceBuffer<std::uint32_t> kept_;  // their groups
};

}  // namespace lull::bm4d::cuda
