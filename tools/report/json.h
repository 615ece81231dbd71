#pragma once
// JSON objects whose members have the order in which they were set.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lull::tools {

using Json = nlohmann::ordered_json;

/// Returns the JSON text of an object on a single line. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns a readable text with one line for each member of the object. Invalid UTF-8 becomes
/// U+FFFD. The text is about as long as that of json_text(), however deeply values are nested.
[[nodiscard]] std::string json_lines(const Json& object);

/// Replaces invalid UTF-8 in a text by U+FFFD, like json_text().
[[nodiscard]] inline std::string as_utf8(const std::string& text) {
  return Json::parse(json_text(Json(text))).get<std::string>();
}

/// Returns a count as a JSON number; null for 0, which means unknown.
[[nodiscard]] inline Json count_or_null(std::int64_t count) {
  return count > 0 ? Json(count) : Json();
}

/// Finds the members of an object by name in constant time, while Json itself compares all names.
/// The Json object must outlive this object, and nothing else may change it.
class JsonMembers {
 public:
  explicit JsonMembers(Json& object);
  /// Returns the value of the member with this name; a member that does not exist is added with the
  /// value null.
  Json& operator[](const std::string& name);

 private:
  Json::object_t* members_;
  std::unordered_map<std::string, std::size_t> positions_;
};

/// Parses JSON from untrusted sources. The time is linear in the length of the text, and
/// `max_depth` limits the depth of the call stack. The last of several members with the same name
/// is used. Returns nullopt if the text is not JSON or is nested deeper than `max_depth`.
[[nodiscard]] std::optional<Json> parse_json(std::string_view text, int max_depth = 64);

}  // namespace lull::tools
