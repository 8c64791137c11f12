#include "localcluster/apiserver/storage/sqlite_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/virtual_loop.h"
#include "localcluster/apiserver/storage/store_testing.h"

namespace koord::apiserver::sqlite_file_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

class SqliteStoreTest : public ::testing::Test {
 protected:
  StatusOr<std::unique_ptr<Store>> Open() {
    return Store::Open(loop_, {.path = path_,
                               .on_fatal = [this](const Status& status) { fatal_ = status; },
                               .writer_thread = false,
                               .history = 5min,
                               .history_events = history_events_,
                               .history_bytes = history_bytes_});
  }
  std::unique_ptr<Store> MustOpen() {
    auto store = Open();
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? std::move(*store) : nullptr;
  }
  void RunSql(const std::string& sql) {
    auto database = SqlDatabase::Open(path_);
    ASSERT_TRUE(database.ok());
    const Status status = database->Execute(sql);
    ASSERT_TRUE(status.ok()) << status;
  }

  TempDir dir_;
  std::string path_ = dir_.File("store.db");
  VirtualLoop loop_;
  Status fatal_;
  size_t history_events_ = 10;
  size_t history_bytes_ = 1 << 24;
};

TEST_F(SqliteStoreTest, StateHistoryAndRevisionSurviveARestart) {
  auto store = MustOpen();
  PutNext(*store, "pods", "default/a", "one \\u0000 ü");
  PutNext(*store, "pods", "default/b");
  PutNext(*store, "pods", "default/a", "two");
  DeleteNext(*store, "pods", "default/b");
  loop_.RunReady();
  store.reset();

  store = MustOpen();
  EXPECT_EQ(store->revision(), 5u);
  EXPECT_EQ(store->durable_revision(), 5u);
  EXPECT_EQ(store->Get("pods", "default/a")->value, MakeEntry("default/a", 4, "two").value);
  EXPECT_EQ(store->Get("pods", "default/a")->revision, 4u);
  EXPECT_THAT(Keys(List(*store, "pods")), ElementsAre("default/a"));
  EXPECT_THAT(Keys(List(*store, "pods", "", 3)), ElementsAre("default/a", "default/b"));

  std::vector<ChangePtr> changes;
  const auto watch = store->Watch("pods", 2, [&](std::span<const ChangePtr> batch) {
    changes.insert(changes.end(), batch.begin(), batch.end());
  });
  loop_.RunReady();
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[2]->before->revision, 5u);
  EXPECT_EQ(changes[2]->before->value, MakeEntry("default/b", 3).value);
  EXPECT_EQ(PutNext(*store, "pods", "default/c")->revision, 6u);
}

TEST_F(SqliteStoreTest, ClosingKeepsWhatWasNotYetCommitted) {
  auto store = MustOpen();
  PutNext(*store, "nodes", "n");
  store.reset();
  EXPECT_NE(MustOpen()->Get("nodes", "n"), nullptr);
}

TEST_F(SqliteStoreTest, TheRevisionDoesNotGoBackWhenTheNewestRowsWereCompacted) {
  auto store = MustOpen();
  for (int i = 0; i < 12; ++i) PutNext(*store, "nodes", fmt::format("n{}", i));
  for (int i = 0; i < 12; ++i) DeleteNext(*store, "nodes", fmt::format("n{}", i));
  const Revision last = store->revision();
  loop_.Advance(1h);
  EXPECT_EQ(store->compacted_revision(), last - 10);
  store.reset();
  RunSql("DELETE FROM revisions");
  RunSql(fmt::format("UPDATE meta SET value = {}", last));
  store = MustOpen();
  EXPECT_EQ(store->revision(), last);
  EXPECT_EQ(store->compacted_revision(), last);
}

TEST_F(SqliteStoreTest, CompactionRemovesRowsThatNobodyCanRead) {
  auto store = MustOpen();
  PutNext(*store, "nodes", "keeps");
  for (int i = 0; i < 20; ++i) PutNext(*store, "nodes", "busy");
  PutNext(*store, "nodes", "gone");
  DeleteNext(*store, "nodes", "gone");
  for (int i = 0; i < 10; ++i) PutNext(*store, "nodes", "busy");
  loop_.Advance(1h);
  EXPECT_EQ(store->compacted_revision(), store->revision() - 10);
  store.reset();
  auto database = SqlDatabase::Open(path_);
  // Ten of history, "keeps", and the "busy" that reads at the compacted revision see.
  EXPECT_EQ(*database->Query("SELECT count(*) FROM revisions"), "12");
  EXPECT_EQ(*database->Query("SELECT count(*) FROM revisions WHERE key = 'gone'"), "0");
}

TEST_F(SqliteStoreTest, TheFileStaysBoundedUnderSteadyWrites) {
  history_events_ = 100'000;
  history_bytes_ = 1 << 18;
  auto store = MustOpen();
  for (int i = 0; i < 5000; ++i) {
    PutNext(*store, "nodes", fmt::format("n{}", i % 10), std::string(1000, 'x'));
    if (i % 100 == 0) loop_.Advance(1s);
  }
  loop_.Advance(1s);
  store.reset();
  EXPECT_LT(std::filesystem::file_size(path_), 1u << 20) << "of 5 MB that were written";
  store = MustOpen();
  EXPECT_EQ(store->Count("nodes", ""), 10u);
  EXPECT_GT(store->compacted_revision(), 4000u);
}

TEST_F(SqliteStoreTest, AfterARestartNoResourceReachesBackBeyondTheFile) {
  auto store = MustOpen();
  PutNext(*store, "pods", "default/a");     // 2
  PutNext(*store, "pods", "default/b");     // 3
  DeleteNext(*store, "pods", "default/b");  // 4
  for (int i = 0; i < 20; ++i) PutNext(*store, "nodes", "busy");
  loop_.Advance(1h);
  EXPECT_EQ(store->oldest_revision("pods"), 4u);
  const Revision compacted = store->compacted_revision();
  ASSERT_GT(compacted, 4u);
  store.reset();
  store = MustOpen();
  EXPECT_EQ(store->oldest_revision("pods"), compacted) << "the deletion has left no row";
  EXPECT_FALSE(store->Watch("pods", compacted - 1, [](auto) {}).ok());
  EXPECT_TRUE(store->Watch("pods", compacted, [](auto) {}).ok());
}

TEST_F(SqliteStoreTest, AnInterruptedCompactionIsFinishedAtTheNextStart) {
  auto store = MustOpen();
  PutNext(*store, "nodes", "a");     // 2
  DeleteNext(*store, "nodes", "a");  // 3
  PutNext(*store, "nodes", "b");     // 4
  PutNext(*store, "nodes", "b");     // 5
  PutNext(*store, "nodes", "b");     // 6
  store.reset();
  // As if killed after the first of several batches: "a" is gone, its deletion is not.
  RunSql("UPDATE meta SET value = 5");
  RunSql("DELETE FROM revisions WHERE rev = 2");
  store = MustOpen();
  EXPECT_EQ(store->compacted_revision(), 5u);
  EXPECT_THAT(Keys(List(*store, "nodes")), ElementsAre("b"));
  EXPECT_THAT(Keys(List(*store, "nodes", "", 5)), ElementsAre("b"));
  loop_.RunReady();
  store.reset();
  EXPECT_EQ(*SqlDatabase::Open(path_)->Query("SELECT group_concat(rev) FROM revisions"), "5,6");
}

TEST_F(SqliteStoreTest, OnlyTheOwnerMayReadTheFiles) {
  WriteFile(path_, "");
  chmod(path_.c_str(), 0644);
  const auto store = MustOpen();
  PutNext(*store, "secrets", "default/s");
  loop_.RunReady();
  EXPECT_EQ(ModeOf(path_), 0600u);
  EXPECT_EQ(ModeOf(path_ + "-wal"), 0600u);
  EXPECT_EQ(ModeOf(path_ + ".lock"), 0600u);
}

TEST_F(SqliteStoreTest, ASecondOpenerLearnsWhoHoldsTheStore) {
  const auto store = MustOpen();
  const auto second = Open();
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Message(second.status())),
              HasSubstr(fmt::format("is held by process {}", getpid())));
}

TEST_F(SqliteStoreTest, FilesOfOthersAreRefusedAndLeftAlone) {
  WriteFile(path_, std::string(10'000, 'x'));
  EXPECT_THAT(std::string(Message(Open().status())), HasSubstr("is not a store of this program"));
  EXPECT_EQ(std::filesystem::file_size(path_), 10'000u);

  std::filesystem::remove(path_);
  RunSql("CREATE TABLE bookmarks (url TEXT)");
  EXPECT_THAT(std::string(Message(Open().status())), HasSubstr("is a database of another program"));
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
}

TEST_F(SqliteStoreTest, ALayoutOfAnotherVersionIsRefused) {
  MustOpen().reset();
  RunSql("PRAGMA user_version = 3");
  EXPECT_THAT(std::string(Message(Open().status())), HasSubstr("has layout 3"));
}

TEST_F(SqliteStoreTest, AMissingDirectoryIsAClearError) {
  path_ = dir_.File("missing/store.db");
  EXPECT_THAT(std::string(Message(Open().status())), HasSubstr("No such file or directory"));
}

TEST_F(SqliteStoreTest, DamageIsReportedAndNeverCrashes) {
  auto store = MustOpen();
  for (int i = 0; i < 300; ++i) {
    PutNext(*store, "nodes", fmt::format("n{}", i), std::string(1000, 'x'));
  }
  store.reset();
  const auto size = std::filesystem::file_size(path_);
  ASSERT_GT(size, 100'000u);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  for (size_t page = 2; page < size / 4096; ++page) {
    file.seekp(static_cast<std::streamoff>(page * 4096));
    file << std::string(64, '\xff');
  }
  file.close();
  const auto damaged = Open();
  EXPECT_EQ(damaged.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(Message(damaged.status())), HasSubstr("is damaged"));

  std::filesystem::resize_file(path_, 5000);
  EXPECT_FALSE(Open().ok());
}

TEST_F(SqliteStoreTest, ARowThatContradictsTheOthersIsDamage) {
  auto store = MustOpen();
  PutNext(*store, "nodes", "a");
  DeleteNext(*store, "nodes", "a");
  store.reset();
  RunSql("DELETE FROM revisions WHERE rev = 2");
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SqliteStoreTest, ARowThatWasChangedIsNamedAndNotServed) {
  int number = 0;
  for (const char* change :
       {"value = replace(value, 'one', 'two')", "key = 'default/c'", "resource = 'nodes'",
        "time = time + 1", "deleted = 2", "checksum = 0", "rev = 70"}) {
    SCOPED_TRACE(change);
    path_ = dir_.File(fmt::format("{}.db", ++number));
    auto store = MustOpen();
    PutNext(*store, "pods", "default/a", "one");
    PutNext(*store, "pods", "default/b", "one");
    store.reset();
    RunSql(fmt::format("UPDATE revisions SET {} WHERE rev = 3", change));
    const auto damaged = Open();
    EXPECT_EQ(damaged.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(Message(damaged.status())),
                AllOf(HasSubstr("does not match its checksum"), HasSubstr("revision "),
                      HasSubstr("default/")));
  }
}

// However checksums are worked out: those on disk stay right.
TEST_F(SqliteStoreTest, ChecksumsAreThoseOfEarlierFiles) {
  MustOpen();
  RunSql(
      "INSERT INTO revisions VALUES "
      "(2, 'pods', 'default/a', '{\"kind\":\"Pod\"}', 0, 1000, 7592085985342906179)");
  EXPECT_NE(MustOpen()->Get("pods", "default/a"), nullptr);
}

TEST_F(SqliteStoreTest, AFileWithoutChecksumsGetsThem) {
  auto store = MustOpen();
  PutNext(*store, "pods", "default/a", "one");
  PutNext(*store, "pods", "default/b", "one");
  DeleteNext(*store, "pods", "default/b");
  store.reset();
  RunSql("ALTER TABLE revisions DROP COLUMN checksum");
  RunSql("PRAGMA user_version = 1");

  store = MustOpen();
  EXPECT_EQ(store->revision(), 4u);
  EXPECT_THAT(Keys(List(*store, "pods")), ElementsAre("default/a"));
  PutNext(*store, "pods", "default/c");
  store.reset();
  store = MustOpen();
  EXPECT_THAT(Keys(List(*store, "pods")), ElementsAre("default/a", "default/c"));
  store.reset();
  RunSql("UPDATE revisions SET value = replace(value, 'one', 'two') WHERE rev = 2");
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kDataLoss);
}

// The kernel refuses to let files grow beyond a limit, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(SqliteStoreTest, AFullDiskIsFatalAndLosesNothingAcknowledged) {
  auto store = MustOpen();
  std::vector<std::string> acknowledged;
  {
    const FileSizeLimit limit(256 * 1024);
    for (int i = 0; i < 400; ++i) {
      const std::string key = fmt::format("n{}", i);
      const EntryPtr entry = PutNext(*store, "nodes", key, std::string(1000, 'x'));
      store->WhenDurable(entry->revision, [&acknowledged, key] { acknowledged.push_back(key); });
      loop_.RunReady();
    }
    store.reset();
  }
  EXPECT_FALSE(fatal_.ok());
  EXPECT_THAT(std::string(Message(fatal_)), HasSubstr("store.db"));
  EXPECT_GT(acknowledged.size(), 10u);
  EXPECT_LT(acknowledged.size(), 400u);
  store = MustOpen();
  for (const std::string& key : acknowledged) ASSERT_NE(store->Get("nodes", key), nullptr) << key;
}

TEST_F(SqliteStoreTest, TheLogStaysBounded) {
  auto store = MustOpen();
  for (int i = 0; i < 400; ++i) {
    for (int j = 0; j < 50; ++j) PutNext(*store, "nodes", "n", std::string(4000, 'x'));
    loop_.RunReady();
  }
  EXPECT_LT(std::filesystem::file_size(path_ + "-wal"), 64u << 20) << "of 80 MB written";
}

}  // namespace
}  // namespace koord::apiserver::sqlite_file_test
