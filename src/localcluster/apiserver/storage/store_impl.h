#pragma once
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/scope.h"
#include "base/string_map.h"
#include "localcluster/apiserver/storage/announcer.h"
#include "localcluster/apiserver/storage/collection.h"
#include "localcluster/apiserver/storage/journal.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// The store: collections of versions, the log that ages them, and the wait for the journal between
// a write and its announcement. Without a journal every write is durable at once.
class StoreImpl final : public Store {
 public:
  StoreImpl(EventLoop& loop, Options options);
  ~StoreImpl() override;

  // Restores an earlier state: where its history starts, then the rows in revision order.
  // FinishLoad gives the revisions whose rows are of no use any more.
  void StartLoad(Revision compacted);
  Status Load(std::string_view resource, Entry entry, bool deleted, WallTime time);
  std::vector<Revision> FinishLoad();

  // Takes the writes to come.
  void SetJournal(std::unique_ptr<Journal> journal) { journal_ = std::move(journal); }
  Journal::Events journal_events();

  Revision revision() const override { return revision_; }
  Revision durable_revision() const override { return durable_; }
  Revision compacted_revision() const override { return compacted_; }
  Revision oldest_revision(std::string_view resource) const override;
  EntryPtr Get(std::string_view resource, std::string_view key) const override;
  Status Range(std::string_view resource, std::string_view prefix, std::string_view start,
               Revision at, const std::function<bool(const EntryPtr&)>& visit) const override;
  size_t Count(std::string_view resource, std::string_view prefix) const override;
  EntryPtr Put(std::string_view resource, Entry entry) override;
  EntryPtr Delete(std::string_view resource, Entry last) override;
  void WhenDurable(Revision revision, Task task) override;
  StatusOr<std::unique_ptr<Subscription>> Watch(std::string_view resource, Revision after,
                                                OnChanges on_changes) override;

 private:
  struct LogItem {
    Collection* collection;
    Revision revision;
    SteadyTime time;
    size_t bytes;  // that are kept for its sake
  };
  struct Waiter {
    Revision revision;
    Task task;
  };

  const Collection* Find(std::string_view resource) const;
  Collection& FindOrAdd(std::string_view resource);
  EntryPtr Write(std::string_view resource, Entry entry, bool deleted);
  void OnDurable(Revision revision);
  void OnFailed(const Status& status);

  void Log(Collection& collection, const Change& change, SteadyTime time);
  // History leaves when it is both too old and too much, or takes too many bytes, a bounded number
  // of changes a turn.
  bool OldestIsDue() const;
  void ScheduleCompaction();
  void CompactSome();

  EventLoop& loop_;
  Options options_;
  StringMap<std::unique_ptr<Collection>> collections_;
  std::deque<LogItem> log_;  // all changes of all collections, oldest first
  size_t log_bytes_ = 0;     // sum of what they keep
  Announcer announcer_;
  std::deque<Waiter> waiters_;  // by revision
  Revision revision_ = 1;
  Revision durable_ = 1;
  Revision compacted_ = 0;
  // The file does not say which resources changed before, so that none reaches back further.
  Revision loaded_from_ = 0;
  bool failed_ = false;
  std::vector<Revision> useless_rows_;  // while loading
  Timer compaction_;
  bool compacts_soon_ = false;
  Scope scope_;
  std::unique_ptr<Journal> journal_;  // ends first: it reads entries and calls back
};

}  // namespace koord::apiserver
