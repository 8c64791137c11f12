#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/controller/controller.h"
#include "manager/quota/quota_evaluation.h"
#include "manager/quota/quota_topology.h"

namespace koord::manager {

// Keeps what quotas are charged (their annotation child-request) in step with the pods that exist,
// where pods are charged as they are admitted.
//
// - A quota is charged at least for the pods that exist.
// - What a pod was charged is given back when it ends.
// - What is charged beyond the pods that exist is either for a pod that is about to come or for one
//   that was refused after it had been charged. No pod is about to come for longer than kPatience:
//   the least that was in excess all that time belongs to nobody and is given back.
class QuotaUsageController final : public kube::Controller {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(30);

  struct Inputs {
    kube::ControllerParts parts;  // writes only while this instance leads
    kube::Informer<kube::Pod>& pods;
    kube::Informer<api::ElasticQuota>& quotas;
  };
  struct Options {
    bool no_default = false;         // pods without the label belong to no quota
    bool replace_resources = false;  // as the annotation of pods says
  };

  QuotaUsageController(const Inputs& inputs, Options options);

  void Start() override;

 private:
  using QuotaPtr = std::shared_ptr<const api::ElasticQuota>;
  using Charges = std::map<std::string, kube::ResourceList>;  // by the uid of pods
  struct Account {
    Charges pods;              // as last seen
    kube::ResourceList owed;   // of pods that are gone
    kube::ResourceList floor;  // the least in excess since
    SteadyTime since{};
    bool is_new = true;    // nothing was noted yet
    bool is_over = false;  // what was in excess all the time is given back
  };

  void FollowPods();
  void EnqueueSoon(const std::string& quota);
  kube::Plan Decide(const std::string& name) override;
  void OnWritten(const std::string& name, const kube::Write& write,
                 const kube::Json& answer) override;
  void OnRefused(const std::string& name, const kube::Write& write, const Status& status) override;
  std::vector<std::string> AllKeys() const override;
  // Null unless there is exactly one that pods are charged to.
  QuotaPtr QuotaOf(const std::string& name) const;
  Charges ChargesOf(const api::ElasticQuota& quota) const;
  static void Settle(Account& account, Charges now);
  // What should be charged, by what is; notes what is in excess.
  static kube::ResourceList WantedOf(const kube::ResourceList& used, Account& account);
  // All of what was wanted is so.
  void OnSettled(const std::string& name);

  const Inputs inputs_;
  const Options options_;
  QuotaTopology topology_;
  std::map<std::string, Account, std::less<>> accounts_;
};

}  // namespace koord::manager
