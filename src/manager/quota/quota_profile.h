#pragma once
#include <memory>
#include <string>
#include <vector>

#include "api/elastic_quota.h"
#include "api/elastic_quota_profile.h"
#include "base/status.h"
#include "kube/objects/node.h"

namespace koord::manager {

// The tree of a profile that does not name one: a hash of its own name.
std::string DefaultTreeId(const kube::ObjectKey& profile);

// The root quota that a profile asks for, as large as the nodes that it selects. `existing` is kept
// where the profile says nothing; null if there is none yet.
StatusOr<api::ElasticQuota> QuotaForProfile(
    const api::ElasticQuotaProfile& profile, const std::string& tree_id,
    const std::vector<std::shared_ptr<const kube::Node>>& nodes, const api::ElasticQuota* existing);

}  // namespace koord::manager
