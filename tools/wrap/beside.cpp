#include "tools/wrap/beside.h"

#include "tools/sessions/shared_job.h"

namespace lull::tools {

Beside open_beside(const std::string& name, const std::string& path, const DenoiseOptions& given,
                   io::SourceOptions options) {
  options.gpu.reset();
  options.layers = {};
  options.tolerate_damage = false;
  const std::int64_t early = add_part_beside(given, name, options);
  return {.name = name, .path = path, .source = io::open_source(path, options), .early = early};
}

}  // namespace lull::tools
