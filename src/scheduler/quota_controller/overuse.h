#pragma once
#include <vector>

#include "model/quota/quota_tree.h"
#include "scheduler/books/quota_book.h"

namespace koord::scheduler {

// The pods that have to go so that a quota uses no more than its runtime: the least important ones,
// and none that could stay. Those that say they may not be preempted stay. In the order in which
// they are evicted.
std::vector<const PodInfo*> OverUseVictims(const QuotaBook& book, const model::Quota& quota);

}  // namespace koord::scheduler
