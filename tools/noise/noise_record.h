#pragma once
// Noise files, which store the noise of a camera for use with all its clips.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/frame.h"
#include "io/access.h"
#include "noise/estimate/estimate.h"
#include "noise/volume/estimate_volume.h"

namespace lull::tools {

/// The noise of the volumes of a series.
struct SeriesEstimate {
  /// Number of principal components with signal, or 0 if the session filters each volume
  /// separately.
  int components = 0;
  std::vector<float> levels;  // noise level of each volume on the 0..255 scale; 0: no noise
};

/// Photon noise of a scene, in the units of the file.
struct ScenePhotons {
  PhotonNoise noise;
  double dark = 0, bright = 0;  // standard deviation in dark and in bright areas; 0: unknown
};

struct FittedSeries;  // tools/search/series_search.h

/// The noise of one scene. A clip has several scenes if its noise changes over time.
struct SceneNoise {
  std::string name;   // part of a stack ("channel 2"); empty: the scene has no name
  double from_s = 0;  // begin, on the scale of Frame::pts; the first scene begins with the clip
  /// Size of one level of the 0..255 scale, in the units of the file, if the range of a channel's
  /// samples determines this scale. Otherwise 0, and NoiseRecord::unit applies.
  double unit = 0;
  NoiseEstimate estimate;
  /// True if lull estimated the noise from differences between frames. Otherwise, lull does not
  /// compare the noise level with the noise of later frames.
  bool over_time = false;
  /// The noise of frames at half size. Set only for coarse noise, for which lull filters at half
  /// size in addition to full size.
  std::optional<NoiseEstimate> half;
  /// The kind and the spatial variation of the noise of a volume. `estimate` contains only the
  /// noise level.
  std::optional<VolumeEstimate> volume;
  /// Photon noise of a stack. Photon noise increases with brightness, but `estimate` contains only
  /// a constant noise level.
  std::optional<ScenePhotons> photons;
  /// Noise of a series. Set only if lull decomposes the series into components, or if the noise
  /// level differs between volumes.
  std::optional<SeriesEstimate> series;
  /// The decomposition of a series into components, or null if lull has not decomposed the series.
  /// Noise files do not contain the decomposition.
  std::shared_ptr<FittedSeries> fitted;
  bool is_examined_as_series = false;  // true: `fitted` is final
};

/// The noise of an input: at least one scene, in order of time.
struct NoiseRecord {
  Layout layout = Layout::gray;  // layout of the frames that the noise was estimated from
  /// Size of one level of the 0..255 scale in the units of the file. 0 if the samples have no unit,
  /// or if each scene has its own unit (SceneNoise::unit).
  double unit = 0;
  std::vector<SceneNoise> scenes;
};

/// Appends a scene. If the new scene does not begin later than the last scene, the new scene
/// replaces the last scene.
void add_scene(std::vector<SceneNoise>& scenes, const SceneNoise& scene);

/// Returns the record as a JSON object. Equal records give equal strings.
[[nodiscard]] std::string to_json(const NoiseRecord& record);
/// @param name  origin of the text, for error messages
/// @throws BadData  the text is not a noise record
[[nodiscard]] NoiseRecord parse_noise(const std::string& text, const std::string& name);

/// Reads a noise file.
/// @throws NoInput, BadData
[[nodiscard]] NoiseRecord read_noise(const std::string& path);
/// Writes a noise file under a temporary name and renames the file.
/// @throws CannotCreate  the file exists (without `overwrite`), or lull cannot create it
/// @throws IoError  lull cannot write the file
void write_noise(const std::string& path, const NoiseRecord& record, bool overwrite,
                 const io::Access& access = {});

}  // namespace lull::tools
