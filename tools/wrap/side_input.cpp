#include "tools/wrap/side_input.h"

#include "tools/sessions/shared_job.h"

namespace lull::tools {

SideInput open_side_input(const std::string& name, const std::string& path,
                          const DenoiseOptions& given, io::SourceOptions options) {
  options.gpu.reset();
  options.video.reset();
  options.layer.clear();
  options.layers = {};
  options.tolerate_damage = false;
  const std::int64_t leading_frames = add_part_to_side_input(given.run, name, options);
  return {.name = name,
          .path = path,
          .source = io::open_source(path, options),
          .leading_frames = leading_frames};
}

}  // namespace lull::tools
