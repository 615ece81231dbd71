#pragma once
// The clipping limits of noise as text, for the plan of a job and for messages.

#include <string>

#include "noise/estimate/clipped_noise.h"

namespace lull::tools {

/// Returns "LOW:HIGH:LEVEL" for each plane, separated by commas, for example
/// "0:255:40,-:-:-,-:-:-". "-" stands for a missing value.
[[nodiscard]] std::string to_text(const PlaneClipping& clipping);

/// Parses the result of to_text().
/// @param name  name of the file that contains the text, for error messages
/// @throws BadData
[[nodiscard]] PlaneClipping parse_clipping(const std::string& text, const std::string& name);

/// Describes the clipping limits and the noise levels in `clipping`, on the 0..255 scale. For
/// example, "at 0 and 255 by noise of 40" means that noise of level 40 is clipped at 0 and 255.
/// Returns an empty string if there are no clipping limits.
[[nodiscard]] std::string describe(const PlaneClipping& clipping, Layout layout);

}  // namespace lull::tools
