#pragma once
// Finds and repairs defects of sensors and transmissions in the frames of a clip.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/frame.h"
#include "repair/impulses.h"
#include "repair/lines.h"

namespace lull::repair {

/// A sample that is defective in the frames `first` to `last`.
struct DefectiveSample {
  int x = 0, y = 0;
  std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
  bool operator==(const DefectiveSample&) const = default;
};

struct PlaneDefects {
  float noise = 0;                       // standard deviation of the noise on the 0..255 scale
  std::vector<DefectiveSample> samples;  // the defective samples, in any order
  std::optional<ImpulseModel> impulses;
  std::optional<LineModel> rows, columns;

  bool none() const { return samples.empty() && !impulses && !rows && !columns; }
  bool operator==(const PlaneDefects&) const = default;
};

/// The defects of a clip, or of all its fields of one parity. The list covers the complete clip, so
/// lull can repair parts of the clip separately.
struct ClipDefects {
  std::array<PlaneDefects, 3> planes;

  bool none() const { return planes[0].none() && planes[1].none() && planes[2].none(); }
  bool operator==(const ClipDefects&) const = default;
};

/// Finds the defects of each plane. The result omits uncertain defects. Each excerpt consists of
/// consecutive frames. All frames must have the same format and be in host memory.
[[nodiscard]] ClipDefects find_defects(std::span<const std::vector<Frame>> excerpts);

/// Repairs the samples of `frame` in place. No other thread may read these samples during the call.
/// @param number  index of the frame in its clip; below 0: the index is unknown, and all samples in
///     the list count as defective
/// @return the number of replaced samples
std::int64_t repair_in_place(const ClipDefects& defects, std::int64_t number, const Frame& frame);

}  // namespace lull::repair
