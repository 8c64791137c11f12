#pragma once
#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"
#include "localcluster/apiserver/apply/field_schema.h"

namespace koord::apiserver {

// `k:{"name":"x"}` or `v:"x"`: what an item of a list is called; none if it lacks a key.
std::optional<std::string> ItemPath(const kube::Json& item, const FieldSchema& list);

// Whether two items are the same one, at less cost than by comparing their paths.
bool SameItem(const kube::Json& a, const kube::Json& b, const FieldSchema& list);

// Whether two lists have the same items in the same order, as they mostly do.
bool SameItems(const kube::json::array& a, const kube::json::array& b, const FieldSchema& list);

// The items of a list by their paths.
class ListItems {
 public:
  // None if an item lacks a key or two have the same: then the list can only be taken as one value.
  static std::optional<ListItems> Of(const kube::json::array& items, const FieldSchema& list);

  ListItems(ListItems&&) = default;
  ListItems& operator=(ListItems&&) = default;

  const std::vector<std::string>& paths() const { return paths_; }
  // Position of the item; none if there is no such.
  std::optional<size_t> Find(std::string_view path) const;

 private:
  ListItems() = default;

  std::vector<std::string> paths_;
  absl::flat_hash_map<std::string_view, size_t> index_;  // keys point into paths_
};

}  // namespace koord::apiserver
