#pragma once
// What a page shows of frames: parts of them, before, after, and what was taken away.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/frame.h"
#include "tools/html/page.h"
#include "tools/pages/cuts.h"

namespace lull::tools {

/// A rectangle of a frame's first plane; it begins where samples of all planes do.
struct Part {
  int x = 0, y = 0, width = 0, height = 0;
};

/// The middle of a frame, as much of it as a page shows at a sample for each pixel.
[[nodiscard]] Part middle_of(const FrameFormat& format);
/// That part of a frame, sharing its samples.
[[nodiscard]] Frame part_of(const Frame& frame, const Part& part);

/// By how much a difference is amplified, so that three times this level stays within the scale.
[[nodiscard]] int amplification(float sigma);

/// Of 8 bits, grey or R G B.
struct ComparisonPictures {
  Frame before, after, difference;
};
/// `difference`: before - after, amplified, around mid-grey.
[[nodiscard]] ComparisonPictures compare_pictures(const Frame& before, const Frame& after, int factor);
/// The same of the cut across z, y or x (0, 1, 2).
[[nodiscard]] ComparisonPictures compare_pictures(const CutGeometry& geometry, const VolumeCuts& before,
                          const VolumeCuts& after, int cut, int factor);

/// In the order of `names`, which are those of before, after and difference.
[[nodiscard]] std::string slider_of(const ComparisonPictures& pictures, const std::array<std::string, 3>& names,
                                    const std::string& caption);

}  // namespace lull::tools
