#pragma once
// Defines JSON objects that preserve the order of their members.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lull::tools {

using Json = nlohmann::ordered_json;

/// Returns the JSON text of an object on a single line. The function replaces invalid UTF-8 by
/// U+FFFD.
[[nodiscard]] inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns a readable text with one line for each member of the object. The function replaces
/// invalid UTF-8 by U+FFFD. For any depth of nesting, the text is about as long as the text from
/// json_text().
[[nodiscard]] std::string json_lines(const Json& object);

/// Replaces invalid UTF-8 in a text by U+FFFD.
[[nodiscard]] inline std::string as_utf8(const std::string& text) {
  return Json::parse(json_text(Json(text))).get<std::string>();
}

/// Returns a count as a JSON number. The count 0 means unknown and becomes null.
[[nodiscard]] inline Json count_or_null(std::int64_t count) {
  return count > 0 ? Json(count) : Json();
}

/// An index that finds the members of a Json object by name in constant time. The Json object must
/// outlive the index, and only the index may change the object.
class JsonMembers {
 public:
  explicit JsonMembers(Json& object);
  /// Returns the value of the member with the given name. If the member does not exist, the
  /// function adds the member with the value null.
  Json& operator[](const std::string& name);

 private:
  Json::object_t* members_;
  std::unordered_map<std::string, std::size_t> positions_;
};

/// Parses JSON from untrusted sources. The time is linear in the length of the text, and
/// `max_depth` limits the depth of the call stack. Among members with equal names, the last member
/// is valid. Returns nullopt if the text is not JSON, or if its nesting is deeper than `max_depth`.
[[nodiscard]] std::optional<Json> parse_json(std::string_view text, int max_depth = 64);

}  // namespace lull::tools
