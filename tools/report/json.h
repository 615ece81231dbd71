#pragma once
// JSON whose members keep the order in which they are set.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lull::tools {

using Json = nlohmann::ordered_json;

/// Returns the JSON on one line. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns an object with a line for each member, for people. Invalid UTF-8 becomes U+FFFD. The
/// text is about as long as json_text(), however deeply the values are nested.
[[nodiscard]] std::string json_lines(const Json& object);

/// Replaces invalid UTF-8 by U+FFFD, as the JSON writer does.
[[nodiscard]] inline std::string as_utf8(const std::string& text) {
  return Json::parse(json_text(Json(text))).get<std::string>();
}

/// Returns null for 0, which means unknown.
[[nodiscard]] inline Json count_or_null(std::int64_t count) {
  return count > 0 ? Json(count) : Json();
}

/// The members of one object by their names, at a cost that does not depend on their number. (Json
/// itself compares all names.) The object must outlive this and must not change otherwise.
class JsonMembers {
 public:
  explicit JsonMembers(Json& object);
  /// The value of this name, null if it is new.
  Json& operator[](const std::string& name);

 private:
  Json::object_t* members_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// Reads JSON of other people: the time grows with the length of the text, and the stack with
/// `most_depth` alone. Of several members with one name the last value counts. nullopt: the text is
/// no JSON, or its values are nested deeper.
[[nodiscard]] std::optional<Json> parse_json(std::string_view text, int most_depth = 64);

}  // namespace lull::tools
