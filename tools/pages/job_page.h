#pragma once
// The HTML page of a job in segments: progress and settings.

#include <string>

#include "io/jobs.h"

namespace lull::tools {

/// Returns the page.
/// @throws BadData  the noise record in the job is damaged
[[nodiscard]] std::string job_page(const io::JobState& state, const std::string& folder);

}  // namespace lull::tools
