#include "kube/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::kube::names_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Names, AcceptsGoodOnes) {
  for (const char* name : {"a", "a.b-c.d", "0", "example.com"}) {
    EXPECT_EQ(CheckDnsSubdomain(name), "") << name;
  }
  for (const char* name : {"a", "my-name", "0abc"}) EXPECT_EQ(CheckDnsLabel(name), "") << name;
  for (const char* name : {"app", "App_1.x-y", "example.com/Name", "a/b"}) {
    EXPECT_EQ(CheckQualifiedName(name), "") << name;
  }
  for (const char* value : {"", "a", "My_Value.1", "12345"}) {
    EXPECT_EQ(CheckLabelValue(value), "") << value;
  }
}

TEST(Names, SaysWhatIsWrong) {
  for (const char* name : {"", "A", "a..b", ".a", "a.", "-a", "a_b", "a b"}) {
    EXPECT_THAT(CheckDnsSubdomain(name), StartsWith("a lowercase RFC 1123 subdomain")) << name;
  }
  for (const char* name : {"", "A", "a.b", "-a", "a-"}) {
    EXPECT_THAT(CheckDnsLabel(name), StartsWith("a lowercase RFC 1123 label")) << name;
  }
  EXPECT_EQ(CheckDnsSubdomain(std::string(254, 'a')), "must be no more than 253 bytes");
  EXPECT_EQ(CheckDnsLabel(std::string(64, 'a')), "must be no more than 63 bytes");
  EXPECT_EQ(CheckLabelValue(std::string(64, 'a')), "must be no more than 63 bytes");
  EXPECT_EQ(CheckQualifiedName(""), "name part must be non-empty");
  EXPECT_EQ(CheckQualifiedName("a/"), "name part must be non-empty");
  EXPECT_EQ(CheckQualifiedName("/a"), "prefix part must be non-empty");
  EXPECT_EQ(CheckQualifiedName("a/" + std::string(64, 'a')),
            "name part must be no more than 63 bytes");
  EXPECT_THAT(CheckQualifiedName("A/b"), StartsWith("prefix part a lowercase RFC 1123 subdomain"));
  EXPECT_THAT(CheckQualifiedName("a/b/c"), StartsWith("a qualified name must consist of"));
  EXPECT_THAT(CheckQualifiedName("a b"), StartsWith("name part must consist of alphanumeric"));
  EXPECT_THAT(CheckLabelValue("-a"), HasSubstr("a valid label must be an empty string"));
}

}  // namespace
}  // namespace koord::kube::names_test
