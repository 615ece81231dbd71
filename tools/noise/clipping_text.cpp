#include "tools/noise/clipping_text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "core/error.h"

namespace lull::tools {
namespace {

constexpr const char* absent = "-";

std::string text_of(float value, const char* format) {
  if (!std::isfinite(value)) return absent;
  char text[32];
  std::snprintf(text, sizeof text, format, static_cast<double>(value));
  return text;
}

/// Returns the text in `rest` before the first `separator`. Removes this text and the separator
/// from `rest`.
std::string next_field(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string field(rest.substr(0, end));
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return field;
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& name) : text_(text), name_(name) {}

  PlaneClipping clipping() {
    PlaneClipping clipping;
    for (Clipping& plane : clipping) {
      plane.low = number(next_field(rest_, ':'), plane.low);
      plane.high = number(next_field(rest_, ':'), plane.high);
      plane.level = number(next_field(rest_, ','), 0);
      if (!(plane.low < plane.high && plane.low < 255 && plane.high > 0)) fail();
      if (plane.any() != (plane.level > 0)) fail();
    }
    if (!rest_.empty() || text_.ends_with(',')) fail();
    return clipping;
  }

 private:
  [[noreturn]] void fail() const {
    throw BadData("'" + name_ + "' (invalid clipping: " + text_ + "); plan the job again");
  }

  float number(const std::string& field, float absent_value) const {
    if (field == absent) return absent_value;
    char* end = nullptr;
    const float value = std::strtof(field.c_str(), &end);
    if (field.empty() || *end != '\0' || !std::isfinite(value)) fail();
    return value;
  }

  const std::string &text_, &name_;
  std::string_view rest_ = text_;
};

}  // namespace

std::string to_text(const PlaneClipping& clipping) {
  std::string text;
  for (const Clipping& plane : clipping) {
    text += (text.empty() ? "" : ",") + text_of(plane.low, "%.9g") + ":";
    text += text_of(plane.high, "%.9g") + ":";
    text += plane.any() ? text_of(plane.level, "%.9g") : absent;
  }
  return text;
}

PlaneClipping parse_clipping(const std::string& text, const std::string& name) {
  return Parser(text, name).clipping();
}

std::string describe(const PlaneClipping& clipping, Layout layout) {
  constexpr const char* channels[] = {"R ", "G ", "B "};
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const Clipping& plane = clipping[i];
    if (!plane.any()) continue;
    text += text.empty() ? "" : ", ";
    text += layout == Layout::rgb ? channels[i] : "";
    text += "at ";
    if (std::isfinite(plane.low)) text += text_of(plane.low, "%.4g");
    if (std::isfinite(plane.low) && std::isfinite(plane.high)) text += " and ";
    if (std::isfinite(plane.high)) text += text_of(plane.high, "%.4g");
    text += " by noise of " + text_of(plane.level, "%.3g");
  }
  return text;
}

}  // namespace lull::tools
