#include "io/encode/file_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace lull::io {
namespace {

// Encoder options whose value is a file name, for FFmpeg's wrappers, x264, x265, SVT-AV1, libaom,
// VVenC, kvazaar and similar encoders.
constexpr std::array<std::string_view, 33> names_of_file_options = {"abr-ladder",
                                                                    "analysis-load",
                                                                    "analysis-reuse-file",
                                                                    "analysis-save",
                                                                    "aom-film-grain",
                                                                    "cqm",
                                                                    "cqmfile",
                                                                    "csv",
                                                                    "debug",
                                                                    "dhdr10-info",
                                                                    "dolby-vision-rpu",
                                                                    "dump-yuv",
                                                                    "fgs-table",
                                                                    "film-grain",
                                                                    "film-grain-table",
                                                                    "input",
                                                                    "lambda-file",
                                                                    "log-file",
                                                                    "nalu-file",
                                                                    "opencl-clbin",
                                                                    "output",
                                                                    "passlogfile",
                                                                    "qp-file",
                                                                    "qpfile",
                                                                    "rcstatsfile",
                                                                    "recon",
                                                                    "recon-y4m-exec",
                                                                    "roi",
                                                                    "roi-file",
                                                                    "scaling-list",
                                                                    "stats",
                                                                    "stats-file",
                                                                    "zonefile"};

// Words, such as "default", that an encoder option accepts instead of a file name.
constexpr std::array<std::string_view, 8> value_names = {"0",   "1",  "default", "flat",
                                                         "jvt", "no", "off",     "on"};

/// Returns an option name in the form in which encoders compare names: lower case, with '-' instead
/// of '_', and without the quotes and backslashes that FFmpeg removes.
std::string normalised(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != '\'' && c != '\\')
      result += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool names_file(std::string_view name, std::string_view value) {
  if (std::ranges::find(names_of_file_options, normalised(name)) == names_of_file_options.end())
    return false;
  const bool is_number = !value.empty() && value.find_first_not_of("0123456789.") == value.npos;
  return !is_number && std::ranges::find(value_names, value) == value_names.end();
}

/// Returns the name of the first option that the list `value` sets to a file name; empty if there
/// is none. For the list "keyint=12:stats=x", the result is "stats".
std::string_view option_with_file(std::string_view value) {
  constexpr std::string_view spaces = " \t\r\n", ends = ":,;= \t\r\n";
  for (std::size_t at = value.find('='); at != value.npos; at = value.find('=', at + 1)) {
    std::string_view name = value.substr(0, at);
    name = name.substr(0, name.find_last_not_of(spaces) + 1);  // FFmpeg ignores these spaces
    name = name.substr(name.find_last_of(ends) + 1);
    const std::string_view after = value.substr(at + 1);
    if (names_file(name, after.substr(0, after.find_first_of(ends)))) return name;
  }
  return {};
}

}  // namespace

std::string option_with_file(const std::vector<std::pair<std::string, std::string>>& vopts) {
  for (const auto& [name, value] : vopts) {
    if (names_file(name, value)) return name;
    if (const std::string_view inner = option_with_file(value); !inner.empty())
      return name + ": " + std::string(inner);
  }
  return {};
}

}  // namespace lull::io
