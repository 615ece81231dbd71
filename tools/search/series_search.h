#pragma once
// Determines the noise of the volumes of a series, and the signal components of the series.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/media.h"
#include "series/filter/volume_levels.h"
#include "series/fit.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/volumes/series_store.h"

namespace lull::tools {

/// The samples of a series in memory, with its decomposition.
struct FittedSeries {
  SeriesStore store;
  series::Fit fit;
  series::FitOptions options;  // options with which the fit was made
  /// True for a series with phases (--phase). The first half of the volumes then contains the real
  /// parts, and the second half the imaginary parts.
  bool is_complex = false;
};

/// Collects the slices of a series, for the noise level of each volume and for the decomposition.
class SeriesCollector {
 public:
  /// The collector stores the samples only if the input may be denoised as a series
  /// (may_be_series()).
  SeriesCollector(const DenoiseOptions& options, const io::MediaSource& source);

  /// Adds a slice. The caller must add the slices in order.
  void add(const Frame& slice);

  /// Completes the noise of the input with the noise level of each volume, and decomposes the
  /// series if it is denoised as one. May be called only once.
  /// @param scene  the noise of all volumes together
  /// @param given  true: the noise is given and does not change; false: the noise is estimated, and
  ///     the decomposition may correct it
  void complete(SceneNoise& scene, bool given);

 private:
  series::SeriesNoise given_noise(const SceneNoise& scene) const;
  /// Reads the phases, and replaces the magnitudes in the store by real and imaginary parts.
  void read_phases();
  /// Adds the real and imaginary parts, divided by part_scale, to `levels_` (the noise levels of
  /// the volumes), and estimates their common noise. Returns nothing if too few voxels are usable.
  std::optional<VolumeEstimate> add_parts();
  std::optional<series::SeriesNoise> noise_of_parts(SceneNoise& scene, bool given);
  std::vector<std::uint8_t> mask() const;

  const DenoiseOptions& options_;
  const io::MediaSource& source_;
  bool is_complex_;
  std::optional<SeriesStore> store_;
  series::VolumeLevels levels_;
};

/// Reads the input again and decomposes it, if it is denoised as a series and not decomposed yet.
/// The noise of `scene` must be given.
/// @throws any error of reading
void decompose_series(const DenoiseOptions& options, const io::MediaSource& source,
                      SceneNoise& scene);

/// Returns the folder of a file, for temporary files; empty if `file` is not the name of a file.
[[nodiscard]] std::string folder_of(const std::string& file);

}  // namespace lull::tools
