#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "localcluster/apiserver/storage/file_lock.h"
#include "localcluster/apiserver/storage/revision_file.h"
#include "localcluster/apiserver/storage/sqlite.h"

namespace koord::apiserver {

// The store's database: a table to which every write adds a row, so that history and the revision
// survive restarts, and a note of how far history has been compacted. Every row has a checksum: one
// that a failing disk or a stranger has changed is refused, not served.
//
// Written ahead (WAL) and synced at every commit. The database is opened exclusively: no reader
// from outside can keep the log from being folded back into the database, which bounds its size.
class SqliteFile final : public RevisionFile {
 public:
  // Refuses files of others, of a newer version and those in use, with an error that says which.
  static StatusOr<std::unique_ptr<SqliteFile>> Open(const std::string& path);

  struct Row {
    std::string_view resource;
    Entry entry;  // without labels and fields
    bool deleted = false;
    WallTime time;
  };
  // Visits all rows in revision order.
  Status Load(const std::function<Status(Row)>& visit);
  Revision compacted() const { return compacted_; }

  Status Commit(std::span<const Journal::Record> records) override;
  Status Compact(Revision compacted, std::span<const Revision> dropped) override;

 private:
  SqliteFile(std::string path, FileLock lock, SqlDatabase database);

  Status Prepare();
  Status CheckOwner();
  Status CreateTables();
  // Brings a file of the layout before checksums up to date.
  Status AddChecksums();
  Status LoadCompacted();
  // Runs `body` in a transaction that is rolled back if anything fails.
  Status Transact(const std::function<Status()>& body);

  std::string path_;
  FileLock lock_;
  SqlDatabase database_;
  struct Statements {
    SqlStatement begin, commit, rollback, insert, remove, set_compacted;
  };
  std::unique_ptr<Statements> statements_;
  Revision compacted_ = 0;
};

}  // namespace koord::apiserver
