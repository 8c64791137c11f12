#pragma once
#include <deque>
#include <string>

#include "base/event_loop.h"
#include "localcluster/apiserver/core/core.h"

namespace koord::apiserver {

// Forgets events some time after they were last written. Those that were in the store at the start
// live as long again.
class EventExpiry {
 public:
  explicit EventExpiry(Core& core);

 private:
  struct Pending {
    SteadyTime due;
    std::string key;
    Revision revision;  // written again since: not this one's turn
  };

  void Add(const Entry& entry);
  void Expire();

  Core& core_;
  ResourceInfoPtr info_;
  std::deque<Pending> pending_;
  Timer timer_;
};

}  // namespace koord::apiserver
