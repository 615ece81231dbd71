#pragma once
// The stages of the reference backend of BM4D, in double precision, after Maggioni et al. 2013,
// section II. Tests compare other backends with these stages.

#include <array>
#include <map>
#include <span>
#include <vector>

#include "bm4d/cubes.h"
#include "bm4d/params.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d::reference {

/// A volume that stores only some of its slices, not necessarily consecutive.
class Slices {
 public:
  Slices(int width, int height) : width_(width), height_(height) {}
  int width() const { return width_; }
  int height() const { return height_; }
  /// Returns a voxel of slice `z`. Creates a missing slice, filled with zeros.
  double& at(int x, int y, int z) {
    std::vector<double>& slice = slices_[z];
    if (slice.empty()) slice.resize(static_cast<std::size_t>(width_) * height_);
    return slice[static_cast<std::size_t>(y) * width_ + x];
  }
  double at(int x, int y, int z) const {
    return slices_.at(z)[static_cast<std::size_t>(y) * width_ + x];
  }
  void clear() { slices_.clear(); }
  void forget_before(int z) { slices_.erase(slices_.begin(), slices_.lower_bound(z)); }

 private:
  int width_, height_;
  std::map<int, std::vector<double>> slices_;
};

struct Place {
  int x = 0, y = 0, z = 0;  // first voxel of a cube
};

/// Returns the group of the reference cube with the first voxel `at` (cubes.h). Candidates are in
/// the slices `available`.
[[nodiscard]] Group find_group(const Slices& guide, SliceSpan available, const Place& at,
                               const PhaseParams& params);
/// Returns the group of the best candidates. The candidates must be distinct and inside the volume.
[[nodiscard]] Group rank_group(const Slices& guide, const Place& at, const PhaseParams& params,
                               std::span<const std::uint32_t> candidates);

/// Voxels or coefficients of a cube, `side` along each axis. x varies fastest, then y, then z.
using Cube = std::array<double, max_cube * max_cube * max_cube>;
/// The cubes of a group, in the order of its members.
using GroupStack = std::vector<Cube>;

[[nodiscard]] GroupStack gather(const Slices& volume, const Place& at, const Group& group,
                                int side);

/// Hard thresholding of `stack`, in place (equation 7 of Maggioni et al. 2013). The threshold is
/// `threshold`, and threshold * mean_factor for the mean over the group (Haar coefficient 0).
/// Returns the weight of the group: 1 / (number of retained coefficients).
double hard_threshold(GroupStack& stack, int side, double threshold, double mean_factor);

/// Wiener filter of `stack`, in place (equation 10 of Maggioni et al. 2013). The noise power is
/// `noise` (mu2 * sigma^2), and noise * mean_factor for the mean over the group. Returns the weight
/// of the group: 1 / (sum of the squared Wiener factors).
double wiener(GroupStack& stack, GroupStack basic, int side, double noise, double mean_factor);

}  // namespace lull::bm4d::reference
