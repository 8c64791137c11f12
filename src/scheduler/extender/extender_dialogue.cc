#include "scheduler/extender/extender_dialogue.h"

#include <utility>

namespace koord::scheduler {

ExtenderDialogue::ExtenderDialogue(std::unique_ptr<Extenders> extenders, const Ledger& ledger,
                                   Reasons& reasons, std::function<void()> resume)
    : extenders_(std::move(extenders)),
      ledger_(ledger),
      reasons_(reasons),
      resume_(std::move(resume)) {}

bool ExtenderDialogue::AreInterestedIn(const kube::Pod& pod) const {
  return extenders_ != nullptr && extenders_->AreInterestedIn(pod);
}

template <class Answer>
absl::AnyInvocable<void(StatusOr<Answer>)> ExtenderDialogue::Answered(
    absl::AnyInvocable<void(StatusOr<Answer>)> done) {
  asking_ = true;
  return scope_.Wrap([this, done = std::move(done)](StatusOr<Answer> answer) mutable {
    asking_ = false;
    done(std::move(answer));
    resume_();
  });
}

void ExtenderDialogue::Ask(const std::shared_ptr<const kube::Pod>& pod,
                           std::span<const NodeRow> rows, Extenders::Asked done) {
  ExtenderNodes nodes;
  nodes.reserve(rows.size());
  for (const NodeRow row : rows) nodes.push_back(ledger_.nodes().shared_node(row));
  extenders_->Ask(pod, std::move(nodes), Answered<Extenders::Answer>(std::move(done)));
}

ExtenderDialogue::Choice ExtenderDialogue::ChoiceOf(const Extenders::Answer& answer) const {
  Choice choice;
  for (const auto& node : answer.nodes) {
    const std::string& name = node->metadata.name;
    const auto row = ledger_.nodes().Find(name);
    if (!row) continue;
    choice.rows.push_back(*row);
    if (const auto score = answer.scores.find(name); score != answer.scores.end()) {
      choice.bonus.emplace(*row, score->second);
    }
  }
  return choice;
}

DiagnosisTable ExtenderDialogue::WithRefused(const RowDiagnoses& rows,
                                             const Extenders::Answer& answer,
                                             ReasonHold& texts) const {
  DiagnosisTable all = rows.Copy();
  for (const ExtenderFilterResult::Refused& refused : answer.refused) {
    const auto row = ledger_.nodes().Find(refused.node);
    if (!row || *row >= all.rows() || !all[*row].verdict.ok()) continue;
    const ReasonId why = reasons_.Intern(refused.why, texts);
    all.Set(*row, {kExtenderSlot, refused.unresolvable ? RowVerdict::Unresolvable(why)
                                                       : RowVerdict::Unschedulable(why)});
  }
  return all;
}

bool ExtenderDialogue::AskToEvict(const Attempt& attempt, PodQuery& query,
                                  const Diagnosis& diagnosis,
                                  std::span<PostFilterPlugin* const> plugins, AgreedDone done) {
  if (extenders_ == nullptr || !extenders_->HaveASayInEvictionsFor(*attempt.pod)) return false;
  for (PostFilterPlugin* plugin : plugins) {
    std::vector<EvictionPlan> plans = plugin->Plans(attempt, query, diagnosis);
    if (plans.empty()) continue;
    extenders_->AskToEvict(
        attempt.pod, std::move(plans),
        [this](std::string_view node, std::string_view uid) {
          const PodInfo* pod = ledger_.Find(uid);
          const auto row = ledger_.nodes().Find(node);
          return pod != nullptr && row == pod->row ? pod->pod : nullptr;
        },
        Answered<std::vector<EvictionPlan>>(
            [plugin, done = std::move(done)](StatusOr<std::vector<EvictionPlan>> left) mutable {
              done(Agreed{plugin, std::move(left)});
            }));
    return true;
  }
  return false;
}

bool ExtenderDialogue::HaveABinderFor(const kube::Pod& pod) const {
  return extenders_ != nullptr && extenders_->HaveABinderFor(pod);
}

void ExtenderDialogue::Bind(const Attempt& attempt, VerdictDone done) {
  extenders_->Bind(*attempt.pod, attempt.node, std::move(done));
}

}  // namespace koord::scheduler
