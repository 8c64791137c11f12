#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kube/controller/controller.h"
#include "manager/quota/quota_profile.h"

namespace koord::manager {

// Keeps the root quota of every ElasticQuotaProfile as large as the nodes that the profile selects.
//
// Each profile is looked at when it changes and every ten seconds, since nodes come and go. A quota
// outlives its profile.
class QuotaProfileController final : public kube::Controller {
 public:
  static constexpr std::string_view kName = "quotaprofile";

  struct Inputs {
    kube::ControllerParts parts;  // writes only while this instance leads
    kube::Informer<kube::Node>& nodes;
    kube::Informer<api::ElasticQuotaProfile>& profiles;
    kube::Informer<api::ElasticQuota>& quotas;
  };

  explicit QuotaProfileController(const Inputs& inputs);

 private:
  using ProfilePtr = std::shared_ptr<const api::ElasticQuotaProfile>;

  kube::Plan Decide(const std::string& key) override;
  void OnRefused(const std::string& key, const kube::Write& write, const Status& status) override;
  std::vector<std::string> AllKeys() const override;

  kube::Plan PlanQuota(const api::ElasticQuotaProfile& profile, const std::string& tree_id) const;

  const Inputs inputs_;
};

}  // namespace koord::manager
