#pragma once
// Writes the HTML page of a run (--report).

#include <string>
#include <vector>

#include "pipeline/run.h"
#include "tools/pages/run_record.h"
#include "tools/pages/sections.h"

namespace lull::tools {

/// Properties of a run that add_frame() cannot determine from the frames.
struct RunFacts {
  std::string input, output;
  std::vector<std::string> devices;
  NoiseOrigin origin = NoiseOrigin::found;
  bool stack = false;  // the frames are slices
  double unit = 0;     // size of a level in the units of the file; 0: 8-bit levels
  // File with a clean version of the input, or an empty string.
  std::string reference;
  std::string series;              // section about a series as HTML; empty: none
  std::vector<std::string> notes;  // remarks for the reader of the page
  Facts given;                     // options on the command line
  Facts parameters;                // all settings that affect the frames
  Facts versions;                  // file names, versions and digests
};

[[nodiscard]] std::string run_page(const RunRecord& record, const pipeline::PipelineStats& stats,
                                   std::int64_t damaged_frames, const RunFacts& facts);

}  // namespace lull::tools
