#include "scheduler/explain/decision_log.h"

namespace koord::scheduler {

DecisionLog::DecisionLog(const NodeTable& nodes, size_t capacity)
    : nodes_(nodes), entries_(capacity) {}

void DecisionLog::Remember(std::string_view uid, const Decision& decision, WallTime now) {
  Entry& entry = entries_[next_];
  if (++next_ == entries_.size()) next_ = 0;
  entry.uid.assign(uid);
  entry.node.assign(nodes_.name(decision.row));
  entry.total = decision.total;
  entry.feasible = decision.feasible;
  entry.evaluated = decision.evaluated;
  entry.at = now;
}

const DecisionLog::Entry* DecisionLog::Find(std::string_view uid) const {
  for (size_t i = 1; i <= entries_.size(); ++i) {
    const Entry& entry = entries_[(next_ + entries_.size() - i) % entries_.size()];
    if (entry.uid == uid) return &entry;
  }
  return nullptr;
}

}  // namespace koord::scheduler
