// Random operations on the store, compared with a model that is too simple to be wrong: the list of
// all writes ever made.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/random.h"
#include "base/virtual_loop.h"
#include "localcluster/apiserver/storage/store.h"
#include "localcluster/apiserver/storage/store_testing.h"

namespace koord::apiserver::store_model_test {
namespace {

constexpr const char* kResources[] = {"pods", "nodes", "leases.coordination.k8s.io"};

struct ModelWrite {
  Revision revision;
  std::string resource, key, value;
  bool deleted;
  SteadyTime time;
};

struct Model {
  std::vector<ModelWrite> writes;

  std::map<std::string, std::string> StateAt(std::string_view resource, Revision at) const {
    std::map<std::string, std::string> state;
    for (const ModelWrite& write : writes) {
      if (write.revision > at || write.resource != resource) continue;
      if (write.deleted) {
        state.erase(write.key);
      } else {
        state[write.key] = write.value;
      }
    }
    return state;
  }

  // "key=value" or "-key=last value" for each change.
  std::vector<std::string> ChangesAfter(std::string_view resource, Revision after) const {
    std::vector<std::string> changes;
    for (const ModelWrite& write : writes) {
      if (write.revision <= after || write.resource != resource) continue;
      changes.push_back(fmt::format("{}{}={}", write.deleted ? "-" : "", write.key, write.value));
    }
    return changes;
  }
};

struct ModelWatch {
  std::string resource;
  Revision after;
  std::vector<std::string> seen;
  std::unique_ptr<Store::Subscription> subscription;
};

class ModelRun {
 public:
  ModelRun(uint64_t seed, std::string path) : random_(seed), path_(std::move(path)) { Reopen(); }

  void Run(int operations) {
    for (int i = 0; i < operations && !::testing::Test::HasFailure(); ++i) Operate();
    Settle();
    CheckWatches();
    CheckSnapshots();
  }

 private:
  static constexpr Duration kHistory = 60s;
  static constexpr size_t kHistoryEvents = 40;

  void Reopen() {
    watches_.clear();
    store_.reset();
    Store::Options options{.path = path_,
                           .writer_thread = false,
                           .history = kHistory,
                           .history_events = kHistoryEvents};
    options.index = [](std::string_view resource, Entry& entry) {
      entry.labels = {{"resource", std::string(resource)}};
    };
    auto opened = Store::Open(loop_, std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = std::move(*opened);
    loaded_from_ = store_->compacted_revision();
  }

  void Operate() {
    const uint64_t dice = random_.Below(100);
    if (dice < 50) {
      Put();
    } else if (dice < 65) {
      Delete();
    } else if (dice < 72) {
      Watch();
    } else if (dice < 75) {
      if (!watches_.empty()) watches_.erase(watches_.begin() + random_.Below(watches_.size()));
    } else if (dice < 85) {
      CheckSnapshot(Resource(), RandomRevision());
    } else if (dice < 93) {
      loop_.RunReady();
    } else if (dice < 98) {
      loop_.Advance(std::chrono::seconds(random_.Below(40)));
    } else if (!path_.empty()) {
      Restart();
    }
  }

  std::string Resource() { return kResources[random_.Below(std::size(kResources))]; }
  std::string Key() { return fmt::format("ns{}/o{}", random_.Below(3), random_.Below(8)); }
  Revision RandomRevision() { return 1 + random_.Below(store_->revision()); }

  void Put() {
    const std::string resource = Resource();
    Note(resource, PutNext(*store_, resource, Key(), fmt::format("{}", random_())), false);
  }
  void Delete() {
    const std::string resource = Resource(), key = Key();
    if (store_->Get(resource, key)) Note(resource, DeleteNext(*store_, resource, key), true);
  }
  void Note(const std::string& resource, const EntryPtr& entry, bool deleted) {
    model_.writes.push_back(
        {entry->revision, resource, entry->key, entry->value, deleted, loop_.clock().Steady()});
  }

  void Watch() {
    auto watch = std::make_unique<ModelWatch>();
    watch->resource = Resource();
    watch->after = RandomRevision();
    auto subscription = store_->Watch(
        watch->resource, watch->after, [watch = watch.get()](std::span<const ChangePtr> changes) {
          for (const ChangePtr& c : changes) {
            const Entry& entry = c->after ? *c->after : *c->before;
            watch->seen.push_back(fmt::format("{}{}={}", c->after ? "" : "-", c->key, entry.value));
          }
        });
    ASSERT_EQ(subscription.ok(), watch->after >= OldestOf(watch->resource));
    if (!subscription.ok()) return;
    watch->subscription = std::move(*subscription);
    watches_.push_back(std::move(watch));
  }

  // The resource's last change that is forgotten, or where the file began when it was opened.
  Revision OldestOf(std::string_view resource) const {
    Revision oldest = loaded_from_;
    for (const ModelWrite& write : model_.writes) {
      if (write.revision > store_->compacted_revision()) break;
      if (write.resource == resource) oldest = std::max(oldest, write.revision);
    }
    return oldest;
  }

  void CheckSnapshot(const std::string& resource, Revision at) {
    std::map<std::string, std::string> state;
    const std::string prefix = random_.Chance(0.5) ? fmt::format("ns{}/", random_.Below(3)) : "";
    const Status status = store_->Range(resource, prefix, "", at, [&](const EntryPtr& entry) {
      EXPECT_LE(entry->revision, at);
      state[entry->key] = entry->value;
      return true;
    });
    ASSERT_EQ(status.ok(), at >= OldestOf(resource));
    if (!status.ok()) return;
    auto expected = model_.StateAt(resource, at);
    std::erase_if(expected, [&](const auto& item) { return !item.first.starts_with(prefix); });
    ASSERT_EQ(state, expected) << resource << " at " << at;
    if (at == store_->revision()) {
      ASSERT_EQ(store_->Count(resource, prefix), expected.size());
    }
  }

  void Restart() {
    loop_.RunReady();
    const Revision revision = store_->revision();
    Reopen();
    ASSERT_EQ(store_->revision(), revision);
    ASSERT_EQ(store_->durable_revision(), revision);
    CheckSnapshots();
    for (const char* resource : kResources) {
      for (const EntryPtr& entry : List(*store_, resource)) {
        ASSERT_EQ(entry->labels.size(), 1u);
        ASSERT_EQ(entry->labels[0].second, resource);
      }
    }
  }

  void CheckSnapshots() {
    for (const char* resource : kResources) {
      for (Revision at = std::max<Revision>(1, store_->compacted_revision());
           at <= store_->revision(); at += 1 + random_.Below(5)) {
        CheckSnapshot(resource, at);
      }
      CheckSnapshot(resource, store_->revision());
    }
  }

  void CheckWatches() {
    for (const auto& watch : watches_) {
      ASSERT_EQ(watch->seen, model_.ChangesAfter(watch->resource, watch->after));
    }
  }

  // Lets everything become durable, announced and, where due, compacted.
  void Settle() {
    loop_.RunReady();
    CheckCompaction();
    loop_.Advance(kHistory + 5s);
    const size_t kept = static_cast<size_t>(std::count_if(
        model_.writes.begin(), model_.writes.end(),
        [&](const ModelWrite& write) { return write.revision > store_->compacted_revision(); }));
    EXPECT_EQ(kept, std::min(model_.writes.size(), kHistoryEvents));
  }
  void CheckCompaction() {
    for (size_t i = 0; i < model_.writes.size(); ++i) {
      if (model_.writes[i].revision > store_->compacted_revision()) break;
      EXPECT_GE(model_.writes.size() - 1 - i, kHistoryEvents);
      EXPECT_LE(model_.writes[i].time + kHistory, loop_.clock().Steady());
    }
  }

  Random random_;
  std::string path_;
  VirtualLoop loop_;
  Model model_;
  std::unique_ptr<Store> store_;
  Revision loaded_from_ = 0;
  std::vector<std::unique_ptr<ModelWatch>> watches_;
};

TEST(StoreModelTest, InMemoryAgreesWithTheModel) {
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ModelRun(seed, "").Run(400);
  }
}

TEST(StoreModelTest, OnDiskAgreesWithTheModelOverRestarts) {
  for (uint64_t seed = 0; seed < 15 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const TempDir dir;
    ModelRun(seed, dir.File("store.db")).Run(250);
  }
}

}  // namespace
}  // namespace koord::apiserver::store_model_test
