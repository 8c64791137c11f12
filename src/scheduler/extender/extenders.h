#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/extender/extender_client.h"
#include "scheduler/framework/verdict.h"

namespace koord::scheduler {

// All extenders, as the scheduling cycle sees them.
//
// Each filter is shown what the one before has left; scores are asked for only if there is a
// choice. An extender that fails ends the cycle with its error, unless it may be ignored; one that
// fails to score is always passed over. Extenders that may be ignored come last.
class Extenders {
 public:
  explicit Extenders(std::vector<std::unique_ptr<ExtenderClient>> clients);

  // Somebody has a say in where this pod goes.
  bool AreInterestedIn(const kube::Pod& pod) const;

  struct Answer {
    ExtenderNodes nodes;                                 // that are left
    bool narrowed = false;                               // not all of those that were there
    std::vector<ExtenderFilterResult::Refused> refused;  // a node once
    ExtenderClient::Scores scores;                       // to add to the totals
  };
  using Asked = absl::AnyInvocable<void(StatusOr<Answer>)>;
  void Ask(std::shared_ptr<const kube::Pod> pod, ExtenderNodes nodes, Asked done);

  // Somebody has a say in who is evicted for this pod.
  bool HaveASayInEvictionsFor(const kube::Pod& pod) const;
  using Agreed = absl::AnyInvocable<void(StatusOr<std::vector<EvictionPlan>>)>;
  void AskToEvict(std::shared_ptr<const kube::Pod> pod, std::vector<EvictionPlan> plans,
                  ExtenderClient::FindPod find, Agreed done);

  bool HaveABinderFor(const kube::Pod& pod) const { return BinderOf(pod) != nullptr; }
  // Skip: no extender binds this pod.
  void Bind(const kube::Pod& pod, std::string_view node, absl::AnyInvocable<void(Verdict)> done);

 private:
  struct Round;

  ExtenderClient* BinderOf(const kube::Pod& pod) const;  // null: nobody
  void FilterBy(size_t next, std::shared_ptr<Round> round);
  void ScoreBy(size_t next, std::shared_ptr<Round> round);
  struct Eviction;
  void AgreeBy(size_t next, std::shared_ptr<Eviction> eviction);
  static void Narrow(ExtenderFilterResult result, Answer& answer);

  std::vector<std::unique_ptr<ExtenderClient>> clients_;
};

}  // namespace koord::scheduler
