#include "localcluster/apiserver/storage/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/virtual_loop.h"
#include "localcluster/apiserver/storage/store_impl.h"
#include "localcluster/apiserver/storage/store_testing.h"

namespace koord::apiserver::store_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreTest : public ::testing::Test {
 protected:
  void Open(Store::Options options = {}) { store_ = *Store::Open(loop_, std::move(options)); }

  // "default/a@3" for each change, "-" before deletions; calls are separated by "|".
  std::unique_ptr<Store::Subscription> Watch(std::string_view resource, Revision after,
                                             std::string& seen) {
    auto watch = store_->Watch(resource, after, [&seen](std::span<const ChangePtr> changes) {
      if (!seen.empty()) seen += "|";
      for (const ChangePtr& change : changes) {
        seen += fmt::format(" {}{}@{}", change->after ? "" : "-", change->key, change->revision);
      }
    });
    EXPECT_TRUE(watch.ok()) << watch.status();
    return watch.ok() ? std::move(*watch) : nullptr;
  }

  VirtualLoop loop_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreTest, AnEmptyStoreIsAtRevisionOne) {
  Open();
  EXPECT_EQ(store_->revision(), 1u);
  EXPECT_EQ(store_->Get("pods", "default/a"), nullptr);
  EXPECT_THAT(List(*store_, "pods"), IsEmpty());
  EXPECT_EQ(store_->Count("pods", ""), 0u);
}

TEST_F(StoreTest, EveryWriteMovesTheOneRevisionOfAllResources) {
  Open();
  EXPECT_EQ(PutNext(*store_, "pods", "default/a")->revision, 2u);
  EXPECT_EQ(PutNext(*store_, "nodes", "n")->revision, 3u);
  EXPECT_EQ(DeleteNext(*store_, "pods", "default/a")->revision, 4u);
  EXPECT_EQ(store_->revision(), 4u);
  EXPECT_EQ(store_->Get("pods", "default/a"), nullptr);
  EXPECT_EQ(store_->Get("nodes", "n")->revision, 3u);
}

TEST_F(StoreTest, ListsInKeyOrderFromAStartWithinAPrefix) {
  Open();
  for (const char* key : {"b/2", "a/1", "b/10", "ab/1", "b/1", "c/1"})
    PutNext(*store_, "pods", key);
  EXPECT_THAT(Keys(List(*store_, "pods")), ElementsAre("a/1", "ab/1", "b/1", "b/10", "b/2", "c/1"));
  EXPECT_THAT(Keys(List(*store_, "pods", "b/")), ElementsAre("b/1", "b/10", "b/2"));
  EXPECT_EQ(store_->Count("pods", "b/"), 3u);
  EXPECT_EQ(store_->Count("pods", ""), 6u);

  std::vector<std::string> page;
  const auto two = [&](const EntryPtr& entry) {
    page.push_back(entry->key);
    return page.size() < 2;
  };
  ASSERT_TRUE(store_->Range("pods", "b/", std::string_view("b/1\0", 4), 0, two).ok());
  EXPECT_THAT(page, ElementsAre("b/10", "b/2"));
}

TEST_F(StoreTest, PagesOfOneSnapshotDoNotSeeLaterWrites) {
  Open();
  for (const char* key : {"d/a", "d/b", "d/c", "d/e"}) PutNext(*store_, "pods", key, "old");
  const Revision snapshot = store_->revision();
  DeleteNext(*store_, "pods", "d/b");
  PutNext(*store_, "pods", "d/c", "new");
  PutNext(*store_, "pods", "d/d");
  DeleteNext(*store_, "pods", "d/e");
  PutNext(*store_, "pods", "d/e", "again");

  const auto then = List(*store_, "pods", "d/", snapshot);
  EXPECT_THAT(Keys(then), ElementsAre("d/a", "d/b", "d/c", "d/e"));
  for (const EntryPtr& entry : then) EXPECT_THAT(entry->value, ::testing::HasSubstr("old"));
  EXPECT_THAT(Keys(List(*store_, "pods", "d/", snapshot + 1)), ElementsAre("d/a", "d/c", "d/e"));
  EXPECT_THAT(Keys(List(*store_, "pods")), ElementsAre("d/a", "d/c", "d/d", "d/e"));
}

TEST_F(StoreTest, AFutureRevisionIsOutOfRange) {
  Open();
  EXPECT_EQ(store_->Range("pods", "", "", 2, [](const auto&) { return true; }).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(store_->Watch("pods", 2, [](auto) {}).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(StoreTest, AWatcherSeesEachChangeOnceAndInOrder) {
  Open();
  PutNext(*store_, "pods", "default/a");
  std::string seen;
  const auto watch = Watch("pods", 1, seen);
  PutNext(*store_, "nodes", "n");
  PutNext(*store_, "pods", "default/b");
  EXPECT_EQ(seen, "") << "nothing arrives from inside a call";
  loop_.RunReady();
  EXPECT_EQ(seen, " default/a@2 default/b@4");
  seen.clear();
  PutNext(*store_, "pods", "default/a");
  DeleteNext(*store_, "pods", "default/b");
  loop_.RunReady();
  EXPECT_EQ(seen, " default/a@5 -default/b@6");
}

TEST_F(StoreTest, ALateWatcherGetsHistoryFirst) {
  Open();
  for (const char* key : {"a", "b", "c"}) PutNext(*store_, "nodes", key);
  loop_.RunReady();
  std::string seen;
  const auto watch = Watch("nodes", 2, seen);
  PutNext(*store_, "nodes", "d");
  loop_.RunReady();
  EXPECT_EQ(seen, " b@3 c@4| d@5");
}

TEST_F(StoreTest, AChangeCarriesBothStates) {
  Open();
  std::vector<ChangePtr> changes;
  const auto watch = store_->Watch("nodes", 1, [&](std::span<const ChangePtr> batch) {
    changes.assign(batch.begin(), batch.end());
  });
  const EntryPtr created = PutNext(*store_, "nodes", "n");
  const EntryPtr updated = PutNext(*store_, "nodes", "n");
  const EntryPtr deleted = DeleteNext(*store_, "nodes", "n");
  loop_.RunReady();
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0]->before, nullptr);
  EXPECT_EQ(changes[0]->after, created);
  EXPECT_EQ(changes[1]->before, created);
  EXPECT_EQ(changes[1]->after, updated);
  EXPECT_EQ(changes[2]->before, deleted);
  EXPECT_EQ(changes[2]->after, nullptr);
  EXPECT_EQ(changes[2]->before->revision, 4u);
}

TEST_F(StoreTest, AWatchEndsWithItsSubscription) {
  Open();
  std::string seen;
  auto watch = Watch("nodes", 1, seen);
  PutNext(*store_, "nodes", "n");
  watch.reset();
  loop_.RunReady();
  EXPECT_EQ(seen, "");
}

TEST_F(StoreTest, WatchersMayWriteWatchAndEndFromInsideACall) {
  Open();
  std::string first, second, third;
  std::unique_ptr<Store::Subscription> own, victim, added;
  victim = Watch("nodes", 1, second);
  own = *store_->Watch("pods", 1, [&](std::span<const ChangePtr> changes) {
    first += fmt::format("{};", changes.size());
    PutNext(*store_, "nodes", "more");
    victim.reset();
    added = Watch("nodes", 1, third);
    own.reset();
  });
  PutNext(*store_, "pods", "d/a");
  PutNext(*store_, "nodes", "n");
  PutNext(*store_, "pods", "d/b");
  loop_.RunReady();
  EXPECT_EQ(first, "2;");
  EXPECT_EQ(second, "");
  EXPECT_EQ(third, " n@3| more@5");
}

TEST_F(StoreTest, AWatcherAddedWhileOthersCatchUpKeepsItsOrder) {
  Open();
  PutNext(*store_, "nodes", "a");
  loop_.RunReady();
  std::string inner;
  std::unique_ptr<Store::Subscription> added;
  const auto outer = store_->Watch("nodes", 1, [&](auto) {
    if (!added) added = Watch("nodes", 1, inner);
  });
  PutNext(*store_, "nodes", "b");
  loop_.RunReady();
  EXPECT_EQ(inner, " a@2 b@3");
}

TEST_F(StoreTest, HistoryLeavesOnlyWhenBothOldAndMuch) {
  Open({.history = 5min, .history_events = 3});
  for (int i = 0; i < 6; ++i) PutNext(*store_, "nodes", "n");  // revisions 2..7
  loop_.Advance(4min);
  EXPECT_EQ(store_->compacted_revision(), 0u) << "much, but not old";
  loop_.Advance(2min);
  EXPECT_EQ(store_->compacted_revision(), 4u) << "keeps the last three";
  loop_.Advance(1h);
  EXPECT_EQ(store_->compacted_revision(), 4u) << "old, but not much";
}

TEST_F(StoreTest, ReadsAndWatchesReachBackExactlyToTheCompactedRevision) {
  Open({.history = 5min, .history_events = 2});
  PutNext(*store_, "nodes", "a");     // 2
  PutNext(*store_, "nodes", "b");     // 3
  DeleteNext(*store_, "nodes", "a");  // 4
  PutNext(*store_, "nodes", "b");     // 5
  PutNext(*store_, "nodes", "c");     // 6
  loop_.Advance(6min);
  ASSERT_EQ(store_->compacted_revision(), 4u);

  EXPECT_THAT(Keys(List(*store_, "nodes", "", 3)), ElementsAre("<error>"));
  EXPECT_THAT(Keys(List(*store_, "nodes", "", 4)), ElementsAre("b"));
  EXPECT_EQ(List(*store_, "nodes", "", 4)[0]->revision, 3u);
  EXPECT_THAT(Keys(List(*store_, "nodes", "", 5)), ElementsAre("b"));
  EXPECT_THAT(Keys(List(*store_, "nodes")), ElementsAre("b", "c"));

  const auto expired = store_->Watch("nodes", 3, [](auto) {});
  EXPECT_EQ(expired.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Message(expired.status()), "too old resource version: 3 (4)");
  std::string seen;
  const auto watch = Watch("nodes", 4, seen);
  loop_.RunReady();
  EXPECT_EQ(seen, " b@5 c@6");
}

TEST_F(StoreTest, HistoryIsBoundedInBytesHoweverYoungItIs) {
  constexpr size_t kBound = 100'000;
  const std::string text(1000, 'x');
  Open({.history_bytes = kBound});
  const auto kept = [&](std::string_view resource) {
    size_t bytes = 0;
    for (Revision at = store_->compacted_revision() + 1; at < store_->revision(); ++at) {
      for (const EntryPtr& entry : List(*store_, resource, "", at)) bytes += entry->value.size();
    }
    return bytes;
  };
  for (int i = 0; i < 50; ++i) PutNext(*store_, "nodes", "n", text);
  loop_.Advance(1s);
  EXPECT_EQ(store_->compacted_revision(), 0u) << "within the bound nothing goes";
  for (int i = 0; i < 1000; ++i) PutNext(*store_, "nodes", "n", text);
  loop_.Advance(1s);
  EXPECT_LE(kept("nodes"), kBound);
  EXPECT_GE(kept("nodes"), kBound / 2) << "no more goes than must";
  EXPECT_THAT(Keys(List(*store_, "nodes", "", store_->compacted_revision() - 1)),
              ElementsAre("<error>"));
  EXPECT_FALSE(store_->Watch("nodes", store_->compacted_revision() - 1, [](auto) {}).ok());
  std::string seen;
  const auto watch = Watch("nodes", store_->revision() - 1, seen);
  loop_.RunReady();
  EXPECT_EQ(seen, fmt::format(" n@{}", store_->revision()));
}

TEST_F(StoreTest, WhatIsThereNowTakesNothingOfTheBoundOnHistory) {
  Open({.history_bytes = 100'000});
  for (int i = 0; i < 100; ++i) {
    PutNext(*store_, "nodes", fmt::format("n{}", i), std::string(10'000, 'x'));
  }
  loop_.Advance(1s);
  EXPECT_EQ(store_->compacted_revision(), 0u);
}

TEST_F(StoreTest, DeletedObjectsCountAsHistory) {
  Open({.history_bytes = 100'000});
  for (int i = 0; i < 300; ++i) {
    PutNext(*store_, "nodes", "n", std::string(1000, 'x'));
    DeleteNext(*store_, "nodes", "n");
  }
  loop_.Advance(1s);
  EXPECT_LT(store_->revision() - store_->compacted_revision(), 200u);
  EXPECT_GT(store_->revision() - store_->compacted_revision(), 50u);
}

TEST_F(StoreTest, ABusyResourceDoesNotCutOffAQuietOne) {
  Open({.history_bytes = 50'000});
  PutNext(*store_, "pods", "default/a");  // 2
  PutNext(*store_, "pods", "default/b");  // 3
  PutNext(*store_, "pods", "default/a");  // 4
  for (int i = 0; i < 300; ++i) PutNext(*store_, "leases", "n", std::string(1000, 'x'));
  loop_.Advance(1s);
  ASSERT_GT(store_->compacted_revision(), 4u);
  EXPECT_EQ(store_->oldest_revision("pods"), 4u);
  EXPECT_EQ(store_->oldest_revision("leases"), store_->compacted_revision());
  EXPECT_EQ(store_->oldest_revision("nodes"), 0u) << "there never was any";

  EXPECT_THAT(Keys(List(*store_, "pods", "", 4)), ElementsAre("default/a", "default/b"));
  EXPECT_THAT(Keys(List(*store_, "pods", "", 3)), ElementsAre("<error>"));
  std::string seen;
  const auto watch = Watch("pods", 4, seen);
  PutNext(*store_, "pods", "default/c");
  loop_.RunReady();
  EXPECT_EQ(seen, fmt::format(" default/c@{}", store_->revision()));
  EXPECT_EQ(Message(store_->Watch("pods", 3, [](auto) {}).status()),
            "too old resource version: 3 (4)");
}

TEST_F(StoreTest, AQuietStoreSetsNoTimers) {
  Open();
  PutNext(*store_, "nodes", "n");
  loop_.RunReady();
  EXPECT_FALSE(loop_.Step(24h));
}

// A disk that is done when the test says so.
class SlowJournal final : public Journal {
 public:
  SlowJournal(EventLoop& loop, Events events) : loop_(loop), events_(std::move(events)) {}
  void Append(Record record) override { written_ = record.entry->revision; }
  void Compact(Revision, std::vector<Revision>) override {}

  void Commit(Revision revision) {
    ASSERT_LE(revision, written_);
    loop_.Post([this, revision] { events_.durable(revision); });
  }
  void Fail() {
    loop_.Post([this] { events_.failed(absl::ResourceExhaustedError("disk full")); });
  }

 private:
  EventLoop& loop_;
  Events events_;
  Revision written_ = 0;
};

class SlowDiskTest : public StoreTest {
 protected:
  void SetUp() override {
    auto store = std::make_unique<StoreImpl>(
        loop_, Store::Options{.on_fatal = [this](const Status& status) { fatal_ = status; }});
    auto journal = std::make_unique<SlowJournal>(loop_, store->journal_events());
    disk_ = journal.get();
    store->SetJournal(std::move(journal));
    store_ = std::move(store);
  }
  void AcknowledgeInto(std::string& acks, Revision revision) {
    store_->WhenDurable(revision, [&acks, revision] { acks += fmt::format(" {}", revision); });
  }

  SlowJournal* disk_ = nullptr;
  Status fatal_;
};

TEST_F(SlowDiskTest, NothingIsAcknowledgedOrAnnouncedBeforeItsCommit) {
  std::string acks, seen;
  const auto watch = Watch("nodes", 1, seen);
  for (const char* key : {"a", "b", "c"})
    AcknowledgeInto(acks, PutNext(*store_, "nodes", key)->revision);
  AcknowledgeInto(acks, 1);
  AcknowledgeInto(acks, 3);
  loop_.Advance(1h);
  EXPECT_EQ(acks, " 1") << "what is on disk needs no wait";
  EXPECT_EQ(seen, "");
  EXPECT_EQ(store_->durable_revision(), 1u);
  EXPECT_NE(store_->Get("nodes", "c"), nullptr) << "the next write builds on it already";

  disk_->Commit(3);
  loop_.RunReady();
  EXPECT_EQ(acks, " 1 2 3 3");
  EXPECT_EQ(seen, " a@2 b@3");
  disk_->Commit(4);
  loop_.RunReady();
  EXPECT_EQ(acks, " 1 2 3 3 4");
  EXPECT_EQ(seen, " a@2 b@3| c@4");
}

TEST_F(SlowDiskTest, AWatchFromBetweenWaitsForTheDiskToo) {
  PutNext(*store_, "nodes", "a");
  PutNext(*store_, "nodes", "b");
  std::string from_two, from_three;
  const auto watch = Watch("nodes", 2, from_two);
  const auto late = Watch("nodes", 3, from_three);
  PutNext(*store_, "nodes", "c");
  disk_->Commit(2);
  loop_.RunReady();
  EXPECT_EQ(from_two, "");
  disk_->Commit(4);
  loop_.RunReady();
  EXPECT_EQ(from_two, " b@3 c@4");
  EXPECT_EQ(from_three, " c@4");
}

TEST_F(SlowDiskTest, AfterAFailureNothingIsAcknowledgedAnyMore) {
  std::string acks, seen;
  const auto watch = Watch("nodes", 1, seen);
  const auto token = std::make_shared<int>();
  AcknowledgeInto(acks, PutNext(*store_, "nodes", "a")->revision);
  PutNext(*store_, "nodes", "b");
  store_->WhenDurable(3, [token] {});
  disk_->Commit(2);
  disk_->Fail();
  disk_->Commit(3);
  loop_.RunReady();
  AcknowledgeInto(acks, 3);
  PutNext(*store_, "nodes", "c");
  loop_.Advance(1h);
  EXPECT_EQ(acks, " 2");
  EXPECT_EQ(seen, " a@2");
  EXPECT_EQ(fatal_.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(token.use_count(), 1) << "whoever waited is let go";
}

}  // namespace
}  // namespace koord::apiserver::store_test
