#include "scheduler/plugins/coscheduling/rounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/keys.h"
#include "base/strings.h"
#include "scheduler/pipeline/pipeline.h"

namespace koord::scheduler {
namespace {

using Gang = GangBook::Gang;
using Group = GangBook::Group;
using Member = GangBook::Member;
using State = GangBook::State;

// A group whose time is over is tried again: not more often than this, whatever its pods say.
constexpr Duration kLeastWait = std::chrono::seconds(1);

// Why rounds end.
constexpr std::string_view kSucceeded = "gang is already succeed";
constexpr std::string_view kAllTried = "all pending pods is already been attempted";
constexpr std::string_view kGangIsGone = "gang is nil, may be already deleted";

std::string KeyOfPod(const kube::Pod& pod) { return KeyOf(pod.metadata).ToString(); }

// As Go quotes a text.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Why it fits nowhere, without what was tried to make room.
std::string WhyUnfit(const Diagnosis& diagnosis, const Reasons& reasons) {
  if (!diagnosis.pre_filter.rejected()) return FitErrorMessage(diagnosis, reasons, "");
  return fmt::format("0/{0} nodes are available: {0} {1}.", diagnosis.nodes,
                     diagnosis.pre_filter.Message());
}

bool IsStrict(const Gang& gang) {
  return !gang.spec || gang.spec->mode == model::GangMode::kStrict;
}

}  // namespace

Rounds::Rounds(GangBook& book, const PluginContext& context)
    : book_(book), handle_(context.handle), reasons_(context.reasons) {}

// ---- May it be tried

Verdict Rounds::CheckGang(const kube::Pod& pod, const Member* member) const {
  const auto names = [&](const std::string& id) {
    return fmt::format("gangName: {}, podName: {}", id, KeyOfPod(pod));
  };
  if (member == nullptr) {
    return Verdict::Unresolvable(fmt::format("can't find gang, {}", names(model::GangIdOf(pod))));
  }
  const Gang& gang = *member->gang;
  if (!gang.spec)
    return Verdict::Unresolvable(fmt::format("gang has not init, {}", names(gang.id)));
  if (book_.GoesAlone(*member)) return Verdict::Success();
  if (const std::string why = book_.WhyIncomplete(*gang.group); !why.empty()) {
    return Verdict::Unresolvable(
        fmt::format("{}, current gang: {}, podName: {}", why, gang.id, KeyOfPod(pod)));
  }
  return Verdict::Success();
}

Verdict Rounds::Gate(const kube::Pod& pod) {
  if (api::GangNameOf(pod.metadata).empty()) return Verdict::Success();
  const std::string& uid = pod.metadata.uid;
  const Member* member = book_.Find(uid);
  if (Verdict verdict = CheckGang(pod, member); !verdict.ok()) {
    if (member != nullptr && member->gang->group->representative == uid) {
      member->gang->group->representative.clear();
    }
    return verdict;
  }
  if (book_.GoesAlone(*member)) return Verdict::Success();
  Group& group = *member->gang->group;
  const GangBook::Round* round = book_.RoundOf(group);
  if (round != nullptr && !round->attempted.contains(uid)) {
    return Verdict::Unresolvable(
        fmt::format("gangGroup {} is scheduling and this pod has not been attempted", group.id));
  }
  if (member->state != State::kPending) {
    return Verdict::Unresolvable(fmt::format("pod {} is not exists in gangCache", KeyOfPod(pod)));
  }
  // One that others hold back cannot stand for the group.
  if (!book_.WhyNotTried(*member).empty()) return Verdict::Success();
  const Member* representative = book_.Find(group.representative);
  if (representative != nullptr && representative != member) {
    return Verdict::Unresolvable(
        fmt::format("representative pod {} of gangGroupID {} already exists",
                    KeyOfPod(*representative->pod), group.id));
  }
  group.representative = uid;
  return Verdict::Success();
}

Verdict Rounds::Admit(const kube::Pod& pod) const {
  Verdict verdict = CheckRound(pod);
  if (verdict.ok()) book_.NoteTried(pod.metadata.uid);
  return verdict;
}

Verdict Rounds::CheckRound(const kube::Pod& pod) const {
  if (api::GangNameOf(pod.metadata).empty()) return Verdict::Success();
  const Member* member = book_.Find(pod.metadata.uid);
  if (Verdict verdict = CheckGang(pod, member); !verdict.ok()) return verdict;
  if (book_.GoesAlone(*member)) return Verdict::Success();
  const GangBook::Round* round = book_.RoundOf(*member->gang->group);
  if (round == nullptr || round->failure.empty()) return Verdict::Success();
  return Verdict::Unresolvable(round->failure);
}

// ---- Who is tried next

bool Rounds::IsToBeTried(const Member& member, const Group& group) const {
  if (member.gang->group != &group) return false;
  return member.state == State::kPending || member.sent_back;
}

std::string Rounds::Next() {
  GangBook::Round* round = book_.round();
  if (round == nullptr) return "";
  Group* group = book_.FindGroup(round->group);
  const Gang* gang = book_.FindGang(round->gang);
  if (group == nullptr || gang == nullptr || !gang->spec || gang->group != group) {
    if (group != nullptr) SendBack(*group, std::string(kGangIsGone));
    book_.Close(kGangIsGone);
    return "";
  }
  while (!round->to_try.empty()) {
    const std::string uid = std::move(round->to_try.front());
    round->to_try.pop_front();
    const Member* member = book_.Find(uid);
    if (member == nullptr || !IsToBeTried(*member, *group)) continue;
    if (!round->attempted.insert(uid).second) continue;
    const std::string why_not = book_.WhyNotTried(*member);
    if (why_not.empty()) {
      ++round->tried;
      if (group->representative == uid) group->representative.clear();
      return uid;
    }
    group->wake_when_settled |= member->sent_back;
    round->skipped.push_back(fmt::format("{} {}", KeyOfPod(*member->pod), why_not));
  }
  std::string text(kAllTried);
  if (!round->skipped.empty()) text += fmt::format(" but {}", Join(round->skipped, ", "));
  SendBack(*group, text);
  book_.Close(kAllTried);
  return "";
}

void Rounds::OnRefused(std::string_view uid, std::string_view gate) {
  GangBook::Round* round = book_.round();
  const Member* member = book_.Find(uid);
  if (round == nullptr || member == nullptr) return;
  --round->tried;
  round->skipped.push_back(fmt::format(
      "{} {}", KeyOfPod(*member->pod),
      gate.empty() ? std::string("is not in the queue") : fmt::format("is held by {}", gate)));
}

// ---- What comes of it

PermitResult Rounds::Permit(const Attempt& attempt) {
  const kube::Pod& pod = *attempt.pod;
  const std::string& uid = pod.metadata.uid;
  if (api::GangNameOf(pod.metadata).empty()) return {Verdict::Success()};
  const Member* member = book_.Find(uid);
  if (member == nullptr) return {Verdict::Unschedulable("Gang not found")};
  const bool goes_alone = book_.GoesAlone(*member);
  if (!goes_alone && book_.round() == nullptr) book_.Open(*member);
  book_.SetWaiting(uid);
  if (goes_alone) return {Verdict::Success()};
  Group& group = *member->gang->group;
  if (book_.IsSatisfied(group)) {
    LetGo(group, uid);
    return {Verdict::Success()};
  }
  const auto& spec = member->gang->spec;
  return {Verdict::Wait(), spec ? std::max(spec->wait, kLeastWait) : Duration::zero()};
}

void Rounds::LetGo(Group& group, std::string_view but) {
  book_.LetGo(group);
  if (book_.RoundOf(group) != nullptr) book_.Close(kSucceeded);
  if (handle_ == nullptr) return;
  for (const Gang* gang : book_.GangsOf(group)) {
    for (const std::string& uid : gang->in(State::kWaiting)) {
      if (uid != but && !book_.Find(uid)->sent_back) handle_->Allow(uid, kPlugin);
    }
  }
}

void Rounds::SendBack(const Group& group, const std::string& text) {
  if (handle_ == nullptr) return;
  for (const Gang* gang : book_.GangsOf(group)) {
    for (const std::string& uid : gang->in(State::kWaiting)) {
      if (book_.Find(uid)->sent_back) continue;
      if (handle_->Reject(uid, kPlugin, text, PromiseAfter::kAsBefore)) book_.SetSentBack(uid);
    }
  }
}

void Rounds::Unreserve(const Attempt& attempt) {
  const kube::Pod& pod = *attempt.pod;
  const std::string& uid = pod.metadata.uid;
  const Member* member = book_.Find(uid);
  if (member == nullptr || member->state == State::kBound) return;
  Gang& gang = *member->gang;
  Group& group = *gang.group;
  const bool fails_others = !member->sent_back && !book_.GoesAlone(*member) && IsStrict(gang);
  const bool had_waited = member->state == State::kWaiting;
  if (!fails_others) return book_.SetPending(uid);
  const std::string text = fmt::format("Gang \"{}\" gets rejected due to Pod \"{}\" in Unreserve",
                                       gang.id, pod.metadata.name);
  SendBack(group, text);
  if (GangBook::Round* round = book_.round();
      round != nullptr && round->group == group.id && round->failure.empty()) {
    round->failure = text;
  }
  // Its time was over: nothing that anybody waits for will bring the group back.
  group.wake_when_settled |= had_waited;
  book_.SetPending(uid);
}

void Rounds::OnUnfit(const Attempt& attempt, const Diagnosis& diagnosis) {
  const kube::Pod& pod = *attempt.pod;
  const Member* member = book_.Find(pod.metadata.uid);
  if (member == nullptr || book_.GoesAlone(*member)) return;
  Group& group = *member->gang->group;
  if (group.representative == pod.metadata.uid) group.representative.clear();
  if (diagnosis.pre_filter.rejected() && diagnosis.pre_filter.plugin == kPlugin) return;
  if (book_.round() == nullptr) book_.Open(*member);
  GangBook::Round& round = *book_.round();
  if (round.group != group.id || !round.failure.empty() || !IsStrict(*member->gang)) return;
  round.failure = fmt::format(
      "GangGroup \"{}\" gets rejected due to member Pod \"{}\" is unschedulable with reason {}, "
      "alreadyWaitForBound: {}",
      group.id, KeyOfPod(pod), Quoted(WhyUnfit(diagnosis, reasons_)), book_.WaitingIn(group));
  SendBack(group, round.failure);
}

void Rounds::Annotate(Attempt& attempt) const {
  const Member* member = book_.Find(attempt.pod->metadata.uid);
  if (member == nullptr) return;
  const Group& group = *member->gang->group;
  if (group.binding.size() < 2 || !group.binding.contains(attempt.pod->metadata.uid)) return;
  const std::string count = fmt::format("{}", group.binding.size());
  attempt.annotations[std::string(api::kAnnotationBindGangGroupId)] = group.id;
  attempt.annotations[std::string(api::kAnnotationDeprecatedBindGangGroupId)] = group.id;
  attempt.annotations[std::string(api::kAnnotationBindGangMemberCount)] = count;
  attempt.annotations[std::string(api::kAnnotationDeprecatedBindGangMemberCount)] = count;
}

void Rounds::OnBound(const Attempt& attempt) { book_.SetBound(attempt.pod->metadata.uid); }

bool Rounds::HasSentBack(const kube::Pod& pod) const {
  const Member* member = book_.Find(pod.metadata.uid);
  return member != nullptr && member->sent_back && !book_.WasAnyTriedSince(*member);
}

bool Rounds::AreOne(const kube::Pod& gives_back, const kube::Pod& other) const {
  const Member* one = book_.Find(gives_back.metadata.uid);
  const Member* two = book_.Find(other.metadata.uid);
  if (one == nullptr) return false;
  if (two != nullptr && one->gang->group == two->gang->group) return !book_.GoesAlone(*two);
  return one->sent_back_at != 0 && !book_.WasTriedSince(*one, other.metadata.uid);
}

}  // namespace koord::scheduler
