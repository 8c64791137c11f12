#include "localcluster/apiserver/storage/sqlite_file.h"

#include <utility>

#include "base/log.h"
#include "base/strings.h"

namespace koord::apiserver {
namespace {

// Marks the file as ours ("Koor") and tells the layout of its tables.
constexpr int64_t kApplicationId = 0x4b6f6f72;
constexpr int64_t kVersion = 1;

constexpr std::string_view kTables[] = {
    // `value` is the object as served; of a deletion, its last state. `time` is in nanoseconds.
    "CREATE TABLE revisions (rev INTEGER PRIMARY KEY, resource TEXT NOT NULL, key TEXT NOT NULL, "
    "value TEXT NOT NULL, deleted INTEGER NOT NULL, time INTEGER NOT NULL)",
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL)",
    "INSERT INTO meta VALUES ('compacted', 0)",
};

// The log is folded back every 16 MiB and cut to no more than 64 MiB.
constexpr std::string_view kSettings[] = {
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA wal_autocheckpoint = 4096",
    "PRAGMA journal_size_limit = 67108864",
};

}  // namespace

SqliteFile::SqliteFile(std::string path, FileLock lock, SqlDatabase database)
    : path_(std::move(path)), lock_(std::move(lock)), database_(std::move(database)) {}

StatusOr<std::unique_ptr<SqliteFile>> SqliteFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(FileLock lock, FileLock::Acquire(path + ".lock"));
  ASSIGN_OR_RETURN(SqlDatabase database, SqlDatabase::Open(path));
  std::unique_ptr<SqliteFile> file(new SqliteFile(path, std::move(lock), std::move(database)));
  RETURN_IF_ERROR(file->Prepare());
  return file;
}

Status SqliteFile::Prepare() {
  RETURN_IF_ERROR(database_.Execute("PRAGMA locking_mode = EXCLUSIVE"));
  RETURN_IF_ERROR(CheckOwner());
  for (const std::string_view setting : kSettings) RETURN_IF_ERROR(database_.Execute(setting));
  ASSIGN_OR_RETURN(const std::string mode, database_.Query("PRAGMA journal_mode"));
  if (mode != "wal") {
    return Unavailable("the store {} cannot keep a write-ahead log on its file system",
                       Quote(path_));
  }
  ASSIGN_OR_RETURN(SqlStatement begin, database_.Prepare("BEGIN IMMEDIATE"));
  ASSIGN_OR_RETURN(SqlStatement commit, database_.Prepare("COMMIT"));
  ASSIGN_OR_RETURN(SqlStatement rollback, database_.Prepare("ROLLBACK"));
  ASSIGN_OR_RETURN(const std::string tables, database_.Query("SELECT count(*) FROM sqlite_master"));
  if (tables == "0") RETURN_IF_ERROR(CreateTables());
  ASSIGN_OR_RETURN(SqlStatement insert,
                   database_.Prepare("INSERT INTO revisions VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  ASSIGN_OR_RETURN(SqlStatement remove, database_.Prepare("DELETE FROM revisions WHERE rev = ?1"));
  ASSIGN_OR_RETURN(
      SqlStatement set_compacted,
      database_.Prepare("UPDATE meta SET value = ?1 WHERE name = 'compacted' AND value < ?1"));
  statements_ = std::make_unique<Statements>(
      Statements{std::move(begin), std::move(commit), std::move(rollback), std::move(insert),
                 std::move(remove), std::move(set_compacted)});
  return LoadCompacted();
}

Status SqliteFile::CheckOwner() {
  ASSIGN_OR_RETURN(const std::string tables, database_.Query("SELECT count(*) FROM sqlite_master"));
  ASSIGN_OR_RETURN(const std::string owner, database_.Query("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const std::string version, database_.Query("PRAGMA user_version"));
  if (tables == "0" && owner == "0") return absl::OkStatus();
  if (ParseInt(owner) != kApplicationId) {
    return FailedPrecondition("{} is a database of another program", Quote(path_));
  }
  if (ParseInt(version) != kVersion) {
    return FailedPrecondition("the store {} has layout {}, and this program knows layout {} only",
                              Quote(path_), version, kVersion);
  }
  return absl::OkStatus();
}

Status SqliteFile::CreateTables() {
  RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
  RETURN_IF_ERROR(database_.Execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  RETURN_IF_ERROR(database_.Execute(fmt::format("PRAGMA user_version = {}", kVersion)));
  for (const std::string_view table : kTables) RETURN_IF_ERROR(database_.Execute(table));
  return database_.Execute("COMMIT");
}

Status SqliteFile::LoadCompacted() {
  ASSIGN_OR_RETURN(const std::string text,
                   database_.Query("SELECT value FROM meta WHERE name = 'compacted'"));
  const auto value = ParseUint(text);
  if (!value) {
    return absl::DataLossError(fmt::format("the store {} is damaged: its compacted revision is {}",
                                           Quote(path_), Quote(text)));
  }
  compacted_ = *value;
  return absl::OkStatus();
}

Status SqliteFile::Load(const std::function<Status(Row)>& visit) {
  ASSIGN_OR_RETURN(SqlStatement select,
                   database_.Prepare("SELECT rev, resource, key, value, deleted, time "
                                     "FROM revisions ORDER BY rev"));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return absl::OkStatus();
    if (!select.IsText(1) || !select.IsText(2) || !select.IsText(3) || !select.IsInt(4) ||
        !select.IsInt(5)) {
      return absl::DataLossError(fmt::format("the store {} is damaged: revision {} is unreadable",
                                             Quote(path_), select.Int(0)));
    }
    Row row;
    row.resource = select.Text(1);
    row.entry.revision = static_cast<Revision>(select.Int(0));
    row.entry.key = select.Text(2);
    row.entry.value = select.Text(3);
    row.deleted = select.Int(4) != 0;
    row.time = WallTime(Duration(select.Int(5)));
    RETURN_IF_ERROR(visit(std::move(row)));
  }
}

Status SqliteFile::Transact(const std::function<Status()>& body) {
  RETURN_IF_ERROR(statements_->begin.Run());
  Status status = body();
  if (status.ok()) status = statements_->commit.Run();
  if (!status.ok()) {
    // SQLite has rolled back by itself after some errors, and says so here.
    (void)statements_->rollback.Run();
  }
  return status;
}

Status SqliteFile::Commit(std::span<const Journal::Record> records) {
  return Transact([&]() -> Status {
    SqlStatement& insert = statements_->insert;
    for (const Journal::Record& record : records) {
      insert.Bind(1, static_cast<int64_t>(record.entry->revision));
      insert.Bind(2, record.resource);
      insert.Bind(3, record.entry->key);
      insert.Bind(4, record.entry->value);
      insert.Bind(5, int64_t{record.deleted});
      insert.Bind(6, record.time.time_since_epoch().count());
      RETURN_IF_ERROR(insert.Run());
    }
    return absl::OkStatus();
  });
}

Status SqliteFile::Compact(Revision compacted, std::span<const Revision> dropped) {
  return Transact([&]() -> Status {
    statements_->set_compacted.Bind(1, static_cast<int64_t>(compacted));
    RETURN_IF_ERROR(statements_->set_compacted.Run());
    for (const Revision revision : dropped) {
      statements_->remove.Bind(1, static_cast<int64_t>(revision));
      RETURN_IF_ERROR(statements_->remove.Run());
    }
    return absl::OkStatus();
  });
}

}  // namespace koord::apiserver
