#include "scheduler/queue/event_log.h"

#include <algorithm>

namespace koord::scheduler {

void EventLog::Enter(QueueEntry& entry) {
  entry.log_position = end();
  pods_.Append(entry);
}

void EventLog::Leave(QueueEntry& entry) {
  pods_.Remove(entry);
  Forget(pods_.empty() ? end() : pods_.first()->log_position);
}

void EventLog::Append(const ClusterEvent& event, WakeFilter filter) {
  if (!pods_.empty()) Push({event, std::move(filter)});
}

void EventLog::AppendFor(const QueueEntry& only, const ClusterEvent& event) {
  Push({event, {}, &only});
}

namespace {

Wake BestFor(const QueueEntry& entry) {
  const bool pending = std::any_of(entry.rejections.begin(), entry.rejections.end(),
                                   [](const Rejection& rejection) { return rejection.pending; });
  return pending ? Wake::kAtOnce : Wake::kAfterBackoff;
}

}  // namespace

Wake EventLog::Missed(const QueueEntry& entry) const {
  const Wake best = BestFor(entry);
  // Events that are no longer known may have been anything.
  Wake wake = entry.log_position < start_ ? Wake::kAfterBackoff : Wake::kNo;
  const size_t first = std::max(entry.log_position, start_) - start_;
  for (size_t i = first; i < records_.size() && wake < best; ++i) {
    const Record& record = records_[i];
    if (record.only != nullptr && record.only != &entry) continue;
    if (record.filter.Admits(entry)) wake = std::max(wake, WakeOf(entry, record.event));
  }
  return wake;
}

void EventLog::Push(Record record) {
  records_.push_back(std::move(record));
  if (records_.size() > limit_) Forget(start_ + 1);
}

void EventLog::Forget(uint64_t before) {
  while (start_ < before) {
    records_.pop_front();
    ++start_;
  }
}

}  // namespace koord::scheduler
