#pragma once
// The interface of the BM4D backends on the host. An engine processes one plane of a volume, as
// float samples on the 0..255 scale.

#include <cstdint>
#include <memory>

#include "bm4d/params.h"
#include "core/image.h"
#include "core/slices.h"

namespace lull::bm4d {

/// Consecutive layers of reference cubes, `step` slices apart. A layer is the set of reference
/// cubes with the same z position.
struct Layers {
  Phase phase = Phase::first;
  int z = 0;            // first slice of the first layer
  int count = 1;        // number of layers
  SliceSpan available;  // the slices that exist; no cube extends beyond them
  /// A flag for each reference cube, layer by layer, row by row: 1 if a required result may depend
  /// on the cube, 0 if the engine may skip the cube. If the pointer is null, all flags are 1.
  const std::uint8_t* wanted = nullptr;
};

/// The parameters of the engine for one plane of a volume.
struct VolumePlan {
  Params params;
  /// Size of a slice in voxels. Width and height are at least the side of a cube.
  int width = 0, height = 0;
  float sigma = 0;  // standard deviation of the noise, > 0

  const PhaseParams& phase(Phase which) const {
    return which == Phase::first ? params.hard : params.wiener;
  }
};

/// Processes volumes slice by slice. volume_worker.h defines the order of calls.
class VolumeEngine {
 public:
  virtual ~VolumeEngine() = default;
  /// Begins a volume. `z` is the first slice that the session receives.
  virtual void begin(int z) = 0;
  virtual void load(int z, PlaneView<const float> samples) = 0;
  /// Matches and filters the groups of reference cubes, and aggregates their estimates.
  virtual void filter(const Layers& layers) = 0;
  /// Computes slice `z` of the basic estimate. Voxels without an estimate get the noisy value.
  virtual void finish_basic(int z) = 0;
  /// Writes slice `z` of the final estimate. Voxels without an estimate get the noisy value.
  virtual void finish(int z, PlaneView<float> estimate) = 0;
};

[[nodiscard]] std::unique_ptr<VolumeEngine> make_reference_engine(const VolumePlan& plan);
/// Makes the engine of the cpu backend. If `threads` is 0, the engine uses all cores.
[[nodiscard]] std::unique_ptr<VolumeEngine> make_cpu_engine(const VolumePlan& plan, int threads);

}  // namespace lull::bm4d
