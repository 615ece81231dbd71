#pragma once
// A self-contained HTML page. Its Content-Security-Policy permits only the pictures, charts, style
// and script that the file itself contains.

#include <string>
#include <vector>

#include "core/frame.h"

namespace lull::tools {

/// An 8-bit picture for a page, grey or R G B.
struct Panel {
  std::string name;  // plain text, for example "before"
  Frame picture;
};

/// Returns overlapping panels of equal size, with a slider that uncovers the panels one by one. In
/// a browser without scripts, the panels are side by side. `caption` is plain text.
[[nodiscard]] std::string slider(const std::vector<Panel>& panels, const std::string& caption);

class Page {
 public:
  /// @param title  title of the page, plain text
  explicit Page(std::string title) : title_(std::move(title)) {}

  /// Adds a section. `heading` is plain text, `body` is HTML.
  void add(const std::string& heading, const std::string& body);
  /// Adds key figures in large letters below the previous sections. Each key figure is a pair of a
  /// name and a value, both in plain text.
  void add_tiles(const std::vector<std::pair<std::string, std::string>>& tiles);
  [[nodiscard]] std::string html() const;

 private:
  std::string title_, body_;
};

}  // namespace lull::tools
