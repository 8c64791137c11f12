#include "scheduler/gangs/gang_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/keys.h"
#include "base/strings.h"

namespace koord::scheduler {
namespace {

std::string KeyOfPod(const kube::Pod& pod) { return KeyOf(pod.metadata).ToString(); }

std::string InBrackets(const std::vector<std::string>& ids) {
  return fmt::format("[{}]", Join(ids, " "));
}

}  // namespace

GangBook& GangBook::Of(const PluginContext& context, const model::GangDefaults& defaults) {
  std::shared_ptr<GangBook>& book = context.books.gangs;
  if (book == nullptr) book.reset(new GangBook(context, defaults));
  book->profiles_.insert(context.profile);
  return *book;
}

GangBook::GangBook(const PluginContext& context, const model::GangDefaults& defaults)
    : objects_(context.objects),
      handle_(context.handle),
      clock_(context.loop.clock()),
      defaults_(defaults),
      metrics_(context.metrics) {
  context.objects.pod_groups.Need();
  context.objects.pod_groups.AddWatcher(scope_.Wrap(
      [this](const auto& before, const auto& after) { OnPodGroup(before.get(), after.get()); }));
  for (const auto& [key, group] : context.objects.pod_groups.objects()) {
    OnPodGroup(nullptr, group.get());
  }
  context.ledger.AddListener(*this);
  if (context.pending != nullptr) context.pending->AddListener(*this);
}

// ---- Who is who

const GangBook::Member* GangBook::Find(std::string_view uid) const {
  const auto found = members_.find(uid);
  return found == members_.end() ? nullptr : found->second.get();
}

const GangBook::Gang* GangBook::FindGang(std::string_view id) const {
  const auto found = gangs_.find(id);
  return found == gangs_.end() ? nullptr : found->second.get();
}

GangBook::Group* GangBook::FindGroup(std::string_view id) const {
  const auto found = groups_.find(id);
  return found == groups_.end() ? nullptr : found->second.get();
}

std::vector<const GangBook::Gang*> GangBook::GangsOf(const Group& group) const {
  std::vector<const Gang*> gangs;
  for (const std::string& id : group.gang_ids) {
    const Gang* gang = FindGang(id);
    if (gang != nullptr && gang->group == &group) gangs.push_back(gang);
  }
  return gangs;
}

std::string GangBook::WhyIncomplete(const Group& group) const {
  std::vector<std::string> missing, undefined, strangers;
  bool is_short = false;
  for (const std::string& id : group.gang_ids) {
    const Gang* gang = FindGang(id);
    if (gang == nullptr) {
      missing.push_back(id);
    } else if (!gang->spec) {
      undefined.push_back(id);
    } else if (gang->group != &group) {
      strangers.push_back(id);
    } else {
      is_short |= gang->children() < static_cast<size_t>(gang->spec->min);
    }
  }
  std::vector<std::string> parts;
  const auto say = [&](const std::vector<std::string>& ids, std::string_view what) {
    if (!ids.empty()) parts.push_back(fmt::format("memberGangs {} {}", InBrackets(ids), what));
  };
  say(missing, "doesn't exists");
  say(undefined, "has not init");
  say(strangers, "doesn't list this gangGroup");
  if (is_short) say(group.gang_ids, "child pod not collect enough");
  if (parts.empty()) return "";
  return fmt::format("gangGroup {} basic check: {}", InBrackets(group.gang_ids), Join(parts, ", "));
}

bool GangBook::IsSatisfied(const Group& group) const {
  const std::vector<const Gang*> gangs = GangsOf(group);
  if (gangs.size() != group.gang_ids.size()) return false;
  return std::ranges::all_of(gangs, [&](const Gang* gang) {
    if (!gang->spec) return false;
    const auto min = static_cast<size_t>(gang->spec->min);
    const size_t waiting = gang->waiting();
    switch (gang->spec->policy) {
      case model::GangMatchPolicy::kOnlyWaiting:
        return waiting >= min;
      case model::GangMatchPolicy::kWaitingAndRunning:
        return waiting + gang->in(State::kBound).size() >= min;
      case model::GangMatchPolicy::kOnceSatisfied:
        return waiting >= min || group.once_satisfied;
    }
    return false;
  });
}

bool GangBook::GoesAlone(const Member& member) const {
  const Gang& gang = *member.gang;
  const Group& group = *gang.group;
  if (!gang.spec) return false;
  if (group.once_satisfied && gang.spec->policy == model::GangMatchPolicy::kOnceSatisfied) {
    return true;
  }
  return group.let_go.contains(member.pod->metadata.uid) ||
         group.announced > static_cast<int64_t>(group.announced_bound.size());
}

std::string GangBook::WhyNotTried(const Member& member) const {
  if (member.sent_back) return "is being sent back from its node";
  const kube::Pod& pod = *member.pod;
  if (!profiles_.contains(pod.spec.scheduler_name)) {
    return fmt::format("is for scheduler {}", Quote(pod.spec.scheduler_name, 64));
  }
  if (!pod.spec.scheduling_gates.empty()) return "is held by its schedulingGates";
  return "";
}

size_t GangBook::WaitingIn(const Group& group) const {
  size_t waiting = 0;
  for (const Gang* gang : GangsOf(group)) waiting += gang->waiting();
  return waiting;
}

// ---- What the cluster shows

void GangBook::OnPodPending(const PodPtr&, const PodPtr& after) {
  const std::string& uid = after->metadata.uid;
  const std::string id = model::GangIdOf(*after);
  const auto known = members_.find(uid);
  if (known != members_.end()) {
    Member& member = *known->second;
    const bool stays = member.gang->id == id && !IsBeingDeleted(after->metadata);
    // Who waits leaves by the answer to its attempt, or when it is gone.
    if (stays || member.state == State::kWaiting) {
      member.pod = after;
      return TellChanged(member.gang->id);
    }
    Remove(uid);
  }
  // One that is being deleted will never be given a node.
  if (id.empty() || IsBeingDeleted(after->metadata)) return;
  Gang& gang = GangFor(id);
  const bool was_complete = WhyIncomplete(*gang.group).empty();
  Member& member = Add(after, gang, State::kPending);
  Define(gang, *after);
  Group& group = *gang.group;
  if (round_ && round_->group == group.id) round_->to_try.push_back(uid);
  // The pod itself comes to the queue now. If it cannot be tried, another one must stand for it.
  if (!was_complete && !WhyNotTried(member).empty()) Wake(group);
}

void GangBook::OnPodBound(const PodPtr&, const PodPtr& after) {
  // The ledger tells of it, if its node exists. Otherwise it has none that counts.
  if (Find(after->metadata.uid) != nullptr) SetBound(after->metadata.uid);
}

void GangBook::OnSeenOnNode(const PodInfo& info) {
  if (info.assumed) return;  // that is between the plugin and its attempt
  const std::string id = model::GangIdOf(*info.pod);
  const auto known = members_.find(info.uid());
  if (known != members_.end()) {
    known->second->pod = info.pod;
    TellChanged(known->second->gang->id);
    if (known->second->gang->id == id) return SetBound(info.uid());
    Remove(info.uid());
  }
  if (id.empty()) return;
  Gang& gang = GangFor(id);
  Add(info.pod, gang, State::kPending);
  Define(gang, *info.pod);
  SetBound(info.uid());
}

void GangBook::OnPodRemoved(const PodInfo& info) {
  if (!info.assumed) Remove(info.uid());
}

void GangBook::OnPodGroup(const api::PodGroup* before, const api::PodGroup* after) {
  const kube::ObjectMeta& meta = (after != nullptr ? after : before)->metadata;
  Gang& gang = GangFor(KeyOf(meta).ToString());
  if (after != nullptr) {
    gang.problem.clear();
    return SetSpec(gang, model::GangSpecOf(*after, defaults_));
  }
  SetSpec(gang, std::nullopt);
  gang.problem = "its PodGroup is gone";
  for (const auto& uids : gang.members) {
    for (const std::string& uid : uids) {
      if (!gang.spec) Define(gang, *members_.find(uid)->second->pod);
    }
  }
  DropIfUnknown(gang);
}

// ---- Gangs and groups

GangBook::Gang& GangBook::GangFor(const std::string& id) {
  std::unique_ptr<Gang>& gang = gangs_[id];
  if (gang != nullptr) return *gang;
  gang = std::make_unique<Gang>();
  gang->id = id;
  Attach(*gang);
  return *gang;
}

bool GangBook::HasPodGroup(const Gang& gang) const {
  return objects_.pod_groups.Find(model::PodGroupKeyOf(gang.id)) != nullptr;
}

// What a pod says counts if nobody has said it before, and its PodGroup is not to say it.
void GangBook::Define(Gang& gang, const kube::Pod& pod) {
  if (gang.spec) return;
  if (model::IsOfPodGroup(pod)) {
    gang.problem = "its PodGroup does not exist";
    return;
  }
  auto spec = model::GangSpecOf(pod, defaults_);
  if (spec.ok()) {
    gang.problem.clear();
    SetSpec(gang, *std::move(spec));
  } else {
    gang.problem = fmt::format("pod {}: {}", KeyOfPod(pod), Message(spec.status()));
  }
}

void GangBook::SetSpec(Gang& gang, std::optional<model::GangSpec> spec) {
  if (gang.spec == spec) return;
  gang.spec = std::move(spec);
  const std::vector<std::string> ids =
      gang.spec ? gang.spec->group : std::vector<std::string>{gang.id};
  if (gang.group->gang_ids != ids) {
    Detach(gang);
    Attach(gang);
  }
  Wake(*gang.group);
}

void GangBook::Attach(Gang& gang) {
  const std::vector<std::string> ids =
      gang.spec ? gang.spec->group : std::vector<std::string>{gang.id};
  std::unique_ptr<Group>& group = groups_[model::GangGroupIdOf(ids)];
  if (group == nullptr) {
    group = std::make_unique<Group>();
    group->id = model::GangGroupIdOf(ids);
    group->gang_ids = ids;
  }
  gang.group = group.get();
  ++group->gangs;
  group->sent_back += gang.sent_back;
  for (const std::string& uid : gang.in(State::kBound)) {
    group->once_satisfied = true;
    Note(*group, *members_.find(uid)->second->pod);
  }
}

void GangBook::Detach(Gang& gang) {
  Group& group = *std::exchange(gang.group, nullptr);
  group.sent_back -= gang.sent_back;
  for (const auto& uids : gang.members) {
    for (const std::string& uid : uids) Forget(group, uid);
  }
  CountWaiting(group);
  if (--group.gangs == 0) groups_.erase(group.id);
}

void GangBook::DropIfUnknown(Gang& gang) {
  if (gang.children() != 0 || HasPodGroup(gang)) return;
  Detach(gang);
  gangs_.erase(gangs_.find(gang.id));
}

void GangBook::Forget(Group& group, std::string_view uid) {
  if (group.representative == uid) group.representative.clear();
  group.binding.erase(uid);
  group.let_go.erase(uid);
}

// Pods say with how many others they were let go: so does a scheduler know that comes after.
void GangBook::Note(Group& group, const kube::Pod& bound) {
  const kube::Annotations& annotations = bound.metadata.annotations;
  if (kube::ValueOf(annotations, api::kAnnotationBindGangGroupId) != group.id) return;
  const auto count = ParseInt(kube::ValueOf(annotations, api::kAnnotationBindGangMemberCount));
  if (!count) return;
  group.announced = std::max(group.announced, *count);
  group.announced_bound.insert(bound.metadata.uid);
}

// ---- Members

GangBook::Member& GangBook::Add(const PodPtr& pod, Gang& gang, State state) {
  const std::string& uid = pod->metadata.uid;
  auto& slot = members_[uid];
  slot = std::make_unique<Member>(Member{.pod = pod, .gang = &gang, .state = state});
  gang.members[static_cast<size_t>(state)].insert(uid);
  TellChanged(gang.id);
  return *slot;
}

void GangBook::Remove(std::string_view uid) {
  const auto at = members_.find(uid);
  if (at == members_.end()) return;
  EndSentBack(*at->second);
  const std::unique_ptr<Member> member = std::move(at->second);
  members_.erase(at);
  Gang& gang = *member->gang;
  Group& group = *gang.group;
  gang.members[static_cast<size_t>(member->state)].erase(member->pod->metadata.uid);
  Forget(group, member->pod->metadata.uid);
  CountWaiting(group);
  TellChanged(gang.id);
  const std::string group_id = group.id;
  DropIfUnknown(gang);
  // The one that kept the others from being placed may have been this one.
  if (member->state == State::kBound) return;
  if (Group* left = FindGroup(group_id)) Wake(*left);
  if (Group* left = FindGroup(group_id)) WakeIfSettled(*left);
}

void GangBook::Move(Member& member, State state) {
  const std::string& uid = member.pod->metadata.uid;
  member.gang->members[static_cast<size_t>(member.state)].erase(uid);
  member.gang->members[static_cast<size_t>(state)].insert(uid);
  EndSentBack(member);
  member.state = state;
  Group& group = *member.gang->group;
  if (WaitingIn(group) == 0) group.binding.clear();
  CountWaiting(group);
  TellChanged(member.gang->id);
}

void GangBook::CountWaiting(Group& group) {
  const bool has_waiting = WaitingIn(group) != 0;
  if (has_waiting == group.has_waiting) return;
  group.has_waiting = has_waiting;
  has_waiting ? ++waiting_groups_ : --waiting_groups_;
  metrics_.SetWaitingGroups(waiting_groups_);
}

void GangBook::SetWaiting(std::string_view uid) {
  const auto at = members_.find(uid);
  if (at == members_.end() || at->second->state == State::kBound) return;
  Move(*at->second, State::kWaiting);
  at->second->sent_back_at = 0;
  Group& group = *at->second->gang->group;
  if (group.representative == uid) group.representative.clear();
}

void GangBook::SetSentBack(std::string_view uid) {
  const auto at = members_.find(uid);
  if (at == members_.end() || at->second->state != State::kWaiting || at->second->sent_back) return;
  if (sent_back_++ == 0) tried_meanwhile_.clear();
  at->second->sent_back = true;
  at->second->sent_back_at = ++attempts_;
  ++at->second->gang->sent_back;
  ++at->second->gang->group->sent_back;
}

void GangBook::NoteTried(std::string_view uid) {
  if (sent_back_ == 0) return;
  tried_ = ++attempts_;
  tried_meanwhile_[uid] = tried_;
}

bool GangBook::WasTriedSince(const Member& sent_back, std::string_view uid) const {
  const auto found = tried_meanwhile_.find(uid);
  return found != tried_meanwhile_.end() && found->second > sent_back.sent_back_at;
}

void GangBook::EndSentBack(Member& member) {
  if (!std::exchange(member.sent_back, false)) return;
  --sent_back_;
  --member.gang->sent_back;
  --member.gang->group->sent_back;
}

void GangBook::WakeIfSettled(Group& group) {
  if (group.sent_back != 0 || !std::exchange(group.wake_when_settled, false)) return;
  Wake(group);
}

void GangBook::SetPending(std::string_view uid) {
  const auto at = members_.find(uid);
  if (at == members_.end() || at->second->state != State::kWaiting) return;
  Member& member = *at->second;
  Move(member, State::kPending);
  const std::string group = member.gang->group->id;
  if (IsBeingDeleted(member.pod->metadata)) Remove(uid);
  if (Group* left = FindGroup(group)) WakeIfSettled(*left);
}

void GangBook::SetBound(std::string_view uid) {
  const auto at = members_.find(uid);
  if (at == members_.end()) return;
  Member& member = *at->second;
  Group& group = *member.gang->group;
  Note(group, *member.pod);
  if (member.state == State::kBound) return;
  const bool is_ours = member.state == State::kWaiting;
  Move(member, State::kBound);
  group.let_go.erase(uid);
  if (group.representative == uid) group.representative.clear();
  const bool is_first = !std::exchange(group.once_satisfied, true);
  // What others have bound may be what the rest has waited for.
  if (is_first || !is_ours) Wake(group);
}

void GangBook::LetGo(Group& group) {
  group.announced = 0;
  group.announced_bound.clear();
  const bool is_recorded = !group.binding.empty();
  for (const Gang* gang : GangsOf(group)) {
    for (const std::string& uid : gang->in(State::kWaiting)) {
      if (members_.find(uid)->second->sent_back) continue;
      group.let_go.insert(uid);
      if (!is_recorded) group.binding.insert(uid);
    }
  }
}

// ---- Members that have ended

const std::map<std::string, GangBook::Ended, std::less<>>& GangBook::EndedOf(
    std::string_view gang) const {
  static const std::map<std::string, Ended, std::less<>> kNone;
  const auto found = ended_.find(gang);
  return found == ended_.end() ? kNone : found->second;
}

void GangBook::SetEnded(const kube::Pod& pod) {
  const std::string gang = model::GangIdOf(pod);
  if (gang.empty()) return;
  ended_[gang][pod.metadata.uid] = {.succeeded = pod.status.phase == "Succeeded",
                                    .had_node = !pod.spec.node_name.empty()};
  TellChanged(gang);
}

void GangBook::RemoveEnded(const kube::Pod& pod) {
  const std::string gang = model::GangIdOf(pod);
  const auto found = ended_.find(gang);
  if (found == ended_.end()) return;
  found->second.erase(pod.metadata.uid);
  if (found->second.empty()) ended_.erase(found);
  TellChanged(gang);
}

// ---- Rounds

const GangBook::Round* GangBook::RoundOf(const Group& group) const {
  return round_ && round_->group == group.id ? &*round_ : nullptr;
}

GangBook::Round& GangBook::Open(const Member& first) {
  const Group& group = *first.gang->group;
  round_ = Round{.group = group.id, .gang = first.gang->id, .began = clock_.Steady()};
  round_->attempted.insert(first.pod->metadata.uid);
  round_->tried = 1;
  // As many as each gang needs come before those that it could do without: what those would take
  // may be what the next gang needs.
  std::vector<std::string> rest;
  for (const Gang* gang : GangsOf(group)) {
    size_t needed = NeededOf(*gang) - (gang == first.gang ? 1 : 0);
    for (const State state : {State::kPending, State::kWaiting}) {
      for (const std::string& uid : gang->in(state)) {
        const Member& member = *members_.find(uid)->second;
        if (&member == &first || (state == State::kWaiting && !member.sent_back)) continue;
        const bool counts = needed > 0 && WhyNotTried(member).empty();
        if (counts) --needed;
        (counts ? round_->to_try.emplace_back(uid) : rest.emplace_back(uid));
      }
    }
  }
  round_->to_try.insert(round_->to_try.end(), rest.begin(), rest.end());
  return *round_;
}

// How many more must be given nodes; at least one, since one is being tried.
size_t GangBook::NeededOf(const Gang& gang) const {
  const auto min = static_cast<size_t>(gang.spec ? gang.spec->min : 0);
  const bool bound_count =
      gang.spec && gang.spec->policy == model::GangMatchPolicy::kWaitingAndRunning;
  const size_t there = gang.waiting() + (bound_count ? gang.in(State::kBound).size() : 0);
  return std::max<size_t>(min > there ? min - there : 0, 1);
}

void GangBook::Close(std::string_view reason) {
  if (!round_) return;
  const Round last = *std::exchange(round_, std::nullopt);
  metrics_.ObserveRound(reason, last.tried, clock_.Steady() - last.began);
  Group* group = FindGroup(last.group);
  if (group == nullptr) return;
  // Who came while the round was under way was kept out of the queue.
  const auto is_new = [&](const std::string& uid) {
    const Member* member = Find(uid);
    return !last.attempted.contains(uid) && member != nullptr && member->state == State::kPending;
  };
  if (last.wake_after || std::ranges::any_of(last.to_try, is_new)) Wake(*group);
}

void GangBook::Wake(Group& group) {
  if (round_ && round_->group == group.id) {
    round_->wake_after = true;
    return;
  }
  if (handle_ == nullptr) return;
  const bool is_complete = WhyIncomplete(group).empty();
  // Where each goes its own way, all are brought back; otherwise one stands for all.
  const bool some_go_alone = group.once_satisfied || !group.let_go.empty() || group.announced != 0;
  if (!is_complete && !some_go_alone) return;
  bool has_one_for_all = !is_complete || !group.representative.empty();
  std::vector<kube::ObjectKey> pods;
  for (const Gang* gang : GangsOf(group)) {
    for (const std::string& uid : gang->in(State::kPending)) {
      if (has_one_for_all && !some_go_alone) break;
      const Member& member = *members_.find(uid)->second;
      if (!WhyNotTried(member).empty()) continue;
      if (!GoesAlone(member) && std::exchange(has_one_for_all, true)) continue;
      pods.push_back(KeyOf(member.pod->metadata));
    }
  }
  if (!pods.empty()) handle_->Activate(pods);
}

}  // namespace koord::scheduler
