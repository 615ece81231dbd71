// Tests the parser for untrusted JSON: any text gives a value or nothing, in time proportional to
// its length.

#include "tools/report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace lull::tools {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ParseJson, KeepsValuesAndTheOrderOfMembers) {
  const std::string text =
      R"({"z":1,"a":[1,-2,2.5,true,null,{"y":"\u00e4","b":[]}],"m":{"k":{}},"n":18446744073709551615})";
  const std::optional<Json> json = parse_json(text);
  ASSERT_TRUE(json);
  EXPECT_EQ(*json, Json::parse(text));
  EXPECT_EQ(json->dump(), Json::parse(text).dump());
  EXPECT_EQ(*parse_json("7"), 7);
  EXPECT_EQ(*parse_json("[]"), Json::array());
}

TEST(ParseJson, LastOfDuplicateMembersApplies) {
  const std::optional<Json> json = parse_json(R"({"a":{"x":1},"b":2,"a":[3]})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->dump(), R"({"a":[3],"b":2})");
}

TEST(ParseJson, RejectsTextThatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\"}", "{} {}", "nul", "\"\xff\"", "[1e999]", "'a'",
                           "{\"a\":1,}", "\x00"})
    EXPECT_FALSE(parse_json(text)) << text;
}

TEST(ParseJson, RejectsDeepNesting) {
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_FALSE(parse_json(nested(65)));
  EXPECT_TRUE(parse_json(nested(3), 3));
  EXPECT_FALSE(parse_json(nested(1000000)));
  std::string objects, mixed;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":", mixed += "[{\"a\":";
  EXPECT_FALSE(parse_json(objects));
  EXPECT_FALSE(parse_json(mixed));
}

// If each of 200,000 names were compared with all others, it would take minutes.
TEST(ParseJson, ManyMembersAreParsedInLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i)
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" + std::to_string(i);
  const auto start = std::chrono::steady_clock::now();
  std::optional<Json> json = parse_json(text + "}");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->size(), 200000u);
  JsonMembers members(*json);
  for (int i = 100000; i < 300000; ++i) members[std::to_string(i)] = -i;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
  EXPECT_EQ(json->size(), 300000u);
  EXPECT_EQ(std::next(json->begin(), 99999).value(), 99999);
  EXPECT_EQ(std::next(json->begin(), 100000).value(), -100000);
  EXPECT_EQ(json->back(), -299999);
}

TEST(JsonLines, EachMemberGetsOneLine) {
  EXPECT_EQ(json_lines(Json::object()), "{\n}\n");
  EXPECT_EQ(json_lines({{"a", 1}, {"b", {1, 2, {{"c", nullptr}}}}}),
            "{\n  \"a\": 1,\n  \"b\": [1,2,{\"c\":null}]\n}\n");
  EXPECT_THAT(json_lines({{"\xff", "\xfe"}}), HasSubstr("\"\xef\xbf\xbd\": \"\xef\xbf\xbd\""));
}

}  // namespace
}  // namespace lull::tools
