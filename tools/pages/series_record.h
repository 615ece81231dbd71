#pragma once
// Statistics of a series at the voxels of three cross-sections, for the page of --report.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/frame.h"
#include "core/plane.h"
#include "series/fit.h"
#include "tools/pages/pictures.h"

namespace lull::tools {

/// Sums over all volumes for the voxels of three cross-sections.
class CutSums {
 public:
  explicit CutSums(const CutGeometry& geometry);
  /// Adds the samples of a volume, multiplied by `factor`, to the sums. Samples that are NaN do not
  /// count.
  void add(const VolumeCuts& volume, float factor);
  /// Adds the differences a - b, multiplied by `factor`, to the sums. Differences that are NaN do
  /// not count.
  void add_difference(const VolumeCuts& a, const VolumeCuts& b, float factor);

  int voxels() const { return static_cast<int>(sums_.size()); }
  double mean(int voxel) const { return sums_[voxel].sum / sums_[voxel].count; }
  double mean_square(int voxel) const { return sums_[voxel].squares / sums_[voxel].count; }
  /// Returns the unbiased variance over the volumes, or NaN for fewer than two volumes.
  double variance(int voxel) const;

 private:
  struct Sum {
    double sum = 0, squares = 0, count = 0;
  };
  void add(const VolumeCuts& a, const VolumeCuts* b, float factor);

  std::vector<Sum> sums_;  // the cross-sections perpendicular to z, y and x, row by row
};

class SeriesRecord {
 public:
  struct Facts {
    series::SeriesNoise noise;
    series::Spectrum spectrum;
    std::vector<double> eigenvalues;
    int volumes = 0, combined = 0, filtered = 0;  // `filtered`: number of filtered components
    std::vector<int> unweighted;                  // volumes with b = 0; empty if unknown
    double unit = 0;  // size of a level in the units of the file; 0: 8-bit levels
  };

  SeriesRecord(Facts facts, const CutGeometry& geometry, int slices);

  /// Adds the next slice. Frame::pts is the index of the slice in the series. The object ignores
  /// volumes with missing slices.
  void add(const Frame& noisy, const Frame& result);
  /// Returns the section as HTML, available after the end of the run.
  [[nodiscard]] std::string section() const;

 private:
  void complete_volume(int volume);
  [[nodiscard]] std::vector<int> object() const;
  [[nodiscard]] std::string facts_html() const;
  [[nodiscard]] std::string residual_html() const;
  [[nodiscard]] std::string map_html() const;
  [[nodiscard]] VolumeCuts anatomy() const;
  [[nodiscard]] std::string repeats_html() const;

  Facts facts_;
  CutGeometry geometry_;
  int slices_;
  int added_ = 0;  // number of slices of the current volume that were added
  VolumeCuts before_, after_;
  CutSums noisy_, removed_;                   // over all volumes with noise
  CutSums repeats_before_, repeats_after_;    // over the volumes with b = 0
  std::vector<ComparisonPictures> repeated_;  // pictures of the first volumes with b = 0
  int factor_;                                // amplification of differences
};

}  // namespace lull::tools
