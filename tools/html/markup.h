#pragma once
// Escaping and formatting of text for HTML and SVG.

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace lull::tools {

/// Escapes a text for an element or a quoted attribute; file names and tags of the input are
/// untrusted. Invalid UTF-8 becomes U+FFFD, control characters become '?'.
[[nodiscard]] std::string escaped(const std::string& text);

/// Formats values like printf, up to 255 characters.
template <class... Values>
[[nodiscard]] std::string printed(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// A row of a table. Its cells are HTML.
using Cells = std::vector<std::string>;

/// Returns a table. With `figures`, all columns except the first are aligned as numbers.
[[nodiscard]] std::string html_table(const Cells& heading, const std::vector<Cells>& rows,
                                     bool figures = true);

/// Returns a table of names and values, both plain text.
[[nodiscard]] std::string facts_table(
    const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace lull::tools
