#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "api/elastic_quota.h"
#include "base/status.h"
#include "kube/objects/resource_list.h"

namespace koord::model {

// What of an ElasticQuota decides about its place in the tree and its share.
struct QuotaInfo {
  std::string name;
  std::string ns;
  std::string parent;  // koordinator-root-quota where the label says nothing
  std::string tree_id;
  bool is_parent = false;
  bool is_tree_root = false;
  bool allow_lent = true;
  bool force_update = false;
  bool ignore_default_tree = false;  // of a tree's root: the default tree keeps what it has
  kube::ResourceList min, max, guaranteed;
  kube::ResourceList weight;  // of what is shared; max where nothing is said
  kube::ResourceList total;   // of a tree's root: what the tree has
  std::vector<std::string> namespaces;

  bool operator==(const QuotaInfo&) const = default;
};

bool IsBuiltInQuota(std::string_view name);

QuotaInfo InfoOf(const api::ElasticQuota& quota);
// Whether two objects are the same to those who share: what was written about them may differ.
bool SharesAlike(const api::ElasticQuota& a, const api::ElasticQuota& b);

// The rules that a quota must keep by itself. Errors are what users see.
Status CheckQuota(const api::ElasticQuota& quota);

}  // namespace koord::model
