#include "tools/html/page.h"

#include <utility>

#include "core/version.h"
#include "io/digest.h"
#include "io/picture.h"
#include "tools/html/markup.h"
#include "tools/html/page_texts.h"

namespace lull::tools {
namespace {

/// Returns the source expression 'sha256-...' of a Content-Security-Policy for the text.
std::string source_of(std::string_view text) {
  const std::string hex = io::sha256_of(text);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + io::base64(bytes) + "'";
}

std::string policy() {
  return "default-src 'none'; img-src data:; style-src " + source_of(page_style) + "; script-src " +
         source_of(page_script) + "; base-uri 'none'; form-action 'none'";
}

std::string image(const Panel& panel, const std::string& caption) {
  return "<img alt=\"" + escaped(panel.name + ": " + caption) +
         printed("\" width=\"%d\" height=\"%d\" src=\"data:image/png;base64,",
                 panel.picture.format.width, panel.picture.format.height) +
         io::base64(io::encode_png(panel.picture)) + "\">";
}

}  // namespace

std::string slider(const std::vector<Panel>& panels, const std::string& caption) {
  std::string html = "<figure class=\"compare\">\n<div class=\"stack\">\n";
  for (const Panel& panel : panels)
    html += "<div class=\"panel\">" + image(panel, caption) + "<span>" + escaped(panel.name) +
            "</span></div>\n";
  html += "</div>\n<div class=\"control\" hidden>\n" +
          printed("<input type=\"range\" min=\"0\" max=\"%zu\" value=\"50\" step=\"1\" ",
                  100 * (panels.size() - 1)) +
          "aria-label=\"" + escaped("which picture: " + caption) + "\">\n<div class=\"stops\">";
  for (std::size_t i = 0; i < panels.size(); ++i)
    html += printed("<button type=\"button\" data-at=\"%zu\">", 100 * i) + escaped(panels[i].name) +
            "</button>";
  return html + "</div>\n</div>\n<figcaption>" + escaped(caption) + "</figcaption>\n</figure>\n";
}

void Page::add(const std::string& heading, const std::string& body) {
  body_ += "<section>\n<h2>" + escaped(heading) + "</h2>\n" + body + "</section>\n";
}

void Page::add_tiles(const std::vector<std::pair<std::string, std::string>>& tiles) {
  body_ += "<section class=\"tiles\">\n";
  for (const auto& [name, value] : tiles)
    body_ += "<div><b>" + escaped(value) + "</b>" + escaped(name) + "</div>\n";
  body_ += "</section>\n";
}

std::string Page::html() const {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
      policy() +
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"generator\" content=\"lull ";
  html += escaped(version);
  html += "\">\n<title>" + escaped(title_) + "</title>\n<style>";
  html += page_style;
  html += "</style>\n</head>\n<body>\n<main>\n<h1>" + escaped(title_) + "</h1>\n" + body_ +
          "</main>\n<script>";
  html += page_script;
  return html + "</script>\n</body>\n</html>\n";
}

}  // namespace lull::tools
