#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace koord::file_test {
namespace {

TEST(ReadFileTest, ReadsAllOfItOrSaysWhyNot) {
  const std::string path = testing::TempDir() + "/read_file_test";
  const std::string text(100'000, 'x');
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(*ReadFile(path), text);
  EXPECT_THAT(std::string(Message(ReadFile(path, 99'999).status())), testing::HasSubstr("larger"));
  const Status missing = ReadFile(path + ".none").status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_EQ(Message(missing), path + ".none: No such file or directory");
  EXPECT_FALSE(ReadFile(testing::TempDir()).ok());
}

}  // namespace
}  // namespace koord::file_test
