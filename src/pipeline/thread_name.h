#pragma once
// Names for threads, as debuggers, profilers and top show them.

#include <string>

namespace lull::pipeline {

/// Names the calling thread; Linux keeps 15 characters. Does nothing elsewhere.
void name_this_thread(const std::string& name) noexcept;

}  // namespace lull::pipeline
