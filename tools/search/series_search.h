#pragma once
// The noise of the volumes of a series, and the signal components of the series.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/media.h"
#include "series/filter/middle_slices.h"
#include "series/filter/volume_levels.h"
#include "series/fit.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/volumes/series_store.h"

namespace lull::tools {

/// The samples of a series in memory, and the decomposition of the series.
struct FittedSeries {
  SeriesStore store;
  series::Fit fit;
  series::FitOptions options;  // options with which the fit was made
  /// True for a series with phases (--phase): the first half of the volumes are the real parts, and
  /// the second half are the imaginary parts.
  bool is_complex = false;
};

/// Collects the slices of a series, for the noise level of each volume and the decomposition.
class SeriesCollector {
 public:
  /// The collector stores the samples only if the options and the input allow a series
  /// (may_be_series()).
  SeriesCollector(const DenoiseOptions& options, const io::MediaSource& source);

  /// Adds the next slice, in order.
  void add(const Frame& slice);

  /// Adds the noise level of each volume to `scene`, and decomposes the series if required. The
  /// caller may call this function only once.
  /// @param scene  the noise of all volumes together
  /// @param given  true: the noise of `scene` does not change; false: the decomposition may correct
  ///     it
  void complete(SceneNoise& scene, bool given);

 private:
  series::SeriesNoise given_noise(const SceneNoise& scene) const;
  /// Reads the phases, and replaces the stored magnitudes by real and imaginary parts.
  void read_phases();
  /// Measures the noise of the real and imaginary parts after a division by `part_scale`. Stores
  /// the level of each volume in `levels_`. Returns the common noise of all volumes, or no value
  /// for too few voxels.
  std::optional<VolumeEstimate> add_parts();
  std::optional<series::SeriesNoise> noise_of_parts(SceneNoise& scene, bool given);
  std::vector<std::uint8_t> mask() const;

  const DenoiseOptions& options_;
  const io::MediaSource& source_;
  bool is_complex_;
  std::optional<SeriesStore> store_;
  std::optional<series::MiddleSlices> middle_;  // for volumes that lull filters separately
  series::VolumeLevels levels_;
};

/// Reads the input a second time and decomposes the series, if the input is a series and `scene`
/// contains no decomposition. `scene` must contain the noise.
/// @throws any error of reading
void decompose_series(const DenoiseOptions& options, const io::MediaSource& source,
                      SceneNoise& scene);

/// Returns the folder of a file, for temporary files, or an empty string if `file` does not name a
/// file.
[[nodiscard]] std::string folder_of(const std::string& file);

}  // namespace lull::tools
