#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/temp_dir.h"
#include "localcluster/apiserver/storage/store.h"

// What the store's tests share.
namespace koord::apiserver {

inline Entry MakeEntry(std::string_view key, Revision revision, std::string_view text = "") {
  Entry entry;
  entry.key = key;
  entry.revision = revision;
  entry.value = fmt::format(R"({{"key":"{}","rv":"{}","text":"{}"}})", key, revision, text);
  return entry;
}

inline EntryPtr PutNext(Store& store, std::string_view resource, std::string_view key,
                        std::string_view text = "") {
  return store.Put(resource, MakeEntry(key, store.revision() + 1, text));
}

inline EntryPtr DeleteNext(Store& store, std::string_view resource, std::string_view key) {
  Entry last = *store.Get(resource, key);
  last.revision = store.revision() + 1;
  return store.Delete(resource, std::move(last));
}

inline std::vector<EntryPtr> List(const Store& store, std::string_view resource,
                                  std::string_view prefix = "", Revision at = 0) {
  std::vector<EntryPtr> entries;
  const Status status = store.Range(resource, prefix, "", at, [&](const EntryPtr& entry) {
    entries.push_back(entry);
    return true;
  });
  if (!status.ok()) entries.assign(1, nullptr);
  return entries;
}

inline std::vector<std::string> Keys(const std::vector<EntryPtr>& entries) {
  std::vector<std::string> keys;
  for (const EntryPtr& entry : entries) keys.push_back(entry ? entry->key : "<error>");
  return keys;
}

}  // namespace koord::apiserver
