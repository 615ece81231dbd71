#pragma once
// The backends on the host, which know one plane of a volume as float samples on the 0..255 scale.

#include <cstdint>
#include <memory>

#include "bm4d/params.h"
#include "core/image.h"
#include "core/slices.h"

namespace lull::bm4d {

/// Reference cubes of all rows and columns that begin in the same slices: z, z + step, ..
struct Layers {
  Phase phase = Phase::first;
  int z = 0;        // where those of the first layer begin
  int count = 1;    // layers
  SliceSpan there;  // the slices that exist: no cube reaches beyond
  /// Of each reference cube, layer by layer, row by row: whether a result that is wanted may depend
  /// on it. An engine may leave out the others. Null: all are wanted.
  const std::uint8_t* wanted = nullptr;
};

/// What the engine of a plane needs to know of it.
struct VolumePlan {
  Params params;
  int width = 0, height = 0;  // voxels of a slice, a cube of either phase at least
  float sigma = 0;            // of the noise, > 0

  const PhaseParams& phase(Phase which) const {
    return which == Phase::first ? params.hard : params.wiener;
  }
};

/// Works through volumes slice by slice; in which order calls come says volume_worker.h.
class VolumeEngine {
 public:
  virtual ~VolumeEngine() = default;
  /// A volume begins, or what is seen of it, with slice `z`.
  virtual void begin(int z) = 0;
  virtual void load(int z, PlaneView<const float> samples) = 0;
  /// Matches and filters the groups of reference cubes, and adds up their estimates.
  virtual void filter(const Layers& layers) = 0;
  /// Slice `z` of the basic estimate, that of the noisy volume where no cube was filtered.
  virtual void finish_basic(int z) = 0;
  /// Slice `z` of the last phase's estimate, that of the noisy volume where no cube was filtered.
  virtual void finish(int z, PlaneView<float> estimate) = 0;
};

[[nodiscard]] std::unique_ptr<VolumeEngine> make_reference_engine(const VolumePlan& plan);
/// `threads`: 0 takes every core.
[[nodiscard]] std::unique_ptr<VolumeEngine> make_cpu_engine(const VolumePlan& plan, int threads);

}  // namespace lull::bm4d
