#pragma once
// Names threads. Debuggers, profilers and the program top display these names.

#include <string>

namespace lull::pipeline {

/// Sets the name of the calling thread on Linux, with at most 15 characters. The function has no
/// effect on other systems.
void name_this_thread(const std::string& name) noexcept;

}  // namespace lull::pipeline
