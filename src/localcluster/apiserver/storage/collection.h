#pragma once
#include <absl/container/btree_map.h>

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// All versions of all objects of one resource that anyone may still ask for.
//
// What exists now is kept apart from what was: the common reads touch only the first, however many
// deleted and overwritten versions the history still holds.
class Collection {
 public:
  explicit Collection(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  EntryPtr Get(std::string_view key) const;
  size_t Count(std::string_view prefix) const;
  // As Store::Range; at 0 is now.
  void Range(std::string_view prefix, std::string_view start, Revision at,
             const std::function<bool(const EntryPtr&)>& visit) const;

  ChangePtr Put(EntryPtr entry);
  ChangePtr Delete(EntryPtr last);  // the key must exist

  // The changes still known after `after`, up to and including `last`.
  std::vector<ChangePtr> Changes(Revision after, Revision last) const;
  // Forgets the oldest change, and with it the versions that only reads from before it could see.
  // Their revisions are added to `dropped`.
  void ForgetOldest(std::vector<Revision>& dropped);
  // The revision of the last change that was forgotten: what came after it is known. 0: all is.
  Revision forgotten() const { return forgotten_; }

 private:
  struct Version {
    EntryPtr entry;
    bool deleted = false;  // the entry is the last state of an object that then was gone
  };
  using Versions = std::vector<Version>;  // by revision

  static const EntryPtr* VersionAt(const Versions& versions, Revision at);
  void RangeNow(std::string_view prefix, std::string_view from,
                const std::function<bool(const EntryPtr&)>& visit) const;
  void RangeAt(std::string_view prefix, std::string_view from, Revision at,
               const std::function<bool(const EntryPtr&)>& visit) const;

  std::string name_;
  absl::btree_map<std::string, EntryPtr, std::less<>> live_;
  absl::btree_map<std::string, Versions, std::less<>> past_;  // superseded versions and deletions
  std::deque<ChangePtr> history_;
  Revision forgotten_ = 0;
};

}  // namespace koord::apiserver
