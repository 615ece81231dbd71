#pragma once
// Finds and removes brightness offsets of rows or columns (lines). The amplifiers of a sensor cause
// such offsets. An offset is equal for all samples of a line and independent of the offsets of
// other lines.

#include <optional>
#include <span>
#include <vector>

#include "core/image.h"

namespace lull::repair {

enum class LineAxis { rows, columns };

/// Whittaker-Henderson smoothing: the smooth profile s minimises |p - s|^2 + lambda |D^order s|^2,
/// where p is the profile and D takes the differences of successive values.
struct Smoothing {
  int order = 1;     // order of the differences, 1 to 3
  float lambda = 0;  // not negative
  bool operator==(const Smoothing&) const = default;
};
[[nodiscard]] std::vector<float> smoothed(std::span<const float> profile, Smoothing smoothing);

struct LineModel {
  float deviation = 0;  // standard deviation of the offsets, on the 0..255 scale
  /// Contribution of the picture to the mean of each line; empty if the contribution is unknown.
  /// The contribution comes from the mean of all frames.
  std::vector<float> reference;
  /// The smoothing that separates the offsets of a frame from the rest of the picture.
  Smoothing smoothing;
  bool operator==(const LineModel&) const = default;
};

/// Properties of one frame. These properties determine whether the lines of the frame have offsets.
struct LineProfile {
  std::vector<float> mean;   // mean of each line; empty if the lines certainly have no offsets
  float deviation = 0;       // standard deviation of offsets that are independent from line to line
  bool has_offsets = false;  // whether the lines certainly have offsets
};
/// Examines the lines of a plane along one axis.
/// @param noise  standard deviation of the noise of the plane
[[nodiscard]] LineProfile examine_lines(PlaneView<const float> plane, LineAxis axis, float noise);

/// Returns the model of the brightness offsets in a clip, or no value if it is uncertain whether
/// the lines have offsets.
[[nodiscard]] std::optional<LineModel> model_lines(std::span<const LineProfile> frames);

/// Subtracts the brightness offsets from the lines of a frame.
void remove_offsets(const LineModel& model, LineAxis axis, PlaneView<float> plane);

}  // namespace lull::repair
