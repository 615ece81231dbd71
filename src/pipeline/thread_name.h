#pragma once
// Names of threads for debuggers, profilers and the program top.

#include <string>

namespace lull::pipeline {

/// Sets the name of the calling thread, with at most 15 characters. Only Linux supports names.
void name_this_thread(const std::string& name) noexcept;

}  // namespace lull::pipeline
