#pragma once
// Finds impulses (salt-and-pepper noise): isolated samples with values independent of the picture,
// at random positions in each frame.

#include <array>
#include <optional>
#include <span>

#include "core/image.h"
#include "repair/interpolate.h"
#include "repair/outliers.h"

namespace lull::repair {

/// The impulses of one sign: salt is brighter than the picture, pepper is darker.
struct ImpulseKind {
  bool exists = false;
  /// True if all impulses have nearly the same value.
  bool has_value = false;
  float value = 0, tolerance = 0;  // on the 0..255 scale
  bool operator==(const ImpulseKind&) const = default;
};

struct ImpulseModel {
  float density = 0;  // share of the samples that are impulses
  float noise = 0;    // standard deviation of the noise between the impulses
  ImpulseKind pepper, salt;
  bool operator==(const ImpulseModel&) const = default;
};

/// The outliers and the noise of a frame. If `follows_previous` is true, the previous element of
/// the list of examined frames is the frame directly before this frame in the clip.
struct ExaminedFrame {
  OutlierField outliers;
  float noise = 0;
  bool follows_previous = false;
};
/// Returns the properties of the impulses, or std::nullopt if it is uncertain whether the outliers
/// are impulses. Impulses have independent positions in successive frames.
/// @param level  quantisation step of the samples on the 0..255 scale
[[nodiscard]] std::optional<ImpulseModel> model_impulses(std::span<const ExaminedFrame> frames,
                                                         float level);

/// Marks the impulses of a frame.
void mark_impulses(const ImpulseModel& model, PlaneView<const float> plane, DefectMask& mask);

}  // namespace lull::repair
