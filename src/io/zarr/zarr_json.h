#pragma once
// Reads the JSON files of Zarr stores. Only builds with OME-Zarr include this header.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lull::io {

using Json = nlohmann::json;

/// Reads a JSON file that contains an object. Accepts Python's numbers NaN, Infinity and -Infinity,
/// and converts them to strings.
/// @throws NoInput  the file does not exist or is not readable
/// @throws BadData  the file is not valid JSON, contains no object, or is too large
[[nodiscard]] Json read_json(const std::string& path);
/// Reads a JSON file like read_json(). Returns an empty object if the file does not exist.
[[nodiscard]] Json read_json_if_exists(const std::string& path);

/// Returns the member `key` of `object`; null if there is no such member, or if `object` is not an
/// object.
[[nodiscard]] const Json& member(const Json& object, const char* key);
/// Returns a string member; `otherwise` if the member is absent or is not a string.
[[nodiscard]] std::string text_member(const Json& object, const char* key,
                                      const std::string& otherwise = {});
/// Returns an integer member; `otherwise` if the member is absent.
/// @param path  name of the file in messages
/// @throws BadData  the value is not an integer from `minimum` to `maximum`
[[nodiscard]] std::int64_t integer_member(const Json& object, const char* key,
                                          std::int64_t otherwise, std::int64_t minimum,
                                          std::int64_t maximum, const std::string& path);
/// Returns a list of 1 to 8 positive integers.
/// @param what  name of the value in messages
/// @throws BadData  the value is not a list of 1 to 8 positive integers
[[nodiscard]] std::vector<std::int64_t> sizes_in(const Json& value, const char* what,
                                                 const std::string& path);

}  // namespace lull::io
