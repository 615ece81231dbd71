#pragma once
// Pictures for the HTML pages: a part of the frame before and after denoising, and the difference.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/frame.h"
#include "tools/html/page.h"
#include "tools/pages/cuts.h"

namespace lull::tools {

/// A rectangle of a frame, in samples of the first plane. Its top-left corner is at a sample of
/// every plane.
struct Part {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Returns the central part of a frame. The page displays this part at one sample per pixel.
[[nodiscard]] Part middle_of(const FrameFormat& format);
/// Returns a part of a frame. The result shares the samples of the frame.
[[nodiscard]] Frame part_of(const Frame& frame, const Part& part);

/// Returns a copy of a part of a result. Outside the mask, where results are arbitrary, the copy
/// contains the noisy samples.
[[nodiscard]] Frame within_mask(const Frame& noisy, const Frame& result, const Part& part);

/// Returns the gain of difference pictures: the highest power of two, from 1 to 32, that does not
/// clip differences of up to three times the noise level `sigma`.
[[nodiscard]] int amplification(float sigma);

/// 8-bit pictures, grey or R G B, for one comparison.
struct ComparisonPictures {
  Frame before, after, difference;
};
/// `difference` is mid-grey plus the amplified difference (before - after).
[[nodiscard]] ComparisonPictures compare_pictures(const Frame& before, const Frame& after,
                                                  int factor);
/// Returns the pictures of one cross-section of a volume.
/// @param cut  the cross-section: 0 is perpendicular to z, 1 to y, and 2 to x
[[nodiscard]] ComparisonPictures compare_pictures(const CutGeometry& geometry,
                                                  const VolumeCuts& before, const VolumeCuts& after,
                                                  int cut, int factor);

/// Returns HTML with overlapping pictures and a slider. `names` are the names of the pictures:
/// before, after, difference.
[[nodiscard]] std::string slider_of(const ComparisonPictures& pictures,
                                    const std::array<std::string, 3>& names,
                                    const std::string& caption);

}  // namespace lull::tools
