#pragma once
// Non-local means in double precision, by the formulas of weights.h, without optimisation. Tests
// compare the other backends with these functions.

#include <array>
#include <span>
#include <vector>

#include "core/image.h"
#include "nlm/weights.h"

namespace lull::nlm::reference {

/// The planes of all sources: frames or slices that contain candidates or reference patches.
class SourcePlanes {
 public:
  virtual ~SourcePlanes() = default;
  /// Returns the sample at (x, y) of guide plane c in slice `source` + k of a volume. In pictures,
  /// `source` is a frame, and k is 0. (x, y) may be outside the plane.
  virtual double guide(int c, int source, int k, int x, int y) const = 0;
  /// Returns whether a sample of a source is a hole.
  virtual bool is_hole(int, int, int) const { return false; }
  /// Returns the sample of sample plane c of a source at (x, y).
  virtual double sample(int c, int source, int x, int y) const = 0;
};

/// A frame or slice that contains candidates, and the motion vector from the target sample to this
/// frame.
struct Source {
  int id = 0;
  int motion_x = 0, motion_y = 0;
};

/// Returns the distance of a candidate (formula 1 of weights.h). `weight` contains the weights a_c
/// of the guide planes.
double distance(const Params& params, std::span<const float> weight, const SourcePlanes& world,
                int r_x, int r_y, int wanted, const Source& candidate, int d_x, int d_y);

/// Returns the result at (x, y) for each sample plane (formulas 2 and 3 of weights.h). `planes` is
/// the number of sample planes. `wanted` is the target frame or slice. `sources` are the frames or
/// slices that contain candidates.
std::array<double, 3> result(const Params& params, std::span<const float> weight,
                             const SourcePlanes& world, int planes, int x, int y, int wanted,
                             std::span<const Source> sources);

/// A copy of a plane. at() replicates or mirrors the border (Border).
class ContinuedPlane {
 public:
  ContinuedPlane() = default;
  ContinuedPlane(PlaneView<const float> plane, Border border);
  double at(int x, int y) const {
    return static_cast<double>(
        samples_[static_cast<std::size_t>(continued(y, height_, border_)) * width_ +
                 continued(x, width_, border_)]);
  }

 private:
  std::vector<float> samples_;
  int width_ = 0, height_ = 0;
  Border border_ = Border::mirror;
};

}  // namespace lull::nlm::reference
