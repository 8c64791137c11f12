#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "localcluster/apiserver/storage/group_commit.h"
#include "localcluster/apiserver/storage/sqlite_file.h"
#include "localcluster/apiserver/storage/store_impl.h"

namespace koord::apiserver {
namespace {

// One turn of compaction stays well below a millisecond.
constexpr size_t kCompactAtOnce = 1000;
// Steady writes cost one compaction for many changes: an old history waits a little, and of one
// that takes too many bytes an eighth goes together.
constexpr Duration kCompactionPause = 1s;
constexpr Duration kShortCompactionPause = std::chrono::milliseconds(100);
constexpr size_t ShrunkBytes(size_t bytes) { return bytes - bytes / 8; }

// What an entry takes in memory, roughly, the structures that hold it included. On disk it is less.
size_t BytesOf(const Entry& entry) {
  constexpr size_t kHolders = 128;
  size_t bytes = sizeof(Entry) + kHolders + entry.key.size() + entry.value.size();
  for (const auto* texts : {&entry.labels, &entry.fields}) {
    for (const auto& [name, value] : *texts) {
      bytes += sizeof(std::pair<std::string, std::string>) + name.size() + value.size();
    }
  }
  return bytes;
}

// What could be forgotten with the change: the state before it and, of a deletion, that after it.
size_t BytesKeptFor(const Change& change) {
  const size_t before = change.before == nullptr ? 0 : BytesOf(*change.before);
  return sizeof(Change) + change.key.size() + (change.after == nullptr ? 2 * before : before);
}

// The callers' side of the contract: breaking it would corrupt the state for everyone.
void Require(bool holds, std::string_view what, std::string_view key) {
  if (holds) return;
  LOG_ERROR("The store was misused", {"problem", what}, {"key", key});
  std::abort();
}

}  // namespace

StoreImpl::StoreImpl(EventLoop& loop, Options options)
    : loop_(loop), options_(std::move(options)), announcer_(loop), compaction_(loop) {
  announcer_.SetAnnounced(revision_);
}

StoreImpl::~StoreImpl() = default;

const Collection* StoreImpl::Find(std::string_view resource) const {
  const auto it = collections_.find(resource);
  return it == collections_.end() ? nullptr : it->second.get();
}

Collection& StoreImpl::FindOrAdd(std::string_view resource) {
  const auto it = collections_.find(resource);
  if (it != collections_.end()) return *it->second;
  auto collection = std::make_unique<Collection>(std::string(resource));
  return *collections_.emplace(std::string(resource), std::move(collection)).first->second;
}

EntryPtr StoreImpl::Get(std::string_view resource, std::string_view key) const {
  const Collection* collection = Find(resource);
  return collection == nullptr ? nullptr : collection->Get(key);
}

size_t StoreImpl::Count(std::string_view resource, std::string_view prefix) const {
  const Collection* collection = Find(resource);
  return collection == nullptr ? 0 : collection->Count(prefix);
}

Revision StoreImpl::oldest_revision(std::string_view resource) const {
  const Collection* collection = Find(resource);
  return std::max(loaded_from_, collection == nullptr ? 0 : collection->forgotten());
}

Status StoreImpl::Range(std::string_view resource, std::string_view prefix, std::string_view start,
                        Revision at, const std::function<bool(const EntryPtr&)>& visit) const {
  if (const Revision oldest = oldest_revision(resource); at != 0 && at < oldest) {
    return absl::OutOfRangeError(
        fmt::format("revision {} is gone: history starts at {}", at, oldest));
  }
  if (at > revision_) {
    return absl::OutOfRangeError(
        fmt::format("revision {} is in the future: now is {}", at, revision_));
  }
  if (const Collection* collection = Find(resource)) {
    collection->Range(prefix, start, at == revision_ ? 0 : at, visit);
  }
  return absl::OkStatus();
}

EntryPtr StoreImpl::Put(std::string_view resource, Entry entry) {
  return Write(resource, std::move(entry), false);
}

EntryPtr StoreImpl::Delete(std::string_view resource, Entry last) {
  return Write(resource, std::move(last), true);
}

EntryPtr StoreImpl::Write(std::string_view resource, Entry entry, bool deleted) {
  Require(entry.revision == revision_ + 1, "a write must carry the next revision", entry.key);
  Collection& collection = FindOrAdd(resource);
  const auto stored = std::make_shared<const Entry>(std::move(entry));
  Require(!deleted || collection.Get(stored->key) != nullptr, "deleted what does not exist",
          stored->key);
  revision_ = stored->revision;
  ChangePtr change = deleted ? collection.Delete(stored) : collection.Put(stored);
  Log(collection, *change, loop_.clock().Steady());
  announcer_.Add(resource, std::move(change));
  ScheduleCompaction();
  if (journal_ != nullptr) {
    journal_->Append({collection.name(), stored, deleted, loop_.clock().Now()});
  } else {
    durable_ = revision_;
    announcer_.AnnounceSoon(durable_);
  }
  return stored;
}

void StoreImpl::WhenDurable(Revision revision, Task task) {
  if (revision <= durable_) return task();
  if (failed_) return;
  const auto place =
      std::upper_bound(waiters_.begin(), waiters_.end(), revision,
                       [](Revision value, const Waiter& w) { return value < w.revision; });
  waiters_.insert(place, {revision, std::move(task)});
}

StatusOr<std::unique_ptr<Store::Subscription>> StoreImpl::Watch(std::string_view resource,
                                                                Revision after,
                                                                OnChanges on_changes) {
  if (const Revision oldest = oldest_revision(resource); after < oldest || after > revision_) {
    return absl::OutOfRangeError(fmt::format("too old resource version: {} ({})", after, oldest));
  }
  const Revision announced = announcer_.announced();
  std::vector<ChangePtr> missed = FindOrAdd(resource).Changes(after, announced);
  return announcer_.Add(resource, after, std::move(missed), std::move(on_changes));
}

Journal::Events StoreImpl::journal_events() {
  return {.durable = scope_.Wrap([this](Revision revision) { OnDurable(revision); }),
          .failed = scope_.Wrap([this](const Status& status) { OnFailed(status); })};
}

void StoreImpl::OnDurable(Revision revision) {
  if (failed_ || revision <= durable_) return;
  durable_ = revision;
  while (!waiters_.empty() && waiters_.front().revision <= durable_) {
    Task task = std::move(waiters_.front().task);
    waiters_.pop_front();
    task();
  }
  announcer_.Announce(durable_);
}

void StoreImpl::OnFailed(const Status& status) {
  if (std::exchange(failed_, true)) return;
  LOG_ERROR("The store cannot write to its disk; nothing is acknowledged any more",
            {"path", options_.path}, {"err", status});
  waiters_.clear();
  if (options_.on_fatal) options_.on_fatal(status);
}

void StoreImpl::Log(Collection& collection, const Change& change, SteadyTime time) {
  log_.push_back({&collection, change.revision, time, BytesKeptFor(change)});
  log_bytes_ += log_.back().bytes;
}

bool StoreImpl::OldestIsDue() const {
  if (log_.empty() || log_.front().revision > announcer_.announced()) return false;
  if (log_bytes_ > ShrunkBytes(options_.history_bytes)) return true;
  return log_.size() > options_.history_events &&
         log_.front().time + options_.history <= loop_.clock().Steady();
}

void StoreImpl::ScheduleCompaction() {
  const auto compact = [this] { CompactSome(); };
  if (log_bytes_ > options_.history_bytes) {
    if (!std::exchange(compacts_soon_, true)) compaction_.Set(kShortCompactionPause, compact);
    return;
  }
  if (compaction_.pending() || log_.size() <= options_.history_events) return;
  const Duration left = log_.front().time + options_.history - loop_.clock().Steady();
  compaction_.Set(std::max(left, kCompactionPause), compact);
}

void StoreImpl::CompactSome() {
  compacts_soon_ = false;
  std::vector<Revision> dropped;
  size_t count = 0;
  for (; count < kCompactAtOnce && OldestIsDue(); ++count) {
    const LogItem& oldest = log_.front();
    compacted_ = oldest.revision;
    log_bytes_ -= oldest.bytes;
    oldest.collection->ForgetOldest(dropped);
    log_.pop_front();
  }
  if (journal_ != nullptr && count > 0) journal_->Compact(compacted_, std::move(dropped));
  if (OldestIsDue()) {
    compacts_soon_ = true;
    compaction_.Set(Duration::zero(), [this] { CompactSome(); });
  } else {
    ScheduleCompaction();
  }
}

void StoreImpl::StartLoad(Revision compacted) {
  compacted_ = loaded_from_ = compacted;
  revision_ = std::max(revision_, compacted);
}

Status StoreImpl::Load(std::string_view resource, Entry entry, bool deleted, WallTime time) {
  Collection& collection = FindOrAdd(resource);
  if (deleted && collection.Get(entry.key) == nullptr) {
    if (entry.revision > compacted_) {
      return absl::DataLossError(
          fmt::format("the store {} is damaged: revision {} deletes {} {}, which does not exist",
                      Quote(options_.path), entry.revision, resource, Quote(entry.key)));
    }
    useless_rows_.push_back(entry.revision);
    return absl::OkStatus();
  }
  if (options_.index) options_.index(resource, entry);
  const auto stored = std::make_shared<const Entry>(std::move(entry));
  const ChangePtr change = deleted ? collection.Delete(stored) : collection.Put(stored);
  if (stored->revision <= compacted_) {
    collection.ForgetOldest(useless_rows_);
    return absl::OkStatus();
  }
  revision_ = stored->revision;
  const Duration age = std::max<Duration>(loop_.clock().Now() - time, Duration::zero());
  Log(collection, *change, loop_.clock().Steady() - age);
  return absl::OkStatus();
}

std::vector<Revision> StoreImpl::FinishLoad() {
  durable_ = revision_;
  announcer_.SetAnnounced(revision_);
  ScheduleCompaction();
  return std::exchange(useless_rows_, {});
}

namespace {

StatusOr<std::unique_ptr<Store>> OpenFile(EventLoop& loop, Store::Options options) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteFile> file, SqliteFile::Open(options.path));
  auto store = std::make_unique<StoreImpl>(loop, options);
  const Revision compacted = file->compacted();
  store->StartLoad(compacted);
  RETURN_IF_ERROR(file->Load([&](SqliteFile::Row row) {
    return store->Load(row.resource, std::move(row.entry), row.deleted, row.time);
  }));
  std::vector<Revision> useless_rows = store->FinishLoad();
  auto journal = std::make_unique<GroupCommit>(loop, std::move(file), store->journal_events(),
                                               options.writer_thread);
  journal->Compact(compacted, std::move(useless_rows));
  store->SetJournal(std::move(journal));
  return store;
}

}  // namespace

StatusOr<std::unique_ptr<Store>> Store::Open(EventLoop& loop, Options options) {
  if (!options.path.empty()) return OpenFile(loop, std::move(options));
  return std::make_unique<StoreImpl>(loop, std::move(options));
}

}  // namespace koord::apiserver
