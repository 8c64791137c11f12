#include <gtest/gtest.h>

#include "base/strings.h"

namespace koord::base64url_test {
namespace {

TEST(Base64UrlTest, UsesTheUrlAlphabetWithoutPadding) {
  const struct {
    std::string bytes, text;
  } cases[] = {{"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"\xfb\xff\xfe", "-__-"}};
  for (const auto& c : cases) {
    EXPECT_EQ(Base64UrlEncode(c.bytes), c.text);
    EXPECT_EQ(Base64UrlDecode(c.text), c.bytes) << c.text;
  }
}

TEST(Base64UrlTest, RefusesWhatIsNotInTheAlphabet) {
  for (const char* text : {"Zg==", "+__+", "Z", "Zm9v\n", "Zm 9"}) {
    EXPECT_EQ(Base64UrlDecode(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace koord::base64url_test
