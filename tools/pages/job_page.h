#pragma once
// The page of a job in segments: what is done of it, and what it is.

#include <string>

#include "io/jobs.h"

namespace lull::tools {

/// @throws BadData  the noise among its facts is damaged
[[nodiscard]] std::string job_page(const io::JobState& state, const std::string& folder);

}  // namespace lull::tools
