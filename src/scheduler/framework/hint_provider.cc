#include "scheduler/framework/hint_provider.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace koord::scheduler {
namespace {

bool HoldsRoomForOthers(const PodInfo* pod) { return pod->held != nullptr && pod->held->reserves; }

// What was reserved is to be used before anything else.
void AddWays(const RoomSource& source, std::vector<RoomSource>& ways) {
  if (source.reserve_pod != nullptr && !source.is_restricted) {
    ways.push_back({.reserve_pod = source.reserve_pod, .is_restricted = true});
  }
  ways.push_back(source);
}

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
  if (aligner_ == nullptr || trials.empty()) return {};
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

ProfileTrials::Sources ProfileTrials::SourcesFor(const PodShape& shape, NodeRow row) {
  const ReservedRooms::Found found = RoomsFor(shape, row);
  Sources all{.sources = {}, .must_use_one = found.must_use_one};
  for (const RoomSource& source : found.sources) AddWays(source, all.sources);
  const bool has_everything = !found.sources.empty() && found.sources.back().is_everything;
  if (!found.must_use_one && !has_everything) all.sources.push_back({});
  return all;
}

ProfileTrials::Sources ProfileTrials::SourcesFor(const Attempt& attempt) {
  const ReservedRooms::Found found = RoomsFor(*attempt.shape, attempt.row);
  const bool draws = attempt.held != nullptr && attempt.held->draws_from;
  Sources all{.sources = {}, .must_use_one = draws};
  for (const RoomSource& source : found.sources) {
    const bool is_drawn_from =
        draws && !source.is_everything &&
        source.reserve_pod->held->reserves->uid == attempt.held->draws_from->uid;
    if (is_drawn_from || source.is_everything) AddWays(source, all.sources);
  }
  if (all.sources.empty()) all.sources.push_back({});
  return all;
}

ProfileTrials::Settled ProfileTrials::Settle(const PodShape& shape, const RowView& view,
                                             const Sources& sources) {
  Settled settled;
  for (const RoomSource& source : sources.sources) {
    settled = {source, Run({shape, view, source})};
    if (settled.agreement.verdict.ok()) break;
  }
  return settled;
}

bool ProfileTrials::HasOthers(const HintProvider& than, const TrialQuestion& question) {
  return std::ranges::any_of(providers_, [&](HintProvider* each) {
    return each != &than && each->Try(question) != nullptr;
  });
}

}  // namespace koord::scheduler
