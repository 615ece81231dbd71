#pragma once
// Writes the HTML page of a job in segments, which shows the job's progress and settings.

#include <string>

#include "io/jobs.h"

namespace lull::tools {

/// Returns the page.
/// @throws BadData  the noise record that the job stores is damaged
[[nodiscard]] std::string job_page(const io::JobState& state, const std::string& folder);

}  // namespace lull::tools
