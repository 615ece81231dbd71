#include "tools/support/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <vector>

namespace lull::tools {
namespace {

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// Returns the tags without the contents of data, scripts and styles.
std::string tags_of(std::string html) {
  for (const auto& [begin, end] : {std::pair<std::string, std::string>{"base64,", "\""},
                                   {"<style>", "</style>"},
                                   {"<script>", "</script>"}})
    for (std::size_t at = html.find(begin); at != html.npos;
         at = html.find(begin, at + begin.size())) {
      const std::size_t from = at + begin.size();
      html.erase(from, html.find(end, from) - from);
    }
  return html;
}

}  // namespace

std::string expect_self_contained(const std::string& html) {
  EXPECT_EQ(html.rfind("<!doctype html>", 0), 0u);
  EXPECT_TRUE(html.ends_with("</html>\n"));
  const std::string tags = tags_of(html);
  EXPECT_THAT(tags, ::testing::HasSubstr("default-src 'none'; img-src data:; style-src 'sha256-"));
  EXPECT_THAT(tags, ::testing::Not(::testing::HasSubstr("unsafe")));
  for (const char* word : {"http:", "https:", "href=", "@import", "url(", "<link", "<iframe",
                           "style=\"", "onclick", "oninput", "onload", "javascript:"})
    EXPECT_EQ(html.find(word), html.npos) << word;
  const std::regex source("src=\"([^\"]{0,22})");
  for (std::sregex_iterator at(tags.begin(), tags.end(), source), end; at != end; ++at)
    EXPECT_EQ((*at)[1].str().rfind("data:image/png;base64,", 0), 0u) << (*at)[1];
  EXPECT_EQ(count(tags, "<script"), 1);
  EXPECT_EQ(count(tags, "<style"), 1);
  for (const char* tag :
       {"section", "figure", "table", "svg", "main", "body", "html", "p", "div"}) {
    const int opened =
        count(tags, "<" + std::string(tag) + ">") + count(tags, "<" + std::string(tag) + " ");
    EXPECT_EQ(opened, count(tags, "</" + std::string(tag) + ">")) << tag;
  }
  return tags;
}

}  // namespace lull::tools
