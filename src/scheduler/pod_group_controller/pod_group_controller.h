#pragma once
#include <string>
#include <string_view>

#include "base/scope.h"
#include "base/string_map.h"
#include "kube/controller/work_queue.h"
#include "kube/controller/write.h"
#include "model/gang/pod_group_status.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/gangs/gang_book.h"

namespace koord::scheduler {

// Keeps the status of PodGroups true while this process leads: how far their pods have come. What
// it knows of pods is the GangBook's. A PodGroup that says something illegal is told so by an
// event, once a change.
class PodGroupController final : public LeaderPart {
 public:
  // Lets it live and die with leadership; nothing if another profile has brought one along.
  static void AddTo(const PluginContext& context, GangBook& book, int64_t workers);

  std::string_view name() const override { return "PodGroupController"; }
  void Start() override;
  void Stop(Task done) override;

 private:
  PodGroupController(const PluginContext& context, GangBook& book, int64_t workers);
  void Listen();
  void Enqueue(const std::string& gang);
  void OnGone(const api::PodGroup& group);
  void Handle(const std::string& gang, kube::WorkQueue::Finish done);
  model::PodGroupMembers MembersOf(const std::string& gang) const;
  void WarnIfIllegal(const api::PodGroup& group, const std::string& gang);
  void Write(const std::string& gang, const api::PodGroup& group, kube::Write write,
             kube::WorkQueue::Finish done);
  void Done();

  GangBook& book_;
  ClusterObjects& objects_;
  kube::Client& client_;
  kube::EventRecorder* const recorder_;
  bool running_ = false;
  size_t under_way_ = 0;
  Task when_stopped_;
  // The version that a status was written upon: until it is shown there is nothing to decide.
  StringMap<std::string> written_upon_;  // by uid
  StringMap<std::string> warned_of_;     // by uid
  kube::WorkQueue queue_;
  Scope scope_;
};

}  // namespace koord::scheduler
