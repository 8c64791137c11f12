#include "base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::strings_test {
namespace {

using testing::ElementsAre;

TEST(Strings, Split) {
  EXPECT_THAT(Split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(Split(",a,,", ','), ElementsAre("", "a", "", ""));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
}

TEST(Strings, Trim) {
  EXPECT_EQ(Trim(" \t\r\n a b \f\v"), "a b");
  EXPECT_EQ(Trim("a"), "a");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
}

TEST(Strings, Case) {
  EXPECT_EQ(ToLower("Content-TYPE \xc3\x84"), "content-type \xc3\x84");
  EXPECT_TRUE(EqualsIgnoreCase("Accept", "aCCEPT"));
  EXPECT_FALSE(EqualsIgnoreCase("Accept", "Accept-Encoding"));
  EXPECT_FALSE(EqualsIgnoreCase("a[", "a{"));
}

TEST(Strings, ParseNumbers) {
  EXPECT_EQ(ParseInt("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(ParseInt("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(ParseUint("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x1", "9223372036854775808", "1.0", "-"}) {
    EXPECT_EQ(ParseInt(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseUint("-1"), std::nullopt);
}

TEST(Strings, ParseBool) {
  for (const char* text : {"true", "True", "TRUE", "t", "T", "1"}) EXPECT_EQ(ParseBool(text), true);
  for (const char* text : {"false", "False", "FALSE", "f", "F", "0"}) {
    EXPECT_EQ(ParseBool(text), false);
  }
  for (const char* text : {"", "yes", "tRUE", "2", " true"}) {
    EXPECT_EQ(ParseBool(text), std::nullopt) << text;
  }
}

TEST(Strings, Base64) {
  const std::pair<std::string, const char*> cases[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {std::string("\0\xff\xfe", 3), "AP/+"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(Base64Encode(bytes), text);
    EXPECT_EQ(Base64Decode(text), bytes);
  }
  EXPECT_EQ(Base64Decode("Zm9v\r\nYmFy\n"), "foobar");
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Z=g=", "Zm9-",
                           "Zm 9v", "\xff\xff\xff\xff"}) {
    EXPECT_EQ(Base64Decode(text), std::nullopt) << text;
  }
}

TEST(Strings, Utf8) {
  for (const char* text : {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                           "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  }
  for (const char* text :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "a\xc3z"}) {
    EXPECT_FALSE(IsValidUtf8(text)) << text;
  }
}

TEST(Strings, QuoteEscapesAndBounds) {
  EXPECT_EQ(Quote("a \"b\" \\ \n \t\x01\x7f"), R"("a \"b\" \\ \n \u0009\u0001\u007f")");
  EXPECT_EQ(Quote("abcdef", 3), R"("abc...")");
  EXPECT_EQ(Quote("abc", 3), R"("abc")");
  EXPECT_EQ(Quote("Z\xc3\xbcrich \xff\xc3"), "\"Z\xc3\xbcrich \\ufffd\\ufffd\"")
      << "what is no text is not passed on as such";
  EXPECT_EQ(Quote("a\xc3\xbc", 2), R"("a\ufffd...")") << "half a character";
}

TEST(Strings, Join) {
  EXPECT_EQ(Join(std::vector<std::string>{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Join(std::vector<std::string>{}, ", "), "");
}

}  // namespace
}  // namespace koord::strings_test
