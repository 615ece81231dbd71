#pragma once
// The signal components of a series of volumes: principal directions in the space whose axes are
// the volumes.

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
  /// Returns the share of the noise variance of volume `i` that the components contain, 0..1, if
  /// the noise is white.
  double leverage(int i) const;

  /// Computes the components of a voxel from its variance-stabilised samples, one sample for each
  /// volume.
  void project(const double* samples, double* components) const;
  /// Computes the variance-stabilised samples of a voxel from its components.
  void reconstruct(const double* components, double* samples) const;

 private:
  std::vector<int> volumes_;
  std::vector<double> means_;
  int components_ = 0;
  // The directions, stored by component (`rows_`) and by volume (`columns_`). Therefore project()
  // and reconstruct() read consecutive numbers.
  std::vector<double> rows_, columns_;
};

}  // namespace lull::series
