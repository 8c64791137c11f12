#pragma once
#include "scheduler/books/reservation_book.h"

namespace koord::scheduler {

// What is known of who holds what beyond amounts, shared by the plugins of all profiles. A book has
// facts and no policy, and derives them from the ledger's calls alone. Books hear of a pod before
// plugins do.
struct Books {
  explicit Books(Ledger& ledger) : reservations(ledger) {}

  ReservationBook reservations;
};

}  // namespace koord::scheduler
