#pragma once
// Thread names, which debuggers, profilers and top display.

#include <string>

namespace lull::pipeline {

/// Names the calling thread. Linux keeps only 15 characters. The function has no effect on other
/// systems.
void name_this_thread(const std::string& name) noexcept;

}  // namespace lull::pipeline
