#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/string_map.h"
#include "kube/json.h"
#include "localcluster/apiserver/apply/field_schema.h"

namespace koord::apiserver {

// `k:{"name":"x"}` or `v:"x"`: what an item of a list is called; none if it lacks a key.
std::optional<std::string> ItemPath(const kube::Json& item, const FieldSchema& list);

// Whether two items are the same one, at less cost than by comparing their paths.
bool SameItem(const kube::Json& a, const kube::Json& b, const FieldSchema& list);

// The items of a list by their paths.
class ListItems {
 public:
  // None if an item lacks a key or two have the same: then the list can only be taken as one value.
  static std::optional<ListItems> Of(const kube::json::array& items, const FieldSchema& list);

  const std::vector<std::string>& paths() const { return paths_; }
  // Position of the item; none if there is no such.
  std::optional<size_t> Find(std::string_view path) const;

 private:
  std::vector<std::string> paths_;
  StringMap<size_t> index_;
};

}  // namespace koord::apiserver
