#pragma once
// The page of one run.

#include <string>
#include <vector>

#include "pipeline/run.h"
#include "tools/pages/run_record.h"
#include "tools/pages/sections.h"

namespace lull::tools {

/// What is known of a run beside its frames.
struct RunFacts {
  std::string input, output;
  std::vector<std::string> devices;
  NoiseOrigin origin = NoiseOrigin::found;
  bool stack = false;              // frames are slices
  double unit = 0;                 // of levels, in the file's own units; 0: 8-bit levels
  std::string reference;           // the name of the clean version; empty: none
  std::vector<std::string> notes;  // of what a reader should know
  Facts given;                     // options, as they were given
  Facts parameters;                // all that the frames depend on
  Facts versions;                  // names, versions, digests
};

[[nodiscard]] std::string run_page(const RunRecord& record, const pipeline::PipelineStats& stats,
                                   std::int64_t damaged_frames, const RunFacts& facts);

}  // namespace lull::tools
