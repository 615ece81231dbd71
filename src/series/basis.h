#pragma once
// The signal components of a series, from a principal component analysis with the volumes as
// variables and the voxels as observations.

#include <vector>

namespace lull::series {

class Basis {
 public:
  Basis() = default;
  /// @param volumes  the volumes that the components combine
  /// @param means  mean of each volume after variance stabilisation
  /// @param vectors  orthonormal directions, one row of volumes.size() numbers for each component;
  ///     the constructor ignores further rows
  Basis(std::vector<int> volumes, std::vector<double> means, const std::vector<double>& vectors,
        int components);

  const std::vector<int>& volumes() const { return volumes_; }
  int size() const { return static_cast<int>(volumes_.size()); }
  int components() const { return components_; }
  double mean(int i) const { return means_[i]; }
  /// Returns the coefficients of component `k`, one for each volume.
  const double* direction(int k) const {
    return rows_.data() + static_cast<std::size_t>(k) * size();
  }
  /// Returns the leverage of volume `i`, 0..1: the share of its white noise variance that the
  /// components contain.
  double leverage(int i) const;
  /// Returns whether volume `i` is a component of its own.
  bool is_separate(int i) const;

  /// Computes the components of a voxel from its variance-stabilised samples.
  void project(const double* samples, double* components) const;
  /// Computes the variance-stabilised samples of a voxel from its components.
  void reconstruct(const double* components, double* samples) const;

 private:
  std::vector<int> volumes_;
  std::vector<double> means_;
  int components_ = 0;
  // The matrix of the basis vectors, stored in row-major order for project() and in column-major
  // order for reconstruct().
  std::vector<double> rows_, columns_;
};

}  // namespace lull::series
