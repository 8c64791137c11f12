#include "localcluster/assembly/data_directory.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace koord::localcluster::data_directory_test {
namespace {

using ::testing::HasSubstr;

class DataDirectoryTest : public ::testing::Test {
 protected:
  DataDirectoryTest() {
    char name[] = "/tmp/koord-data-XXXXXX";
    path_ = std::string(mkdtemp(name)) + "/state";
  }
  ~DataDirectoryTest() override {
    std::filesystem::remove_all(std::filesystem::path(path_).parent_path());
  }
  std::string path_;
};

TEST_F(DataDirectoryTest, IsPrivate) {
  const auto directory = DataDirectory::Acquire(path_);
  ASSERT_TRUE(directory.ok()) << directory.status();
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(DataDirectoryTest, BelongsToOneProcessAtATime) {
  const auto first = DataDirectory::Acquire(path_);
  ASSERT_TRUE(first.ok());
  const auto second = DataDirectory::Acquire(path_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(Message(second.status())),
              HasSubstr("(process " + std::to_string(getpid()) + "); 'koord down' stops it"));
  EXPECT_EQ(DataDirectory::HeldBy(path_), getpid());
}

TEST_F(DataDirectoryTest, IsFreeOnceItsHolderIsGone) {
  { ASSERT_TRUE(DataDirectory::Acquire(path_).ok()); }
  EXPECT_EQ(DataDirectory::HeldBy(path_), std::nullopt);
  EXPECT_TRUE(DataDirectory::Acquire(path_).ok());
}

TEST_F(DataDirectoryTest, SaysWhatCannotBeMade) {
  const auto directory = DataDirectory::Acquire("/dev/null/state");
  ASSERT_FALSE(directory.ok());
  EXPECT_THAT(std::string(Message(directory.status())),
              HasSubstr("/dev/null/state: cannot be made"));
}

}  // namespace
}  // namespace koord::localcluster::data_directory_test
