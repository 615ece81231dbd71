#pragma once
// Implements --repair: selects the defects that lull repairs.

#include <span>
#include <vector>

#include "io/media.h"
#include "noise/estimate/estimate.h"
#include "tools/options/denoise_options.h"
#include "tools/repair/repair_plan.h"

namespace lull::tools {

/// Returns whether lull searches for sensor defects: only with --repair auto, and not in volumes,
/// depth maps and renders with feature buffers, which have no sensor defects.
[[nodiscard]] bool searches_defects(const DenoiseOptions& options, const io::VideoInfo& input);

/// Returns the sensor defects of `source`: from the file of --repair, or detected in the excerpts.
/// The excerpts must consist of complete frames, not fields.
/// @throws any error of read_defects()
[[nodiscard]] RepairPlan choose_repair(const DenoiseOptions& options, const io::MediaSource& source,
                                       std::span<const Excerpt> excerpts);

/// Reads a list of sensor defects for frames of the size of `source`: a text file with lines "x y"
/// or "x y FIRST LAST", or a picture in which defective samples are not 0.
/// @throws NoInput  lull cannot read the file
/// @throws BadData  the content is not valid, or more than a tenth of the frame is defective
[[nodiscard]] RepairPlan read_defects(const std::string& path, const DenoiseOptions& options,
                                      const FrameFormat& format);

/// Repairs all frames in `frames`. The caller must set Frame::slice of each frame to its index in
/// the input, or to -1 if unknown.
void repair_all(FrameRepairer& repairer, std::vector<Frame>& frames);

}  // namespace lull::tools
