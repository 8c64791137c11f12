#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

struct sqlite3;
struct sqlite3_stmt;

// The little of SQLite that the store needs, with Status for errors.
namespace koord::apiserver {

// A prepared statement. Bound text must live until Run or the last Step.
class SqlStatement {
 public:
  void Bind(int index, int64_t value);
  void Bind(int index, std::string_view text);

  // Runs a statement without rows and makes it ready for the next values.
  Status Run();
  // Moves to the next row; false after the last one.
  StatusOr<bool> Step();
  int64_t Int(int column) const;
  std::string_view Text(int column) const;  // until the next Step
  bool IsInt(int column) const;
  bool IsText(int column) const;

 private:
  friend class SqlDatabase;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqlStatement(const std::string& path, sqlite3_stmt* statement)
      : path_(path), statement_(statement) {}

  std::string path_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

class SqlDatabase {
 public:
  // Opens, or makes, a file that only its owner may read.
  static StatusOr<SqlDatabase> Open(const std::string& path);

  StatusOr<SqlStatement> Prepare(std::string_view sql);
  Status Execute(std::string_view sql);
  // The first column of the only row, as text.
  StatusOr<std::string> Query(std::string_view sql);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  SqlDatabase(const std::string& path, sqlite3* database) : path_(path), database_(database) {}

  std::string path_;
  std::unique_ptr<sqlite3, Closer> database_;
};

}  // namespace koord::apiserver
