#pragma once
// The noise of a camera in a file, so that one estimate serves a whole shoot:
// docs/reference/machine-output.md.

#include <optional>
#include <string>
#include <vector>

#include "core/frame.h"
#include "noise/estimate/estimate.h"
#include "noise/volume/estimate_volume.h"

namespace lull::tools {

/// The noise from a time on. A clip has one of these, or several if its noise changes.
struct SceneNoise {
  double from_s = 0;  // of Frame::pts; the first begins with the clip
  NoiseEstimate estimate;
  /// Measured in differences between frames, so that later frames can be held against it.
  bool over_time = false;
  /// The noise in frames of half the size, if it is so coarse that they are filtered too.
  std::optional<NoiseEstimate> half;
  /// Of a volume, what is known beside the level: `estimate` has that alone.
  std::optional<VolumeEstimate> volume;
};

/// What is known of the noise of an input, from its first scene on; never empty.
struct NoiseRecord {
  Layout layout = Layout::gray;  // of the frames that it was found in
  /// What one level of the 0..255 scale is in the file's own units; 0: the file has none.
  double unit = 0;
  std::vector<SceneNoise> scenes;
};

/// A scene behind those that are known. It takes the place of the last one if that has no frame, as
/// it begins no earlier.
void add_scene(std::vector<SceneNoise>& scenes, const SceneNoise& scene);

/// A JSON object; equal records give equal texts.
[[nodiscard]] std::string to_json(const NoiseRecord& record);
/// @param name  of what holds the text, for errors
/// @throws BadData  it is no such object
[[nodiscard]] NoiseRecord parse_noise(const std::string& text, const std::string& name);

/// @throws NoInput, BadData
[[nodiscard]] NoiseRecord read_noise(const std::string& path);
/// Written beside its name and renamed. @throws CannotCreate  it exists (without `overwrite`), or
/// cannot be made; IoError
void write_noise(const std::string& path, const NoiseRecord& record, bool overwrite);

}  // namespace lull::tools
