#pragma once
#include <memory>

#include "scheduler/books/cpu_book.h"
#include "scheduler/books/reservation_book.h"

namespace koord::scheduler {

class GangBook;  // stands on the framework: scheduler/gangs/gang_book.h

// What is known of who holds what beyond amounts, shared by the plugins of all profiles. A book has
// facts and no policy, and derives them from the ledger's calls alone. Books hear of a pod before
// plugins do.
struct Books {
  Books(Ledger& ledger, ObjectCache<api::NodeResourceTopology>& node_topologies)
      : reservations(ledger), cpus(ledger, node_topologies) {}

  ReservationBook reservations;
  CpuBook cpus;
  // Who waits for whom. Made by the first plugin that places gangs (GangBook::Of): where there is
  // none, nobody keeps book of them.
  mutable std::shared_ptr<GangBook> gangs;
};

}  // namespace koord::scheduler
