#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/scope.h"
#include "base/string_map.h"
#include "kube/controller/work_queue.h"
#include "model/quota/quota_status.h"
#include "scheduler/config/elastic_quota_args.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps ElasticQuotas true while this process leads: once a second it writes what each is using and
// asking for and how much it may use, where that has changed. It also sees to it that there are the
// three built-in quotas, and says on a quota, once a change, why it does not count.
//
// Where pods are charged as they are admitted, a quota says of a moment more than is known of: that
// is believed for as long as a pod may take to appear.
class QuotaController final : public LeaderPart {
 public:
  // Lets it live and die with leadership; nothing if another profile has brought one along.
  static void AddTo(const PluginContext& context, const ElasticQuotaArgs& args);

  std::string_view name() const override { return "ElasticQuotaController"; }
  void Start() override;
  void Stop(Task done) override;

 private:
  // What is known of an object.
  struct Seen {
    std::string version;
    model::QuotaStatus status;
    bool is_true = false;  // the object says so
    // What it was made to say of child-request, and what others did instead, since when.
    std::string own_request, other_request;
    SteadyTime other_since{};
  };

  QuotaController(const PluginContext& context, const ElasticQuotaArgs& args);

  void Look();
  void LookAt(const api::ElasticQuota& object);
  void WarnOfProblem(const api::ElasticQuota& object);
  void CreateMissing();
  void Create(std::string_view name);
  // Whether somebody was admitted, not long ago, of whom nothing is known yet.
  bool IsAdmitting(const api::ElasticQuota& object, Seen& seen) const;
  void Handle(const std::string& key, kube::WorkQueue::Finish done);
  void Done();

  const PluginContext context_;
  const QuotaBook& book_;
  ObjectCache<api::ElasticQuota>& objects_;
  const ElasticQuotaArgs args_;
  metrics::Histogram* const duration_;
  bool running_ = false;
  size_t under_way_ = 0;
  Task when_stopped_;
  uint64_t tree_version_ = 0;  // of the last look
  uint64_t objects_version_ = 0;
  bool all_is_said_ = false;
  StringMap<Seen> seen_;              // by namespace/name
  StringMap<std::string> warned_of_;  // the same
  StringSet creating_;                // names
  SteadyTime create_again_{};
  kube::WorkQueue queue_;
  Timer timer_;
  Scope scope_;
};

}  // namespace koord::scheduler
