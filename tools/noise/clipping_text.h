#pragma once
// The clipping of noise as a text: in the plan of a job, and in messages.

#include <string>

#include "noise/estimate/clipped_noise.h"

namespace lull::tools {

/// For each plane "LOW:HIGH:LEVEL", separated by commas, as in "0:255:40,-:-:-,-:-:-". "-" stands
/// for a value that is absent.
[[nodiscard]] std::string to_text(const PlaneClipping& clipping);

/// Reads what to_text() writes.
/// @param name  of the file that holds the text, for errors
/// @throws BadData
[[nodiscard]] PlaneClipping parse_clipping(const std::string& text, const std::string& name);

/// "at 0 and 255 by noise of 40" of grey frames and of luma, "R at 0 by noise of 25, B at 0 and 255
/// by noise of 25" of RGB frames. Empty if nothing is clipped.
[[nodiscard]] std::string describe(const PlaneClipping& clipping, Layout layout);

}  // namespace lull::tools
