#pragma once
// Impulses (salt and pepper): single samples with values that have nothing to do with the picture,
// at other positions in every frame.

#include <array>
#include <optional>
#include <span>

#include "core/image.h"
#include "repair/interpolate.h"
#include "repair/outliers.h"

namespace lull::repair {

/// The impulses of one sign: salt is brighter than the picture, pepper darker.
struct ImpulseKind {
  bool exists = false;
  /// Whether the impulses have a common value.
  bool has_value = false;
  float value = 0, tolerance = 0;  // on the 0..255 scale
  bool operator==(const ImpulseKind&) const = default;
};

struct ImpulseModel {
  float density = 0;  // share of the samples
  float noise = 0;    // standard deviation of the noise between the impulses
  ImpulseKind pepper, salt;
  bool operator==(const ImpulseModel&) const = default;
};

/// Returns the impulses of frames with these outliers; nothing if it is not certain that the
/// outliers are impulses. Frames follow each other where `follows_previous` is set: impulses do not
/// move on from frame to frame as sparks and snow do.
/// @param level  difference of two successive sample values on the 0..255 scale
struct ExaminedFrame {
  OutlierField outliers;
  float noise = 0;
  bool follows_previous = false;
};
[[nodiscard]] std::optional<ImpulseModel> model_impulses(std::span<const ExaminedFrame> frames,
                                                         float level);

/// Marks the impulses of a frame.
void mark_impulses(const ImpulseModel& model, PlaneView<const float> plane, DefectMask& mask);

}  // namespace lull::repair
