#include "localcluster/apiserver/storage/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/strings.h"

namespace koord::apiserver {
namespace {

std::string Reason(sqlite3* database, int code) {
  if (database == nullptr) return sqlite3_errstr(code);
  std::string reason = fmt::format("{} (SQLite error {})", sqlite3_errmsg(database),
                                   sqlite3_extended_errcode(database));
  if (const int error = sqlite3_system_errno(database); (code & 0xff) == SQLITE_IOERR && error) {
    reason += fmt::format(": {}", std::strerror(error));
  }
  return reason;
}

Status SqlError(const std::string& path, sqlite3* database, int code) {
  const std::string reason = Reason(database, code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return FailedPrecondition("{} is not a store of this program: {}", Quote(path), reason);
    case SQLITE_CORRUPT:
      return absl::DataLossError(
          fmt::format("the store {} is damaged: {}; restore a copy of it, or move it away to start "
                      "with an empty cluster",
                      Quote(path), reason));
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(
          fmt::format("no room left for the store {}: {}", Quote(path), reason));
    default:
      return Unavailable("the store {} cannot be used: {}", Quote(path), reason);
  }
}

// SQLite would make the file readable for everyone; its log file takes over the mode of this one.
Status MakePrivate(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return Unavailable("cannot open {}: {}", Quote(path), std::strerror(errno));
  const bool ok = fchmod(fd, 0600) == 0;
  const int error = errno;
  close(fd);
  if (!ok) return Unavailable("cannot protect {}: {}", Quote(path), std::strerror(error));
  return absl::OkStatus();
}

}  // namespace

void SqlStatement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqlStatement::Bind(int index, int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
}

void SqlStatement::Bind(int index, std::string_view text) {
  // A null pointer would be bound as NULL.
  sqlite3_bind_text64(statement_.get(), index, text.empty() ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

Status SqlStatement::Run() {
  const int code = sqlite3_step(statement_.get());
  Status status;
  if (code != SQLITE_DONE && code != SQLITE_ROW) {
    status = SqlError(path_, sqlite3_db_handle(statement_.get()), code);
  }
  sqlite3_reset(statement_.get());
  return status;
}

StatusOr<bool> SqlStatement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return SqlError(path_, sqlite3_db_handle(statement_.get()), code);
}

int64_t SqlStatement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view SqlStatement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

bool SqlStatement::IsInt(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool SqlStatement::IsText(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT;
}

void SqlDatabase::Closer::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

StatusOr<SqlDatabase> SqlDatabase::Open(const std::string& path) {
  RETURN_IF_ERROR(MakePrivate(path));
  sqlite3* handle = nullptr;
  // Only one thread at a time uses it.
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  SqlDatabase database(path, handle);
  if (code != SQLITE_OK) return SqlError(path, handle, code);
  return database;
}

StatusOr<SqlStatement> SqlDatabase::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return SqlError(path_, database_.get(), code);
  return SqlStatement(path_, statement);
}

Status SqlDatabase::Execute(std::string_view sql) {
  ASSIGN_OR_RETURN(SqlStatement statement, Prepare(sql));
  return statement.Run();
}

StatusOr<std::string> SqlDatabase::Query(std::string_view sql) {
  ASSIGN_OR_RETURN(SqlStatement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return std::string();
  return std::string(statement.Text(0));
}

}  // namespace koord::apiserver
