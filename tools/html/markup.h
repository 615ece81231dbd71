#pragma once
// Escapes and formats text for HTML and SVG.

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace lull::tools {

/// Escapes untrusted text for an element or a quoted attribute. U+FFFD replaces invalid UTF-8, and
/// '?' replaces control characters.
[[nodiscard]] std::string escaped(const std::string& text);

/// Formats values like printf, with at most 255 characters.
template <class... Values>
[[nodiscard]] std::string printed(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// The cells of a table row, as HTML.
using Cells = std::vector<std::string>;

/// Returns a table. If `figures` is true, all columns except the first are right-aligned.
[[nodiscard]] std::string html_table(const Cells& heading, const std::vector<Cells>& rows,
                                     bool figures = true);

/// Returns a table of names and values, both plain text.
[[nodiscard]] std::string facts_table(
    const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace lull::tools
