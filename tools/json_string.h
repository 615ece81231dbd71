#pragma once

#include <string>

namespace lull::tools {

/// A JSON string, quotes included. What is no UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_string(const std::string& text);

}  // namespace lull::tools
