#include "localcluster/apiserver/storage/group_commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/asio_loop.h"
#include "base/virtual_loop.h"
#include "localcluster/apiserver/storage/store_testing.h"

namespace koord::apiserver::group_commit_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What reached the disk, and a gate in front of it.
struct FakeDisk {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = true;
  bool waiting = false;
  Status next_commit, next_compaction;
  std::vector<size_t> groups;
  std::vector<Revision> dropped;

  void SetOpen(bool value) {
    const std::lock_guard lock(mutex);
    open = value;
    changed.notify_all();
  }
  void AwaitWriter() {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(10), [this] { return waiting; }));
  }
};

class FakeFile final : public RevisionFile {
 public:
  explicit FakeFile(FakeDisk& disk) : disk_(disk) {}

  Status Commit(std::span<const Journal::Record> records) override {
    std::unique_lock lock(disk_.mutex);
    disk_.waiting = true;
    disk_.changed.notify_all();
    disk_.changed.wait(lock, [this] { return disk_.open; });
    disk_.waiting = false;
    disk_.groups.push_back(records.size());
    return std::exchange(disk_.next_commit, absl::OkStatus());
  }
  Status Compact(Revision, std::span<const Revision> dropped) override {
    const std::lock_guard lock(disk_.mutex);
    Status status = std::exchange(disk_.next_compaction, absl::OkStatus());
    if (status.ok()) disk_.dropped.insert(disk_.dropped.end(), dropped.begin(), dropped.end());
    return status;
  }

 private:
  FakeDisk& disk_;
};

Journal::Record RecordOf(Revision revision) {
  return {"nodes", std::make_shared<const Entry>(MakeEntry("n", revision)), false, WallTime()};
}

TEST(GroupCommitTest, WhatGathersDuringACommitSharesTheNextOne) {
  AsioLoop loop;
  FakeDisk disk;
  disk.open = false;
  std::vector<Revision> durable;
  GroupCommit journal(loop, std::make_unique<FakeFile>(disk),
                      {.durable =
                           [&](Revision revision) {
                             durable.push_back(revision);
                             if (revision == 12) loop.Stop();
                           },
                       .failed = {}},
                      /*own_thread=*/true);
  journal.Append(RecordOf(2));
  loop.context().poll();  // the end of a turn
  disk.AwaitWriter();
  for (Revision revision = 3; revision <= 12; ++revision) journal.Append(RecordOf(revision));
  loop.context().poll();
  EXPECT_THAT(durable, IsEmpty()) << "the disk has not answered";
  disk.SetOpen(true);
  loop.Schedule(10s, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_THAT(durable, ElementsAre(2, 12));
  EXPECT_THAT(disk.groups, ElementsAre(1, 10));
}

TEST(GroupCommitTest, EndingCommitsWhatWasAppended) {
  AsioLoop loop;
  FakeDisk disk;
  {
    GroupCommit journal(loop, std::make_unique<FakeFile>(disk),
                        {.durable = [](Revision) {}, .failed = {}}, /*own_thread=*/true);
    for (Revision revision = 2; revision <= 100; ++revision) journal.Append(RecordOf(revision));
  }
  size_t total = 0;
  for (const size_t group : disk.groups) total += group;
  EXPECT_EQ(total, 99u);
}

class GroupCommitOnLoopTest : public ::testing::Test {
 protected:
  VirtualLoop loop_;
  FakeDisk disk_;
  std::vector<Revision> durable_;
  std::vector<Status> failures_;
  GroupCommit journal_{loop_,
                       std::make_unique<FakeFile>(disk_),
                       {.durable = [this](Revision revision) { durable_.push_back(revision); },
                        .failed = [this](const Status& s) { failures_.push_back(s); }},
                       /*own_thread=*/false};
};

TEST_F(GroupCommitOnLoopTest, AFailureIsReportedOnceAndForGood) {
  journal_.Append(RecordOf(2));
  loop_.RunReady();
  disk_.next_commit = absl::UnavailableError("I/O error");
  journal_.Append(RecordOf(3));
  loop_.RunReady();
  journal_.Append(RecordOf(4));
  journal_.Compact(2, {2});
  loop_.RunReady();
  EXPECT_THAT(durable_, ElementsAre(2));
  EXPECT_EQ(failures_.size(), 1u);
  EXPECT_THAT(disk_.groups, ElementsAre(1, 1)) << "nothing is written after a failure";
  EXPECT_THAT(disk_.dropped, IsEmpty());
}

TEST_F(GroupCommitOnLoopTest, AFailedCompactionIsRetriedAndHarmless) {
  disk_.next_compaction = absl::UnavailableError("database is locked");
  journal_.Compact(5, {2, 3});
  loop_.RunReady();
  EXPECT_THAT(disk_.dropped, IsEmpty());
  journal_.Append(RecordOf(6));
  loop_.RunReady();
  EXPECT_THAT(durable_, ElementsAre(6));
  EXPECT_THAT(failures_, IsEmpty());
  journal_.Compact(7, {4});
  loop_.RunReady();
  EXPECT_THAT(disk_.dropped, ElementsAre(2, 3, 4));
}

TEST_F(GroupCommitOnLoopTest, ALongCompactionLetsWritesThrough) {
  std::vector<Revision> many(5000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = i;
  journal_.Compact(6000, many);
  journal_.Append(RecordOf(6001));
  loop_.RunReady(1);
  EXPECT_EQ(disk_.groups.size(), 1u);
  EXPECT_LT(disk_.dropped.size(), many.size());
  loop_.RunReady();
  EXPECT_EQ(disk_.dropped, many);
}

}  // namespace
}  // namespace koord::apiserver::group_commit_test
