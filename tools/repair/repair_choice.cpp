#include "tools/repair/repair_choice.h"

#include <utility>

namespace lull::tools {

bool searches_defects(const DenoiseOptions& options, const io::VideoInfo& input) {
  return options.noise.repair == repair_auto && !options.input.depth.on &&
         !uses_features(options.method) && !options.input.stack && !input.stack;
}

RepairPlan choose_repair(const DenoiseOptions& options, const io::MediaSource& source,
                         std::span<const Excerpt> excerpts) {
  if (names_defect_file(options.noise))
    return read_defects(options.noise.repair, options, source.format());
  if (!searches_defects(options, source.info())) return {};
  return find_repair(excerpts, options.input.interlaced == Interlaced::fields);
}

void repair_all(FrameRepairer& repairer, std::vector<Frame>& frames) {
  for (Frame& frame : frames) frame = repairer(std::move(frame));
}

}  // namespace lull::tools
