#pragma once
// Adds the signal in the residuals to the filtered components.

// A filter shrinks structures, so the residual of a component (its noisy values minus its filtered
// values) contains some of the anatomy. The least squares fit of a residual by the strongest
// components has few parameters and thousands of observations, so the fit contains much signal and
// hardly any noise.

#include <vector>

#include "series/samples/samples.h"

namespace lull::series {

/// Fits the residual of each component k by a constant and by the strong components up to and
/// including k, in the voxels of the imaged object. A strong component is one of the first four
/// components, and its variance is at least 10 times the noise variance. Only one thread at a time
/// may use a ResidualFit.
class ResidualFit {
 public:
  /// @param components  the components, with noise of variance 1. The caller replaces the noisy
  ///     values of a slice by the filtered values after the call of add() for the slice, and before
  ///     the call of finish() for the component.
  /// @param object  the voxels of the imaged object, one flag per voxel; must outlive the
  ///     ResidualFit
  ResidualFit(const Samples& components, const std::vector<bool>& object)
      : components_(components), object_(object) {}

  /// Adds the residuals of slice `z` of component `k` to the sums. The caller must pass the
  /// components in order, and the slices of each component in order.
  /// @param filtered  the filtered values of the slice
  void add(int k, int z, const float* filtered);
  /// Adds the fitted residual to the filtered component `k`. With fewer than 500 voxels in the
  /// object, the component does not change.
  void finish(int k);

 private:
  void start(int k);
  bool is_object(std::size_t voxel) const { return !object_.empty() && object_[voxel]; }

  Samples components_;
  const std::vector<bool>& object_;
  std::vector<int> strong_;  // indices of the strong components before the current component
  // Sums for the fit of the current component. Regressor 0 of the fit is the constant 1, and the
  // other regressors are the components with the indices `regressors_`.
  std::vector<int> regressors_;
  std::vector<double> products_, residuals_;  // sums of products of regressors; with the residual
};

}  // namespace lull::series
