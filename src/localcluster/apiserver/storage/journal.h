#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// Where a store's writes go so that they survive.
class Journal {
 public:
  struct Record {
    std::string_view resource;  // outlives the journal
    EntryPtr entry;
    bool deleted = false;
    WallTime time;
  };

  // Both are called on the loop, never from inside a call of the journal.
  struct Events {
    std::function<void(Revision)> durable;      // everything up to here would survive a power cut
    std::function<void(const Status&)> failed;  // once; nothing becomes durable any more
  };

  // Commits what has been appended, unless the journal has failed.
  virtual ~Journal() = default;

  // Returns at once. Records come in revision order and become durable in that order.
  virtual void Append(Record record) = 0;

  // History up to `compacted` is over, and the rows of the `dropped` revisions with it. Happens
  // some time later; a failure is retried, never reported as a lost write.
  virtual void Compact(Revision compacted, std::vector<Revision> dropped) = 0;
};

}  // namespace koord::apiserver
