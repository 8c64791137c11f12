#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/quota/quota_info.h"

namespace koord::model {

// Quotas by name, by parent and by namespace. Knows which quota a pod is charged to.
class QuotaIndex {
 public:
  void Set(QuotaInfo info);
  void Remove(std::string_view name);

  const std::map<std::string, QuotaInfo, std::less<>>& all() const { return infos_; }
  size_t size() const { return infos_.size(); }
  // Null if there is none.
  const QuotaInfo* Find(std::string_view name) const;
  // In the order of their names.
  std::vector<const QuotaInfo*> ChildrenOf(std::string_view name) const;
  const std::map<std::string, std::set<std::string>, std::less<>>& children() const {
    return children_;
  }
  // The quota whose annotation names the namespace, the first by name; "" if none does.
  std::string_view OfNamespace(std::string_view ns) const;

  // The quota that a pod names or belongs to: what its label says, else the quota of its namespace
  // (one of that name there, or one that lists it), else the default quota. With `no_default` only
  // the label counts, and "" is no quota. What a label says need not exist.
  std::string_view NameFor(std::string_view label, std::string_view ns, bool no_default) const;
  // The same, as far as there is such a quota: pods that name none that exists are charged to the
  // default quota, or with `no_default` to none.
  std::string_view ChargedFor(std::string_view label, std::string_view ns, bool no_default) const;

 private:
  std::map<std::string, QuotaInfo, std::less<>> infos_;
  std::map<std::string, std::set<std::string>, std::less<>> children_;
  std::map<std::string, std::set<std::string>, std::less<>> by_namespace_;
};

}  // namespace koord::model
