#pragma once
// Messages for the program's log function.

#include <string>

#include "c/include/lull.h"

namespace lull::c {

/// Sets the function that receives messages; null: none. Thread-safe.
void set_log(lull_log_function function, void* user);
/// Passes a message to the function. Thread-safe.
void log(std::int32_t level, const std::string& text);

}  // namespace lull::c
