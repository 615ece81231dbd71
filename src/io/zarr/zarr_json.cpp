#include "io/zarr/zarr_json.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/text_file.h"

namespace lull::io {
namespace {

/// Maximum size in bytes of a JSON file. Files with consolidated metadata have several megabytes.
constexpr std::size_t max_json_bytes = std::size_t{1} << 26;

/// Replaces the numbers NaN, Infinity and -Infinity by the strings that Zarr uses for them in fill
/// values. Python writes these numbers, although JSON forbids them.
std::string with_quoted_numbers(const std::string& text) {
  std::string plain;
  plain.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    std::size_t length = 1;
    if (in_string && rest.front() == '\\')
      length = std::min<std::size_t>(2, rest.size());
    else if (rest.front() == '"')
      in_string = !in_string;
    else if (!in_string)
      for (const std::string_view number : {"NaN", "Infinity", "-Infinity"})
        if (rest.starts_with(number)) length = number.size();
    const std::string_view part = rest.substr(0, length);
    const bool is_number = !in_string && length > 1;
    plain += is_number ? '"' + std::string(part) + '"' : std::string(part);
    at += length;
  }
  return plain;
}

Json parse_object(const std::string& text, const std::string& path) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    json = Json::parse(with_quoted_numbers(text), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw BadData("'" + path + "' is not valid JSON; check the store");
  if (!json.is_object()) throw BadData("'" + path + "' contains no JSON object; check the store");
  return json;
}

}  // namespace

Json read_json(const std::string& path) {
  return parse_object(read_text(path, max_json_bytes), path);
}

Json read_json_if_exists(const std::string& path) {
  const std::optional<std::string> text = read_text_if_exists(path, max_json_bytes);
  return text ? parse_object(*text, path) : Json::object();
}

const Json& member(const Json& object, const char* key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

std::string text_member(const Json& object, const char* key, const std::string& otherwise) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : otherwise;
}

std::int64_t integer_member(const Json& object, const char* key, std::int64_t otherwise,
                            std::int64_t minimum, std::int64_t maximum, const std::string& path) {
  const Json& value = member(object, key);
  if (value.is_null()) return otherwise;
  const bool is_valid = value.is_number_integer() &&
                        (!value.is_number_unsigned() ||
                         value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)) &&
                        value.get<std::int64_t>() >= minimum &&
                        value.get<std::int64_t>() <= maximum;
  if (!is_valid) throw BadData("'" + path + "' states no valid " + key + "; check the store");
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> sizes_in(const Json& value, const char* what, const std::string& path) {
  constexpr std::size_t max_dimensions = 8;
  constexpr std::int64_t max_size = std::int64_t{1} << 40;
  std::vector<std::int64_t> sizes;
  bool is_valid = value.is_array() && !value.empty() && value.size() <= max_dimensions;
  for (std::size_t i = 0; is_valid && i < value.size(); ++i) {
    is_valid = value[i].is_number_integer() && value[i] >= 1 && value[i] <= max_size;
    if (is_valid) sizes.push_back(value[i].get<std::int64_t>());
  }
  if (!is_valid)
    throw BadData("'" + path + "' states no valid " + what +
                  " (1 to 8 positive integers); check the store");
  return sizes;
}

}  // namespace lull::io
