#pragma once
// Texts as HTML and SVG want them.

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace lull::tools {

/// For an element or a quoted attribute: names and tags are the input's. What is no UTF-8 becomes
/// U+FFFD, control characters '?'.
[[nodiscard]] std::string escaped(const std::string& text);

[[nodiscard]] std::string base64(const std::string& bytes);

/// As printf, up to 255 characters.
template <class... Values>
[[nodiscard]] std::string printed(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// A row of a table; its cells are HTML.
using Cells = std::vector<std::string>;

/// Cells of columns but the first are figures, if `figures` says so.
[[nodiscard]] std::string html_table(const Cells& heading, const std::vector<Cells>& rows,
                                     bool figures = true);

/// Names and values, which are plain text.
[[nodiscard]] std::string facts_table(
    const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace lull::tools
