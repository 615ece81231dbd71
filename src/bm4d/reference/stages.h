#pragma once
// The stages of the reference backend, one by one, so that tests can hold the stages of the other
// backends against them. Everything is double and straight from Maggioni et al. 2013, section II.

#include <array>
#include <map>
#include <span>
#include <vector>

#include "bm4d/cubes.h"
#include "bm4d/params.h"
#include "bm4d/volume_engine.h"

namespace lull::bm4d::reference {

/// Some slices of a volume.
class Slices {
 public:
  Slices(int width, int height) : width_(width), height_(height) {}
  int width() const { return width_; }
  int height() const { return height_; }
  /// A voxel of slice `z`, which is made of zeros if it was not there.
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

/// The group of the reference cube at `at` (cubes.h). Of the slices only `there` exist.
[[nodiscard]] Group find_group(const Slices& guide, SliceSpan there, const Place& at,
                               const PhaseParams& params);
/// The same among these displacements alone, which are cubes of the volume, each there once.
[[nodiscard]] Group rank_group(const Slices& guide, const Place& at, const PhaseParams& params,
                               std::span<const std::uint32_t> candidates);

/// A cube's voxels or coefficients: x fastest, then y, then z, `side` each.
using Cube = std::array<double, max_cube * max_cube * max_cube>;
/// In the order of the group's members.
using GroupStack = std::vector<Cube>;

[[nodiscard]] GroupStack gather(const Slices& volume, const Place& at, const Group& group,
                                int side);

/// Collaborative hard threshold of `stack` in place (equation 7): coefficients of magnitude <=
/// `threshold` become 0; for those of the mean over the group (coefficient 0 of Haar) the limit is
/// `mean_factor` times that. Gives the group's weight, 1 / retained coefficients.
double hard_threshold(GroupStack& stack, int side, double threshold, double mean_factor);

/// Collaborative Wiener filter of `stack` in place (equation 10), with the spectrum of `basic` as
/// that of the signal and `noise` = mu2 sigma^2; for the mean over the group `mean_factor` times
/// that. Gives the group's weight, 1 / the sum of squared factors.
double wiener(GroupStack& stack, GroupStack basic, int side, double noise, double mean_factor);

}  // namespace lull::bm4d::reference
