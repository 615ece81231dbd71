#pragma once
// One file of HTML that asks for nothing else: pictures, curves, style and script are inside, and
// its Content-Security-Policy forbids all else.

#include <string>
#include <vector>

#include "core/frame.h"

namespace lull::tools {

/// A picture of 8 bits, grey or R G B, as it stands in the page.
struct Panel {
  std::string name;  // plain text: "before"
  Frame picture;
};

/// Panels of one size, one over the other: a slider uncovers one after the other. Without scripts
/// they stand side by side. `caption` is plain text.
[[nodiscard]] std::string slider(const std::vector<Panel>& panels, const std::string& caption);

class Page {
 public:
  /// Plain text.
  explicit Page(std::string title) : title_(std::move(title)) {}

  /// `heading` is plain text, `body` HTML.
  void add(const std::string& heading, const std::string& body);
  /// Figures in large letters, at the top: what, and its value; plain text.
  void add_tiles(const std::vector<std::pair<std::string, std::string>>& tiles);
  [[nodiscard]] std::string html() const;

 private:
  std::string title_, body_;
};

}  // namespace lull::tools
