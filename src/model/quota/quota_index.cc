#include "model/quota/quota_index.h"

#include <utility>

namespace koord::model {
namespace {

using NamesByKey = std::map<std::string, std::set<std::string>, std::less<>>;

void Erase(NamesByKey& index, std::string_view key, const std::string& name) {
  const auto at = index.find(key);
  if (at == index.end()) return;
  at->second.erase(name);
  if (at->second.empty()) index.erase(at);
}

}  // namespace

void QuotaIndex::Set(QuotaInfo info) {
  Remove(info.name);
  children_[info.parent].insert(info.name);
  for (const std::string& ns : info.namespaces) by_namespace_[ns].insert(info.name);
  std::string name = info.name;
  infos_.emplace(std::move(name), std::move(info));
}

void QuotaIndex::Remove(std::string_view name) {
  const auto at = infos_.find(name);
  if (at == infos_.end()) return;
  const QuotaInfo& info = at->second;
  Erase(children_, info.parent, info.name);
  for (const std::string& ns : info.namespaces) Erase(by_namespace_, ns, info.name);
  infos_.erase(at);
}

const QuotaInfo* QuotaIndex::Find(std::string_view name) const {
  const auto at = infos_.find(name);
  return at == infos_.end() ? nullptr : &at->second;
}

std::vector<const QuotaInfo*> QuotaIndex::ChildrenOf(std::string_view name) const {
  std::vector<const QuotaInfo*> children;
  const auto at = children_.find(name);
  if (at == children_.end()) return children;
  for (const std::string& child : at->second) children.push_back(Find(child));
  return children;
}

std::string_view QuotaIndex::OfNamespace(std::string_view ns) const {
  const auto at = by_namespace_.find(ns);
  return at == by_namespace_.end() ? std::string_view() : *at->second.begin();
}

std::string_view QuotaIndex::NameFor(std::string_view label, std::string_view ns,
                                     bool no_default) const {
  if (!label.empty() || no_default) return label;
  const QuotaInfo* same_name = Find(ns);
  if (same_name != nullptr && same_name->ns == ns) return same_name->name;
  const std::string_view bound = OfNamespace(ns);
  return bound.empty() ? api::kDefaultQuota : bound;
}

std::string_view QuotaIndex::ChargedFor(std::string_view label, std::string_view ns,
                                        bool no_default) const {
  const std::string_view name = NameFor(label, ns, no_default);
  if (Find(name) != nullptr) return name;
  return no_default ? std::string_view() : api::kDefaultQuota;
}

}  // namespace koord::model
