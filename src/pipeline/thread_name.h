#pragma once
// Thread names, which debuggers, profilers and top display.

#include <string>

namespace lull::pipeline {

/// Names the calling thread; Linux keeps 15 characters. On other systems it has no effect.
void name_this_thread(const std::string& name) noexcept;

}  // namespace lull::pipeline
