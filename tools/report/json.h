#pragma once
// JSON whose members keep the order in which they are set.

#include <nlohmann/json.hpp>
#include <string>

namespace lull::tools {

using Json = nlohmann::ordered_json;

/// Returns the JSON on one line. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Replaces invalid UTF-8 by U+FFFD, as the JSON writer does.
[[nodiscard]] inline std::string as_utf8(const std::string& text) {
  return Json::parse(json_text(Json(text))).get<std::string>();
}

/// Returns null for 0, which means unknown.
[[nodiscard]] inline Json count_or_null(std::int64_t count) {
  return count > 0 ? Json(count) : Json();
}

}  // namespace lull::tools
