#include "localcluster/apiserver/apply/list_items.h"

#include <algorithm>

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

// Shorter lists are searched from end to end.
constexpr size_t kIndexedFrom = 16;

// Null if the item lacks the key.
const Json* KeyOf(const json::object& item, const FieldSchema::Key& key) {
  const Json* value = item.if_contains(key.name);
  if (value != nullptr && !value->is_null()) return value;
  return key.otherwise.is_null() ? nullptr : &key.otherwise;
}

// Names of items are mostly plain words, which need no more than quotation marks.
bool IsPlain(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

void AppendValue(const Json& value, std::string& text) {
  const json::string* word = value.if_string();
  if (word != nullptr && IsPlain(*word)) {
    text += '"';
    text.append(word->data(), word->size());
    text += '"';
  } else {
    text += kube::Serialize(value);
  }
}

}  // namespace

std::optional<std::string> ItemPath(const Json& item, const FieldSchema& list) {
  std::string path;
  if (list.kind == FieldSchema::Kind::kSet) {
    path = "v:";
    AppendValue(item, path);
    return path;
  }
  const json::object* object = item.if_object();
  if (object == nullptr || list.keys.empty()) return std::nullopt;
  path = "k:{";
  for (const FieldSchema::Key& key : list.keys) {
    const Json* value = KeyOf(*object, key);
    if (value == nullptr) return std::nullopt;
    if (path.size() > 3) path += ',';
    path += '"';
    path += key.name;
    path += "\":";
    AppendValue(*value, path);
  }
  path += '}';
  return path;
}

bool SameItem(const Json& a, const Json& b, const FieldSchema& list) {
  if (list.kind == FieldSchema::Kind::kSet) return kube::Equal(a, b);
  const json::object *first = a.if_object(), *second = b.if_object();
  if (first == nullptr || second == nullptr || list.keys.empty()) return false;
  for (const FieldSchema::Key& key : list.keys) {
    const Json *x = KeyOf(*first, key), *y = KeyOf(*second, key);
    if (x == nullptr || y == nullptr || !kube::Equal(*x, *y)) return false;
  }
  return true;
}

bool SameItems(const json::array& a, const json::array& b, const FieldSchema& list) {
  return std::ranges::equal(
      a, b, [&](const Json& first, const Json& second) { return SameItem(first, second, list); });
}

std::optional<ListItems> ListItems::Of(const json::array& items, const FieldSchema& list) {
  ListItems result;
  result.paths_.reserve(items.size());
  for (const Json& item : items) {
    auto path = ItemPath(item, list);
    if (!path) return std::nullopt;
    const size_t place = result.paths_.size();
    if (items.size() <= kIndexedFrom && result.Find(*path)) return std::nullopt;
    result.paths_.push_back(std::move(*path));
    if (items.size() <= kIndexedFrom) continue;
    if (place == 0) result.index_.reserve(items.size());
    if (!result.index_.emplace(result.paths_.back(), place).second) return std::nullopt;
  }
  return result;
}

std::optional<size_t> ListItems::Find(std::string_view path) const {
  if (!index_.empty()) {
    const auto found = index_.find(path);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto found = std::find(paths_.begin(), paths_.end(), path);
  if (found == paths_.end()) return std::nullopt;
  return static_cast<size_t>(found - paths_.begin());
}

}  // namespace koord::apiserver
