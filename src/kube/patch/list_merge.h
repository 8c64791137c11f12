#pragma once
#include <string>
#include <vector>

#include "base/status.h"
#include "kube/json.h"

// The order of merged lists, apart from how elements are merged.
namespace koord::kube::patch_internal {

// What makes a list element the same one in two lists: its merge key's value, or a scalar itself.
// An element without the key gets an empty identity, which equals nothing.
std::string Identity(const Json& element, std::string_view merge_key);
std::vector<std::string> Identities(const json::array& elements, std::string_view merge_key);

// Sorts `merged`: elements named in `order` as they come there, the others (in their present order)
// in front of the first one that stands behind them in `reference`.
void OrderMerged(json::array& merged, std::string_view merge_key,
                 const std::vector<std::string>& order, const std::vector<std::string>& reference);

// Whether `items` is a subsequence of `order`.
bool IsInOrder(const std::vector<std::string>& items, const std::vector<std::string>& order);

}  // namespace koord::kube::patch_internal
