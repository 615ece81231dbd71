#pragma once
// Converts the clip limits of noise to text, for the plan of a job and for messages.

#include <string>

#include "noise/estimate/clipped_noise.h"

namespace lull::tools {

/// Returns the clip limits as "LOW:HIGH:LEVEL" for each plane, separated by commas, for example
/// "0:255:40,-:-:-,-:-:-". The character "-" stands for a missing value.
[[nodiscard]] std::string to_text(const PlaneClipping& clipping);

/// Parses a text that to_text() has written.
/// @param name  name of the file that contains the text, for error messages
/// @throws BadData
[[nodiscard]] PlaneClipping parse_clipping(const std::string& text, const std::string& name);

/// Returns a description of the clipping for messages, such as "at 0 and 255 by noise of 40". Clip
/// limits and noise levels are on the 0..255 scale. The text is empty if the samples have no clip
/// limits.
[[nodiscard]] std::string describe(const PlaneClipping& clipping, Layout layout);

}  // namespace lull::tools
