#pragma once
// The HTML page of a job in segments: its progress and its settings.

#include <string>

#include "io/jobs.h"

namespace lull::tools {

/// @throws BadData  the noise record in the job's facts is damaged
[[nodiscard]] std::string job_page(const io::JobState& state, const std::string& folder);

}  // namespace lull::tools
