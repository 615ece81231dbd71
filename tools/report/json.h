#pragma once
// JSON, members in the order in which they are set.

#include <nlohmann/json.hpp>
#include <string>

namespace lull::tools {

using Json = nlohmann::ordered_json;

/// On one line. What is no UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What is no UTF-8 becomes U+FFFD: who writes JSON knows how.
[[nodiscard]] inline std::string as_utf8(const std::string& text) {
  return Json::parse(json_text(Json(text))).get<std::string>();
}

/// null for 0, which stands for unknown.
[[nodiscard]] inline Json count_or_null(std::int64_t count) {
  return count > 0 ? Json(count) : Json();
}

}  // namespace lull::tools
