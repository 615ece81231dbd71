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
  /// True: the volumes are the real parts and then the imaginary parts of the input's volumes
  /// (--phase).
  bool is_complex = false;
};

/// Collects the slices of a series, for the noise level of each volume and for the decomposition.
class SeriesCollector {
 public:
  /// The samples are stored only if the input may be denoised as a series (may_be_series()).
  SeriesCollector(const DenoiseOptions& options, const io::MediaSource& source);

  /// Adds a slice. Slices must be added in order.
  void add(const Frame& slice);

  /// Completes the noise of the input: the level of each volume, and, if the input is denoised as a
  /// series, its decomposition. The function can be called once.
  /// @param scene  the noise of all volumes together
  /// @param given  true: the noise is given, not estimated, and is therefore not corrected
  void complete(SceneNoise& scene, bool given);

 private:
  series::SeriesNoise given_noise(const SceneNoise& scene) const;
  /// Reads the phases, and replaces the magnitudes in the store by real and imaginary parts.
  void read_phases();
  /// Adds the real and imaginary parts to `levels_`, and estimates their common noise. Returns
  /// nothing if there are too few usable voxels. All levels are divided by a factor.
  std::optional<VolumeEstimate> add_parts();
  std::optional<series::SeriesNoise> noise_of_parts(SceneNoise& scene, bool given);
  std::vector<std::uint8_t> mask() const;

  const DenoiseOptions& options_;
  const io::MediaSource& source_;
  bool is_complex_;
  std::optional<SeriesStore> store_;
  series::VolumeLevels levels_;
};

/// If the input is denoised as a series and has not been decomposed yet, reads it again and
/// decomposes it. The noise of `scene` must be given.
/// @throws any error of reading
void decompose_series(const DenoiseOptions& options, const io::MediaSource& source,
                      SceneNoise& scene);

/// Returns the folder of a file name, for temporary files; empty if it is not the name of a file.
[[nodiscard]] std::string folder_of(const std::string& file);

}  // namespace lull::tools
