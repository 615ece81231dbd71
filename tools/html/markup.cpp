#include "tools/html/markup.h"

#include "core/error.h"
#include "tools/report/json.h"

namespace lull::tools {
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : one_line(as_utf8(text))) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string html_table(const Cells& heading, const std::vector<Cells>& rows, bool figures) {
  std::string html =
      figures ? "<div class=\"wide\"><table class=\"figures\">\n" : "<div class=\"wide\"><table>\n";
  if (!heading.empty()) {
    html += "<thead><tr>";
    for (const std::string& cell : heading) html += "<th scope=\"col\">" + cell + "</th>";
    html += "</tr></thead>\n";
  }
  html += "<tbody>\n";
  for (const Cells& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += i == 0 ? "<th scope=\"row\">" + row[i] + "</th>" : "<td>" + row[i] + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string facts_table(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::vector<Cells> rows;
  for (const auto& [name, value] : facts) rows.push_back({escaped(name), escaped(value)});
  return html_table({}, rows, false);
}

}  // namespace lull::tools
