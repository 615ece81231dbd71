#pragma once
// Thread names, which debuggers, profilers and top display.

#include <string>

namespace lull::pipeline {

/// Names the calling thread, with at most 15 characters on Linux. No effect on other systems.
void name_this_thread(const std::string& name) noexcept;

}  // namespace lull::pipeline
