#pragma once
#include <memory>
#include <string>

#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "kube/client/informer.h"
#include "kube/client/work_queue.h"
#include "manager/cluster/controller.h"
#include "manager/quota/quota_profile.h"

namespace koord::manager {

// Keeps the root quota of every ElasticQuotaProfile as large as the nodes that the profile selects.
//
// Each profile is looked at when it changes and every ten seconds, since nodes come and go. A quota
// outlives its profile.
class QuotaProfileController final : public Controller {
 public:
  static constexpr std::string_view kName = "quotaprofile";

  struct Inputs {
    kube::Client& client;  // writes only while this instance leads
    kube::Informer<kube::Node>& nodes;
    kube::Informer<api::ElasticQuotaProfile>& profiles;
    kube::Informer<api::ElasticQuota>& quotas;
    kube::EventRecorder& events;  // of component quotaprofile-controller
  };

  explicit QuotaProfileController(const Inputs& inputs);

  void Start() override;
  void Stop() override { active_ = false; }
  bool idle() const override { return queue_.idle(); }

 private:
  using ProfilePtr = std::shared_ptr<const api::ElasticQuotaProfile>;

  void Enqueue(const ProfilePtr& profile);
  void Reconcile(const std::string& key, kube::WorkQueue::Finish done);
  void StoreTreeId(const std::string& key, const api::ElasticQuotaProfile& profile,
                   kube::WorkQueue::Finish done);
  void WriteQuota(const std::string& key, const ProfilePtr& profile, const std::string& tree_id,
                  kube::WorkQueue::Finish done);
  void OnWritten(const std::string& key, const ProfilePtr& profile, bool created,
                 const Status& status);

  Inputs inputs_;
  bool active_ = false;
  kube::WorkQueue queue_;
  Scope scope_;
};

}  // namespace koord::manager
