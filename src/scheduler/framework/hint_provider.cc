#include "scheduler/framework/hint_provider.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace koord::scheduler {
namespace {

bool HoldsRoomForOthers(const PodInfo* pod) { return pod->held != nullptr && pod->held->reserves; }

}  // namespace

RowDelta DeltaFor(const TrialQuestion& question) {
  RowDelta delta;
  if (question.view.delta != nullptr) delta = *question.view.delta;
  if (question.source.is_everything) return delta;
  std::erase_if(delta.removed, HoldsRoomForOthers);
  if (question.source.reserve_pod != nullptr) {
    delta.removed.push_back(question.source.reserve_pod);
  }
  return delta;
}

void ProfileTrials::Join(HintProvider& provider) { providers_.push_back(&provider); }

void ProfileTrials::SetAligner(NumaAligner& aligner, HintProvider& first) {
  aligner_ = &aligner;
  providers_.insert(providers_.begin(), &first);
}

ProfileTrials::Trials ProfileTrials::TrialsFor(const TrialQuestion& question) {
  Trials trials;
  for (HintProvider* provider : providers_) {
    if (auto trial = provider->Try(question)) trials.push_back(std::move(trial));
  }
  return trials;
}

ProfileTrials::Agreement ProfileTrials::AgreeAmong(const TrialQuestion& question,
                                                   const Trials& trials) {
  if (aligner_ == nullptr) return {};
  NumaAligner::Terms terms = aligner_->TermsFor(question);
  if (!terms.verdict.ok()) return {.verdict = std::move(terms.verdict)};
  if (terms.policy == model::NumaPolicy::kNone) return {};
  std::vector<model::ProviderHints> hints;
  Verdict unknown;
  for (const auto& trial : trials) {
    HintTrial::Answer answer = trial->Hints(terms.policy, terms.all);
    if (!answer.verdict.ok()) {
      unknown.code = Code::kUnschedulable;
      std::ranges::move(answer.verdict.reasons, std::back_inserter(unknown.reasons));
    }
    hints.push_back(std::move(answer.hints));
  }
  if (!unknown.ok()) return {.verdict = std::move(unknown), .is_aligned = true};
  model::NumaDecision decision =
      model::MergeHints(terms.policy, terms.all, hints, terms.exclusivity);
  if (!decision.admitted) {
    return {.verdict = {Code::kUnschedulable, std::move(decision.reasons)}, .is_aligned = true};
  }
  return {.verdict = {}, .from = decision.best.mask, .is_aligned = true};
}

ProfileTrials::Agreement ProfileTrials::Agree(const TrialQuestion& question) {
  return AgreeAmong(question, TrialsFor(question));
}

ProfileTrials::Agreement ProfileTrials::Run(const TrialQuestion& question, Holdings* into) {
  const Trials trials = TrialsFor(question);
  Agreement agreement = AgreeAmong(question, trials);
  for (const auto& trial : trials) {
    if (!agreement.verdict.ok()) break;
    agreement.verdict = trial->Allocate(agreement.from, into);
  }
  return agreement;
}

std::vector<RoomSource> ProfileTrials::SourcesFor(const PodShape& shape, NodeRow row,
                                                  bool* must_use_one) {
  *must_use_one = false;
  if (rooms_ == nullptr) return {RoomSource()};
  ReservedRooms::Found found = rooms_->RoomsFor(shape, row);
  *must_use_one = found.must_use_one;
  if (!found.must_use_one && (found.sources.empty() || !found.sources.back().is_everything)) {
    found.sources.push_back({});
  }
  return std::move(found.sources);
}

}  // namespace koord::scheduler
