#pragma once
// Finds samples that differ strongly from their surroundings, and determines whether these samples
// are impulses or a part of the picture.

#include <cstdint>
#include <vector>

#include "core/image.h"

namespace lull::repair {

/// A sample that differs strongly from its surroundings. No neighbour has a similar difference.
struct Outlier {
  int x = 0, y = 0;
  float value = 0;
  float peak = 0;  // difference from the median of the surroundings
  /// Mean difference of the four direct neighbours from the median of the surroundings, divided by
  /// `peak`. The value is clearly above 0 for stars, because optics spread a point of light.
  float wing = 0;
};

struct OutlierField {
  int width = 0, height = 0;
  std::vector<Outlier> isolated;  // isolated outliers, row by row
  /// Samples that differ as strongly as isolated outliers, but have a neighbour with a similar
  /// difference. Such samples are parts of lines, letters or larger points.
  std::vector<Outlier> connected;
  /// Share of the plane with smooth surroundings. In smooth surroundings, the search detects an
  /// outlier with the median peak of the isolated outliers.
  double smooth_share = 0;

  /// Returns the density of isolated outliers in smooth surroundings.
  double density() const {
    const double samples = smooth_share * width * height;
    return samples > 0 ? static_cast<double>(isolated.size()) / samples : 0;
  }
};

/// Finds samples that differ strongly from the median of the 24 surrounding samples. The difference
/// must be at least `min_peak` and at least a multiple of the spread of these samples.
[[nodiscard]] OutlierField find_outliers(PlaneView<const float> plane, float min_peak);

/// Returns whether the isolated outliers are certainly impulses of a sensor or a transmission.
/// Impulses are numerous single samples with sharp borders, at positions of a Poisson process.
/// Letters, lines and patterns contain connected outliers, have a spatial order, or lie in a small
/// part of the picture.
[[nodiscard]] bool are_impulses(const OutlierField& field);

/// Returns whether nearly all isolated outliers are bright samples on a dark ground. Hot pixels,
/// drawn stars and distant lamps are such outliers.
[[nodiscard]] bool may_be_lights(const OutlierField& field);

/// Returns whether the isolated outliers have a spatial order, in contrast to impulses. Outliers
/// have an order if a displacement is frequent. Outliers also have an order if many of them are in
/// one row, in one column or in a small part of the plane.
[[nodiscard]] bool are_ordered(const OutlierField& field);

}  // namespace lull::repair
