#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "api/elastic_quota.h"
#include "base/status.h"
#include "kube/objects/resource_list.h"

namespace koord::manager {

// What of an ElasticQuota decides about its place in the tree.
struct QuotaInfo {
  std::string name;
  std::string ns;
  std::string parent;  // koordinator-root-quota where the label says nothing
  std::string tree_id;
  bool is_parent = false;
  bool is_tree_root = false;
  bool allow_lent = true;
  bool force_update = false;
  kube::ResourceList min, max, guaranteed;
  std::vector<std::string> namespaces;

  bool operator==(const QuotaInfo&) const = default;
};

QuotaInfo InfoOf(const api::ElasticQuota& quota);

// The rules that a quota must keep by itself. Errors are what users see.
Status CheckQuota(const api::ElasticQuota& quota);

}  // namespace koord::manager
