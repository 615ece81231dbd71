#pragma once
// Implements --repair: determines which defects of an input are repaired.

#include <span>
#include <vector>

#include "io/media.h"
#include "noise/estimate/estimate.h"
#include "tools/options/denoise_options.h"
#include "tools/repair/repair_plan.h"

namespace lull::tools {

/// Returns whether lull searches for defects. --repair auto searches in pictures and clips, but not
/// in volumes, depth maps and renders, which have no sensor defects.
[[nodiscard]] bool searches_defects(const DenoiseOptions& options, const io::VideoInfo& input);

/// Returns the defects of `source` that are repaired: those in the file that --repair names, or
/// else those that are certainly present in the excerpts of complete frames.
/// @throws any error of read_defects()
[[nodiscard]] RepairPlan choose_repair(const DenoiseOptions& options, const io::MediaSource& source,
                                       std::span<const Excerpt> excerpts);

/// Reads a file of defects for frames like those of `source`: a text with lines "x y" or "x y FIRST
/// LAST", or a picture in which defective samples are not 0.
/// @throws NoInput  the file cannot be read
/// @throws BadData  a line is not valid, a position lies outside of the frame, the picture has
///     another size, or more than a tenth of the frame is defective
[[nodiscard]] RepairPlan read_defects(const std::string& path, const DenoiseOptions& options,
                                      const FrameFormat& format);

/// Repairs the frames in the list. Frame::slice must be the index of the frame in the input, or -1
/// if it is unknown.
void repair_all(FrameRepairer& repairer, std::vector<Frame>& frames);

}  // namespace lull::tools
