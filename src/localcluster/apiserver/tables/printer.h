#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/json.h"

// The tables of built-in kinds, as data: columns, and a function that fills one row.
namespace koord::apiserver {

struct Column {
  std::string_view name;
  std::string_view type = "string";
  std::string_view format = {};
  int priority = 0;  // above 0: only with -o wide
};

inline constexpr Column kNameColumn{"Name", "string", "name"};
inline constexpr Column kAgeColumn{"Age"};

constexpr Column Wide(std::string_view name) { return {name, "string", {}, 1}; }
constexpr Column Number(std::string_view name) { return {name, "integer"}; }
constexpr Column Flag(std::string_view name) { return {name, "boolean"}; }

// One row while it is being filled, in the order of the columns.
class Row {
 public:
  Row(const kube::Json& object, WallTime now) : object(object), now(now) {}

  const kube::Json& object;
  const WallTime now;
  kube::json::array cells;

  Row& Text(std::string_view text) {
    cells.emplace_back(kube::json::string_view(text.data(), text.size()));
    return *this;
  }
  // The text, or `otherwise` where there is none.
  Row& Text(std::string_view text, std::string_view otherwise) {
    return Text(text.empty() ? otherwise : text);
  }
  Row& Int(int64_t number) {
    cells.emplace_back(number);
    return *this;
  }
  Row& Bool(bool flag) {
    cells.emplace_back(flag);
    return *this;
  }

  using Path = std::initializer_list<std::string_view>;
  // Straight from the object.
  Row& TextAt(Path path, std::string_view otherwise = {}) { return Text(Get(path), otherwise); }
  Row& IntAt(Path path, int64_t otherwise = 0) {
    return Int(kube::FindInt(object, path, otherwise));
  }
  Row& BoolAt(Path path, bool otherwise = false) {
    return Bool(kube::FindBool(object, path, otherwise));
  }
  Row& Name() { return TextAt({"metadata", "name"}); }
  Row& Age();  // since creation

  std::string_view Get(Path path) const { return kube::FindString(object, path); }
  bool deleting() const { return !Get({"metadata", "deletionTimestamp"}).empty(); }
};

struct Printer {
  std::string_view group;
  std::string_view kind;
  std::span<const Column> columns;
  void (*print)(Row& row);
};

// Each file describes the kinds of its area.
std::span<const Printer> PodPrinters();
std::span<const Printer> CorePrinters();
std::span<const Printer> WorkloadPrinters();
std::span<const Printer> StoragePrinters();
std::span<const Printer> PolicyPrinters();

// Name and Created At for kinds that have no table of their own.
const Printer& FindPrinter(std::string_view group, std::string_view kind);

}  // namespace koord::apiserver
