#pragma once
// JSON objects that preserve the order of their members.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lull::tools {

using Json = nlohmann::ordered_json;

/// Returns an object as JSON text in a single line. U+FFFD replaces invalid UTF-8.
[[nodiscard]] inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns an object as JSON text with one line per member, including nested values. U+FFFD
/// replaces invalid UTF-8.
[[nodiscard]] std::string json_lines(const Json& object);

/// Replaces invalid UTF-8 in a string by U+FFFD.
[[nodiscard]] inline std::string as_utf8(const std::string& text) {
  return Json::parse(json_text(Json(text))).get<std::string>();
}

/// Returns a count as a JSON number. The count 0 means unknown and becomes null.
[[nodiscard]] inline Json count_or_null(std::int64_t count) {
  return count > 0 ? Json(count) : Json();
}

/// Finds the members of a Json object by name in constant time. While the index exists, only the
/// index may change the object. The object must outlive the index.
class JsonMembers {
 public:
  explicit JsonMembers(Json& object);
  /// Returns the value of a member. If the member is missing, the function first adds it with the
  /// value null.
  Json& operator[](const std::string& name);

 private:
  Json::object_t* members_;
  std::unordered_map<std::string, std::size_t> positions_;
};

/// Parses untrusted JSON in linear time, with nesting up to `max_depth`. If a name occurs several
/// times in an object, the last value applies. Returns nullopt for invalid text.
[[nodiscard]] std::optional<Json> parse_json(std::string_view text, int max_depth = 64);

}  // namespace lull::tools
