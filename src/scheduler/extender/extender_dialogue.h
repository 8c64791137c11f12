#pragma once
#include <absl/container/flat_hash_map.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/scope.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/extender/extenders.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// What the scheduling cycle asks extenders, in terms of rows, and what their answers mean.
//
// One question is asked at a time: nobody else is tried before it is answered. Rows may change
// meanwhile, so that questions and answers name nodes, and answers are read when they are used.
class ExtenderDialogue {
 public:
  // Without extenders nobody is asked about anything. `resume` is called when an answer has been
  // dealt with.
  ExtenderDialogue(std::unique_ptr<Extenders> extenders, const Ledger& ledger, Reasons& reasons,
                   std::function<void()> resume);

  bool HasAny() const { return extenders_ != nullptr; }
  bool asking() const { return asking_; }
  // Somebody has a say in where this pod goes.
  bool AreInterestedIn(const kube::Pod& pod) const;

  // Which of the rows, which are live, can do.
  void Ask(const std::shared_ptr<const kube::Pod>& pod, std::span<const NodeRow> rows,
           Extenders::Asked done);
  struct Choice {
    std::vector<NodeRow> rows;
    absl::flat_hash_map<NodeRow, int64_t> bonus;  // to add to their totals
  };
  // What is left to choose from: nodes that are gone by now are not.
  Choice ChoiceOf(const Extenders::Answer& answer) const;
  // Rows of a diagnosis with what was refused; the reasons last as long as the hold.
  DiagnosisTable WithRefused(const RowDiagnoses& rows, const Extenders::Answer& answer,
                             ReasonHold& texts) const;

  // What they have agreed to that a plugin evicts.
  struct Agreed {
    PostFilterPlugin* plugin;
    StatusOr<std::vector<EvictionPlan>> plans;
  };
  using AgreedDone = absl::AnyInvocable<void(const Agreed&)>;
  // Asks about the plans of the first plugin that has any. False, and `done` is not called, if
  // there is nothing to ask: nobody has a say, or nobody would be evicted.
  bool AskToEvict(const Attempt& attempt, PodQuery& query, const Diagnosis& diagnosis,
                  std::span<PostFilterPlugin* const> plugins, AgreedDone done);

  // Somebody binds this pod instead of the plugins.
  bool HaveABinderFor(const kube::Pod& pod) const;
  // Skip: no extender binds this pod. Only where there is any.
  void Bind(const Attempt& attempt, VerdictDone done);

 private:
  // Ends the question, whatever `done` does with the answer.
  template <class Answer>
  absl::AnyInvocable<void(StatusOr<Answer>)> Answered(
      absl::AnyInvocable<void(StatusOr<Answer>)> done);

  const std::unique_ptr<Extenders> extenders_;
  const Ledger& ledger_;
  Reasons& reasons_;
  const std::function<void()> resume_;
  bool asking_ = false;
  Scope scope_;
};

}  // namespace koord::scheduler
