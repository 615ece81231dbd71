#pragma once
// Finds samples that differ strongly from their surroundings, and distinguishes impulses from
// details of the picture.

#include <cstdint>
#include <vector>

#include "core/image.h"

namespace lull::repair {

/// A sample that differs strongly from the median of its surroundings, which are the 24 other
/// samples of a 5x5 window.
struct Outlier {
  int x = 0, y = 0;
  float value = 0;
  float peak = 0;  // difference from the median of the surroundings
  /// Mean difference of the four direct neighbours from the median of the surroundings, relative to
  /// `peak`. Stars have a value above 0.
  float wing = 0;
};

struct OutlierField {
  int width = 0, height = 0;
  std::vector<Outlier> isolated;  // isolated outliers, row by row
  /// Outliers with a similar neighbour: parts of lines, letters or larger points.
  std::vector<Outlier> connected;
  /// Share of the samples of the plane whose surroundings are so smooth that find_outliers() would
  /// detect an outlier of typical height there. The typical height is the median of |Outlier::peak|
  /// over the outliers in `isolated`.
  double smooth_share = 0;

  /// Returns the density of isolated outliers in smooth surroundings.
  double density() const {
    const double samples = smooth_share * width * height;
    return samples > 0 ? static_cast<double>(isolated.size()) / samples : 0;
  }
};

/// Finds outliers: samples whose difference from the median of the 24 surrounding samples is at
/// least `min_peak`, and at least a multiple of the spread of these 24 samples.
[[nodiscard]] OutlierField find_outliers(PlaneView<const float> plane, float min_peak);

/// Returns whether the isolated outliers are certainly impulses: they are numerous, each is a
/// single sharp sample, and their positions are random (a Poisson process).
[[nodiscard]] bool are_impulses(const OutlierField& field);

/// Returns whether nearly all isolated outliers are bright on a dark ground, such as hot pixels,
/// drawn stars and distant lamps.
[[nodiscard]] bool may_be_lights(const OutlierField& field);

/// Returns whether the positions of the isolated outliers are not random: many pairs of outliers
/// have the same displacement, or many outliers are in one row, one column or a small part of the
/// plane.
[[nodiscard]] bool are_ordered(const OutlierField& field);

}  // namespace lull::repair
