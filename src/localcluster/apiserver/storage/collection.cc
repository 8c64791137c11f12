#include "localcluster/apiserver/storage/collection.h"

#include <algorithm>
#include <utility>

namespace koord::apiserver {
namespace {

ChangePtr MakeChange(const EntryPtr& cause, EntryPtr before, EntryPtr after) {
  auto change = std::make_shared<Change>();
  change->revision = cause->revision;
  change->key = cause->key;
  change->before = std::move(before);
  change->after = std::move(after);
  return change;
}

auto FirstAfter(const std::deque<ChangePtr>& history, Revision revision) {
  return std::partition_point(history.begin(), history.end(), [&](const ChangePtr& change) {
    return change->revision <= revision;
  });
}

}  // namespace

EntryPtr Collection::Get(std::string_view key) const {
  const auto it = live_.find(key);
  return it == live_.end() ? nullptr : it->second;
}

size_t Collection::Count(std::string_view prefix) const {
  if (prefix.empty()) return live_.size();
  size_t count = 0;
  for (auto it = live_.lower_bound(prefix); it != live_.end() && it->first.starts_with(prefix);
       ++it) {
    ++count;
  }
  return count;
}

void Collection::Range(std::string_view prefix, std::string_view start, Revision at,
                       const std::function<bool(const EntryPtr&)>& visit) const {
  const std::string_view from = std::max(prefix, start);
  if (at == 0) {
    RangeNow(prefix, from, visit);
  } else {
    RangeAt(prefix, from, at, visit);
  }
}

void Collection::RangeNow(std::string_view prefix, std::string_view from,
                          const std::function<bool(const EntryPtr&)>& visit) const {
  for (auto it = live_.lower_bound(from); it != live_.end() && it->first.starts_with(prefix);
       ++it) {
    if (!visit(it->second)) return;
  }
}

void Collection::RangeAt(std::string_view prefix, std::string_view from, Revision at,
                         const std::function<bool(const EntryPtr&)>& visit) const {
  auto live = live_.lower_bound(from);
  auto past = past_.lower_bound(from);
  while (true) {
    const bool in_live = live != live_.end() && live->first.starts_with(prefix);
    const bool in_past = past != past_.end() && past->first.starts_with(prefix);
    if (!in_live && !in_past) return;
    const bool take_live = in_live && (!in_past || live->first <= past->first);
    const bool take_past = in_past && (!in_live || past->first <= live->first);

    const EntryPtr* found = nullptr;
    if (take_live && live->second->revision <= at) found = &live->second;
    if (take_past && found == nullptr) found = VersionAt(past->second, at);
    if (found != nullptr && !visit(*found)) return;
    if (take_live) ++live;
    if (take_past) ++past;
  }
}

const EntryPtr* Collection::VersionAt(const Versions& versions, Revision at) {
  const auto after =
      std::partition_point(versions.begin(), versions.end(),
                           [&](const Version& version) { return version.entry->revision <= at; });
  if (after == versions.begin()) return nullptr;
  const Version& newest = *std::prev(after);
  return newest.deleted ? nullptr : &newest.entry;
}

ChangePtr Collection::Put(EntryPtr entry) {
  EntryPtr& current = live_[entry->key];
  EntryPtr before = std::exchange(current, entry);
  if (before != nullptr) past_[entry->key].push_back({before, false});
  ChangePtr change = MakeChange(entry, std::move(before), entry);
  history_.push_back(change);
  return change;
}

ChangePtr Collection::Delete(EntryPtr last) {
  const auto it = live_.find(last->key);
  Versions& versions = past_[last->key];
  versions.push_back({std::move(it->second), false});
  versions.push_back({last, true});
  live_.erase(it);
  ChangePtr change = MakeChange(last, last, nullptr);
  history_.push_back(change);
  return change;
}

std::vector<ChangePtr> Collection::Changes(Revision after, Revision last) const {
  if (last <= after) return {};
  return {FirstAfter(history_, after), FirstAfter(history_, last)};
}

void Collection::ForgetOldest(std::vector<Revision>& dropped) {
  const ChangePtr change = std::move(history_.front());
  history_.pop_front();
  forgotten_ = change->revision;
  const auto it = past_.find(change->key);
  if (it == past_.end()) return;
  Versions& versions = it->second;
  const auto is_unreachable = [&](const Version& version) {
    const Revision revision = version.entry->revision;
    return revision < change->revision || (revision == change->revision && version.deleted);
  };
  const auto keep = std::find_if_not(versions.begin(), versions.end(), is_unreachable);
  for (auto version = versions.begin(); version != keep; ++version) {
    dropped.push_back(version->entry->revision);
  }
  versions.erase(versions.begin(), keep);
  if (versions.empty()) past_.erase(it);
}

}  // namespace koord::apiserver
