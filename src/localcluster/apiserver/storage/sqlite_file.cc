#include "localcluster/apiserver/storage/sqlite_file.h"

#include <array>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/strings.h"

namespace koord::apiserver {
namespace {

// Marks the file as ours ("Koor") and tells the layout of its tables.
constexpr int64_t kApplicationId = 0x4b6f6f72;
constexpr int64_t kVersion = 2;
constexpr int64_t kWithoutChecksums = 1;  // the layout before, which is brought up to date

constexpr std::string_view kTables[] = {
    // `value` is the object as served; of a deletion, its last state. `time` is in nanoseconds.
    "CREATE TABLE revisions (rev INTEGER PRIMARY KEY, resource TEXT NOT NULL, key TEXT NOT NULL, "
    "value TEXT NOT NULL, deleted INTEGER NOT NULL, time INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL)",
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

constexpr std::string_view kRemedy =
    "restore a copy of it, or move it away to start with an empty cluster";

// CRC-64 as of ECMA-182, in the reflected form. Table k is of a byte that k others follow: eight
// bytes are looked up at once, since one after the other would wait for each other.
constexpr auto kCrcTables = [] {
  constexpr uint64_t kPolynomial = 0xC96C5795D7870F42;
  std::array<std::array<uint64_t, 256>, 8> tables{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint64_t before = tables[k - 1][byte];
      tables[k][byte] = tables[0][before & 0xff] ^ (before >> 8);
    }
  }
  return tables;
}();

class Checksum {
 public:
  Checksum& Add(std::string_view text) {
    Add(static_cast<int64_t>(text.size()));
    for (; text.size() >= 8; text.remove_prefix(8)) AddEight(LittleEndian(text));
    for (const char c : text) AddByte(static_cast<uint8_t>(c));
    return *this;
  }
  Checksum& Add(int64_t number) {
    AddEight(static_cast<uint64_t>(number));
    return *this;
  }
  int64_t value() const { return static_cast<int64_t>(~crc_); }

 private:
  static uint64_t LittleEndian(std::string_view text) {
    uint64_t number = 0;
    for (int i = 7; i >= 0; --i) number = (number << 8) | static_cast<uint8_t>(text[i]);
    return number;
  }
  void AddByte(uint8_t byte) { crc_ = kCrcTables[0][(crc_ ^ byte) & 0xff] ^ (crc_ >> 8); }
  void AddEight(uint64_t bytes) {  // the first is the lowest
    const uint64_t mixed = crc_ ^ bytes;
    crc_ = 0;
    for (int i = 0; i < 8; ++i) crc_ ^= kCrcTables[7 - i][(mixed >> (8 * i)) & 0xff];
  }

  uint64_t crc_ = ~uint64_t{0};
};

// The columns that rows are read from, and what makes up the checksum of one.
constexpr std::string_view kColumns = "rev, resource, key, value, deleted, time";

int64_t ChecksumOf(const SqlStatement& row) {
  return Checksum()
      .Add(row.Int(0))
      .Add(row.Text(1))
      .Add(row.Text(2))
      .Add(row.Text(3))
      .Add(row.Int(4))
      .Add(row.Int(5))
      .value();
}

int64_t ChecksumOf(const Journal::Record& record) {
  return Checksum()
      .Add(static_cast<int64_t>(record.entry->revision))
      .Add(record.resource)
      .Add(record.entry->key)
      .Add(record.entry->value)
      .Add(int64_t{record.deleted})
      .Add(record.time.time_since_epoch().count())
      .value();
}

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
  RETURN_IF_ERROR(tables == "0" ? CreateTables() : AddChecksums());
  ASSIGN_OR_RETURN(SqlStatement insert,
                   database_.Prepare("INSERT INTO revisions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
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
  if (ParseInt(version) != kVersion && ParseInt(version) != kWithoutChecksums) {
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

Status SqliteFile::AddChecksums() {
  ASSIGN_OR_RETURN(const std::string version, database_.Query("PRAGMA user_version"));
  if (ParseInt(version) != kWithoutChecksums) return absl::OkStatus();
  // All of it or nothing: what is interrupted is done again at the next start.
  RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
  RETURN_IF_ERROR(
      database_.Execute("ALTER TABLE revisions ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0"));
  std::vector<std::pair<int64_t, int64_t>> checksums;
  ASSIGN_OR_RETURN(SqlStatement select,
                   database_.Prepare(fmt::format("SELECT {} FROM revisions", kColumns)));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) break;
    checksums.emplace_back(select.Int(0), ChecksumOf(select));
  }
  ASSIGN_OR_RETURN(SqlStatement update,
                   database_.Prepare("UPDATE revisions SET checksum = ?2 WHERE rev = ?1"));
  for (const auto& [revision, checksum] : checksums) {
    update.Bind(1, revision);
    update.Bind(2, checksum);
    RETURN_IF_ERROR(update.Run());
  }
  RETURN_IF_ERROR(database_.Execute(fmt::format("PRAGMA user_version = {}", kVersion)));
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
  ASSIGN_OR_RETURN(
      SqlStatement select,
      database_.Prepare(fmt::format("SELECT {}, checksum FROM revisions ORDER BY rev", kColumns)));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, select.Step());
    if (!found) return absl::OkStatus();
    if (!select.IsText(1) || !select.IsText(2) || !select.IsText(3) || !select.IsInt(4) ||
        !select.IsInt(5) || !select.IsInt(6)) {
      return absl::DataLossError(
          fmt::format("the store {} is damaged: revision {} is unreadable; {}", Quote(path_),
                      select.Int(0), kRemedy));
    }
    if (select.Int(6) != ChecksumOf(select)) {
      return absl::DataLossError(fmt::format(
          "the store {} is damaged: revision {}, which says that it is of {} {}, does not match "
          "its checksum; {}",
          Quote(path_), select.Int(0), Quote(select.Text(1)), Quote(select.Text(2)), kRemedy));
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
      insert.Bind(7, ChecksumOf(record));
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
