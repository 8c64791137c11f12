#pragma once
#include <span>

#include "localcluster/apiserver/storage/journal.h"

namespace koord::apiserver {

// The file behind a journal. Calls block until the disk is done and come from one thread at a time.
class RevisionFile {
 public:
  virtual ~RevisionFile() = default;

  // All of the records or, on failure, none; OK only when they would survive a power cut.
  virtual Status Commit(std::span<const Journal::Record> records) = 0;

  // Notes that history up to `compacted` is over and removes rows, in one transaction.
  virtual Status Compact(Revision compacted, std::span<const Revision> dropped) = 0;
};

}  // namespace koord::apiserver
