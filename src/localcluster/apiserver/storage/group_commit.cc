#include "localcluster/apiserver/storage/group_commit.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace koord::apiserver {
namespace {

// Bounds how long one commit takes, and how far it makes the write-ahead log grow.
constexpr size_t kRecordsAtOnce = 4096;
constexpr size_t kDropsAtOnce = 1000;

// Moves at most `count` items off the front.
template <class T>
std::vector<T> Take(std::vector<T>& items, size_t count) {
  if (items.size() <= count) return std::exchange(items, {});
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<T> taken(std::make_move_iterator(items.begin()), std::make_move_iterator(end));
  items.erase(items.begin(), end);
  return taken;
}

}  // namespace

GroupCommit::GroupCommit(EventLoop& loop, std::unique_ptr<RevisionFile> file, Events events,
                         bool own_thread)
    : loop_(loop),
      file_(std::move(file)),
      events_(std::make_shared<const Events>(std::move(events))),
      own_thread_(own_thread) {
  if (own_thread_) thread_ = std::thread([this] { WriteUntilStopped(); });
}

GroupCommit::~GroupCommit() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  wake_.notify_one();
  if (own_thread_) {
    lock.unlock();
    thread_.join();
  } else {
    while (!queue_.empty()) WriteSome(lock);
  }
}

void GroupCommit::Append(Record record) {
  const std::lock_guard lock(mutex_);
  if (failed_) return;
  queue_.push_back(std::move(record));
  Wake();
}

void GroupCommit::Compact(Revision compacted, std::vector<Revision> dropped) {
  const std::lock_guard lock(mutex_);
  if (failed_) return;
  compacted_ = std::max(compacted_, compacted);
  dropped_.insert(dropped_.end(), dropped.begin(), dropped.end());
  retry_compaction_later_ = false;
  Wake();
}

bool GroupCommit::has_work() const {
  return !queue_.empty() || (!dropped_.empty() && !retry_compaction_later_);
}

void GroupCommit::Wake() {
  if (writing_ || std::exchange(task_posted_, true)) return;
  loop_.Post(scope_.Wrap([this] {
    std::unique_lock lock(mutex_);
    task_posted_ = false;
    if (own_thread_) return wake_.notify_one();
    WriteSome(lock);
    if (has_work()) Wake();
  }));
}

void GroupCommit::WriteUntilStopped() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || has_work(); });
    // Rows that are not removed now are found again at the next start.
    if (stopping_ && queue_.empty()) return;
    writing_ = true;
    WriteSome(lock);
    writing_ = false;
  }
}

void GroupCommit::WriteSome(std::unique_lock<std::mutex>& lock) {
  const std::vector<Record> records = Take(queue_, kRecordsAtOnce);
  if (!records.empty()) {
    lock.unlock();
    const Status status = file_->Commit(records);
    if (status.ok()) ReportDurable(records.back().entry->revision);
    lock.lock();
    if (!status.ok()) {
      failed_ = true;
      queue_.clear();
      dropped_.clear();
      ReportFailure(status);
    }
  }
  if (!dropped_.empty() && !retry_compaction_later_ && !stopping_) CompactSome(lock);
}

void GroupCommit::CompactSome(std::unique_lock<std::mutex>& lock) {
  const Revision compacted = compacted_;
  std::vector<Revision> dropped = Take(dropped_, kDropsAtOnce);
  lock.unlock();
  const Status status = file_->Compact(compacted, dropped);
  lock.lock();
  if (status.ok()) return;
  LOG_WARNING("Cannot remove old revisions from the store; will retry", {"err", status});
  dropped_.insert(dropped_.begin(), dropped.begin(), dropped.end());
  retry_compaction_later_ = true;
}

void GroupCommit::ReportDurable(Revision revision) {
  loop_.Post([events = events_, revision] { events->durable(revision); });
}

void GroupCommit::ReportFailure(const Status& status) {
  loop_.Post([events = events_, status] { events->failed(status); });
}

}  // namespace koord::apiserver
