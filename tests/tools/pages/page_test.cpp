// Tests that a page is a single file that loads nothing, for all names that the page displays.

#include "tools/html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "io/digest.h"
#include "support/pictures.h"
#include "tools/html/chart.h"
#include "tools/html/markup.h"
#include "tools/support/pages.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string hostile = "<script>alert('x')</script>\"&\n\xff";

TEST(Markup, EscapesSpecialCharacters) {
  EXPECT_EQ(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escaped("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");  // UTF-8 is kept
  EXPECT_EQ(escaped("a\xff\nb"), "a\xef\xbf\xbd?b");
}

TEST(Markup, EncodesBase64LikeTheStandard) {  // RFC 4648, section 10
  EXPECT_EQ(io::base64(""), "");
  EXPECT_EQ(io::base64("f"), "Zg==");
  EXPECT_EQ(io::base64("fo"), "Zm8=");
  EXPECT_EQ(io::base64("foo"), "Zm9v");
  EXPECT_EQ(io::base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(io::base64(std::string("\0\xff\x80", 3)), "AP+A");
}

Page page_of_all() {
  Page page(hostile);
  page.add_tiles({{hostile, hostile}});
  page.add(hostile, facts_table({{hostile, hostile}}));
  const Frame grey = lull::test_support::make_frame({.width = 16, .height = 8});
  page.add("pictures", slider({{hostile, grey}, {"after", grey}, {"removed", grey}}, hostile));
  page.add("curves", svg_of({.title = hostile,
                             .axis = hostile,
                             .curves = {{hostile, "#123456", {{0, 1}, {1, 2}}}}}));
  return page;
}

TEST(Page, IsSelfContainedAndEscaped) {
  const std::string html = page_of_all().html();
  (void)expect_self_contained(html);
  EXPECT_THAT(html, Not(HasSubstr("alert('x')")));
  EXPECT_THAT(html, Not(HasSubstr("\xff")));
  EXPECT_THAT(html,
              HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;?\xef\xbf\xbd"));
}

TEST(Page, PolicyAllowsOnlyItsOwnScriptAndStyle) {
  const std::string html = page_of_all().html();
  for (const std::string tag : {"style", "script"}) {
    const std::size_t begin = html.find("<" + tag + ">") + tag.size() + 2;
    const std::string text = html.substr(begin, html.find("</" + tag + ">") - begin);
    const std::string hex = io::sha256_of(text);
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    EXPECT_THAT(html, HasSubstr(tag + "-src 'sha256-" + io::base64(bytes) + "'")) << tag;
  }
}

TEST(Chart, DrawsTheGivenCurves) {
  Chart chart{.title = "t", .axis = "a", .left = 10, .right = 20, .bottom = 0, .top = 4};
  chart.curves = {{"one", "#ff0000", {{10, 0}, {15, 2}, {20, 8}}}};
  // The last point is above the top and is limited to it.
  EXPECT_THAT(chart_elements(chart, 0, 0),
              HasSubstr("points=\"0.0,240.0 190.0,120.0 380.0,0.0 \""));
  EXPECT_DOUBLE_EQ(round_up(0.3), 0.5);
  EXPECT_DOUBLE_EQ(round_up(20), 20);
  EXPECT_DOUBLE_EQ(round_up(21), 50);
}

TEST(Chart, DrawsASquareForEachLagOfAHeatmap) {
  Autocorrelation lags{};
  lags[lag_index(1, 0)] = lags[lag_index(-1, 0)] = 0.5f;
  const std::string svg = heatmap(lags, "t");
  EXPECT_THAT(svg, HasSubstr("<title>1, 0: 0.500</title>"));
  const std::regex square("<title>-?[0-9]+, -?[0-9]+: ");
  EXPECT_EQ(std::distance(std::sregex_iterator(svg.begin(), svg.end(), square), {}), 15 * 15 - 1);
}

}  // namespace
}  // namespace lull::tools
