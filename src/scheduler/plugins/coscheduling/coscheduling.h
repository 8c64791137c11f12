#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/config/coscheduling_args.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/framework/service_plugin.h"
#include "scheduler/gangs/gang_book.h"
#include "scheduler/gangs/gang_service.h"
#include "scheduler/plugins/coscheduling/rounds.h"

namespace koord::scheduler {

// Binds at least a minimum of a gang's pods, or none of them.
//
// Which pods are a gang is said by PodGroups, labels or annotations (model/gang); who is where is
// in the GangBook; how they are tried and bound together is told in Rounds.
class Coscheduling final : public PreEnqueuePlugin,
                           public QueueSortPlugin,
                           public NextPodPlugin,
                           public AdmitPlugin,
                           public PostFilterPlugin,
                           public AfterPostFilterPlugin,
                           public ReservePlugin,
                           public PermitPlugin,
                           public PreBindPlugin,
                           public PostBindPlugin,
                           public ScorePlugin,
                           public RequeuePlugin,
                           public ServicePlugin {
 public:
  static constexpr std::string_view kName = Rounds::kPlugin;

  Coscheduling(const PluginContext& context, const CoschedulingArgs& args);

  std::string_view name() const override { return kName; }

  Verdict PreEnqueue(const kube::Pod& pod) override { return rounds_.Gate(pod); }
  // The order of configurations that name it at queueSort: priority, then who was created first,
  // where a member counts as old as its gang, then the names of gangs or namespaces.
  bool Less(const QueuedPodView& a, const QueuedPodView& b) const override;
  std::string NextPod() override { return rounds_.Next(); }
  void OnRefused(std::string_view uid, std::string_view gate) override {
    rounds_.OnRefused(uid, gate);
  }

  Verdict Admit(const kube::Pod& pod, const PodQuery&) override { return rounds_.Admit(pod); }
  // Has nothing to offer to a pod that fits nowhere, and leaves it to those after it.
  PostFilterResult PostFilter(Attempt&, PodQuery&, const Diagnosis&) override {
    return {.verdict = Verdict::Unschedulable(""), .of_shape = true};
  }
  bool MightHelp(const PodShape&, NodeRow, Code) const override { return false; }
  void AfterPostFilter(const Attempt& attempt, const Diagnosis& diagnosis,
                       const PostFilterResult&) override {
    rounds_.OnUnfit(attempt, diagnosis);
  }

  Verdict Reserve(Attempt&) override { return Verdict::Success(); }
  void Unreserve(Attempt& attempt) override { rounds_.Unreserve(attempt); }
  PermitResult Permit(Attempt& attempt) override { return rounds_.Permit(attempt); }
  bool HasSentBackAtOnce(const kube::Pod& gives_back) const override {
    return rounds_.HasSentBack(gives_back);
  }
  bool AreOne(const kube::Pod& gives_back, const kube::Pod& other) const override {
    return rounds_.AreOne(gives_back, other);
  }
  void PreBind(Attempt& attempt, VerdictDone done) override {
    rounds_.Annotate(attempt);
    done(Verdict::Success());
  }
  void PostBind(const Attempt& attempt) override { rounds_.OnBound(attempt); }

  // Any node that a member fits will do.
  Verdict PreScore(PodQuery&, std::span<const uint8_t>) override { return Verdict::Skip(); }
  std::optional<int64_t> SameForAll(const PodQuery&) override { return 0; }
  void Score(const PodQuery&, RowRange rows, int64_t* scores) override {
    std::fill_n(scores, rows.size(), 0);
  }

  std::vector<Endpoint> Endpoints() override { return GangEndpoints(book_); }

  // A member that was kept out or sent back for its gang's sake waits for its gang: the book wakes
  // it. Nothing else helps, unless it becomes another pod.
  bool Wants(EventKind kind) const override { return kind == EventKind::kPodUpdated; }
  bool MightCure(const kube::Pod&, const ClusterEvent&) override { return true; }

 private:
  GangBook& book_;
  Rounds rounds_;
};

}  // namespace koord::scheduler
