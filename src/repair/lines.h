#pragma once
// Finds and removes brightness offsets of lines (rows or columns), which sensor amplifiers cause.
// An offset is constant along a line.

#include <optional>
#include <span>
#include <vector>

#include "core/image.h"

namespace lull::repair {

enum class LineAxis { rows, columns };

/// Whittaker-Henderson smoothing: the smooth profile s of a profile p minimises |p - s|^2 + lambda
/// * |D^order s|^2, with differences D of successive values.
struct Smoothing {
  int order = 1;     // order of the differences, 1 to 3
  float lambda = 0;  // not negative
  bool operator==(const Smoothing&) const = default;
};
[[nodiscard]] std::vector<float> smoothed(std::span<const float> profile, Smoothing smoothing);

struct LineModel {
  float deviation = 0;  // standard deviation of the offsets, on the 0..255 scale
  /// Mean brightness of the scene in each line, without the offset of the line, estimated from all
  /// examined frames. Empty if there is no estimate.
  std::vector<float> reference;
  /// The smoothing that separates line offsets from the picture.
  Smoothing smoothing;
  bool operator==(const LineModel&) const = default;
};

/// Properties of a frame that show whether its lines have offsets.
struct LineProfile {
  std::vector<float> mean;   // mean of each line; empty if the lines certainly have no offsets
  float deviation = 0;       // standard deviation of offsets that are independent from line to line
  bool has_offsets = false;  // whether the lines certainly have offsets
};
/// Examines the lines of a plane along one axis.
/// @param noise  standard deviation of the noise of the plane
[[nodiscard]] LineProfile examine_lines(PlaneView<const float> plane, LineAxis axis, float noise);

/// Returns the model of the line offsets in a clip, or std::nullopt if it is uncertain whether the
/// lines have offsets.
[[nodiscard]] std::optional<LineModel> model_lines(std::span<const LineProfile> frames);

/// Subtracts the brightness offsets from the lines of a frame.
void remove_offsets(const LineModel& model, LineAxis axis, PlaneView<float> plane);

}  // namespace lull::repair
