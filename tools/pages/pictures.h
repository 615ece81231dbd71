#pragma once
// Pictures for the HTML pages: a part of the frame before denoising, the same part after denoising,
// and the difference.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/frame.h"
#include "tools/html/page.h"
#include "tools/pages/cuts.h"

namespace lull::tools {

/// A rectangle of a frame, in samples of the first plane. Its top left corner coincides with a
/// sample of every plane.
struct Part {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Returns the centre part of a frame that a page displays at one sample per pixel.
[[nodiscard]] Part middle_of(const FrameFormat& format);
/// Returns a part of a frame. The result shares the samples of the frame.
[[nodiscard]] Frame part_of(const Frame& frame, const Part& part);

/// Returns a copy of a part of a result, with the samples of the noisy frame outside the mask,
/// because a result may contain arbitrary values there.
[[nodiscard]] Frame within_mask(const Frame& noisy, const Frame& result, const Part& part);

/// Returns a factor by which pages multiply differences. A difference of three times the noise
/// level `sigma` is still displayable after the multiplication.
[[nodiscard]] int amplification(float sigma);

/// Pictures of 8 bits, grey or R G B, for one comparison.
struct ComparisonPictures {
  Frame before, after, difference;
};
/// Returns the pictures for a comparison. `difference` is before - after, amplified and added to
/// mid-grey.
[[nodiscard]] ComparisonPictures compare_pictures(const Frame& before, const Frame& after,
                                                  int factor);
/// Returns the pictures of one cross-section, 0, 1 or 2: perpendicular to z, y or x.
[[nodiscard]] ComparisonPictures compare_pictures(const CutGeometry& geometry,
                                                  const VolumeCuts& before, const VolumeCuts& after,
                                                  int cut, int factor);

/// Returns HTML with the pictures on top of each other and a slider that uncovers them. `names`
/// contains the names of the pictures before and after denoising and of the difference.
[[nodiscard]] std::string slider_of(const ComparisonPictures& pictures,
                                    const std::array<std::string, 3>& names,
                                    const std::string& caption);

}  // namespace lull::tools
