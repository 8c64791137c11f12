#include "scheduler/queue/wait_groups.h"

#include <algorithm>

namespace koord::scheduler {

void WaitGroups::Join(QueueEntry& entry, const Unfit& unfit) {
  std::unique_ptr<WaitGroup>& slot = groups_[{entry.profile, unfit.shape->id}];
  if (slot == nullptr) slot = std::make_unique<WaitGroup>();
  WaitGroup& group = *slot;
  std::shared_ptr<ProbeState> probe = std::move(group.unfit.probe);
  group.unfit = unfit;
  if (group.unfit.probe == nullptr) group.unfit.probe = std::move(probe);
  group.profile = entry.profile;
  group.may_fit = false;
  group.next_batch = 1;
  const bool same = std::ranges::equal(
      entry.rejections, group.listens,
      [](const Rejection& a, const WaitGroup::Listening& b) { return a.by == b.to; });
  if (!same) {
    StopListening(group);
    for (const Rejection& rejection : entry.rejections) Listen(group, *rejection.by);
  }
  entry.group = &group;
  entry.group_place = static_cast<uint32_t>(group.members.size());
  group.members.push_back(&entry);
}

void WaitGroups::Leave(QueueEntry& entry) {
  WaitGroup& group = *std::exchange(entry.group, nullptr);
  QueueEntry* const last = group.members.back();
  group.members[entry.group_place] = last;
  last->group_place = entry.group_place;
  group.members.pop_back();
  DropIfUnused(group);
}

void WaitGroups::SetOut(QueueEntry& entry, WaitGroup& from) {
  entry.woken_of = &from;
  ++from.on_their_way;
}

bool WaitGroups::Arrive(QueueEntry& entry) {
  if (entry.woken_of == nullptr) return false;
  WaitGroup& group = *std::exchange(entry.woken_of, nullptr);
  if (--group.on_their_way > 0) return false;
  if (!group.in_relay) relay_.push_back(&group);
  group.in_relay = true;
  return true;
}

void WaitGroups::Listen(WaitGroup& group, Rejector& to) {
  group.listens.push_back({&to, static_cast<uint32_t>(to.groups.size())});
  to.groups.push_back(&group);
}

void WaitGroups::StopListening(WaitGroup& group) {
  for (const auto& [to, place] : group.listens) {
    WaitGroup* const last = to->groups.back();
    to->groups[place] = last;
    to->groups.pop_back();
    const auto moved = std::ranges::find(last->listens, to, &WaitGroup::Listening::to);
    moved->place = place;
  }
  group.listens.clear();
}

void WaitGroups::DropIfUnused(WaitGroup& group) {
  if (!group.members.empty() || group.on_their_way > 0 || group.in_relay) return;
  StopListening(group);
  groups_.erase({group.profile, group.unfit.shape->id});
}

// What rejects it now is what it listens to from now on: a row may have become free and out of
// reach for another reason at once.
bool WaitGroups::MayFit(WaitGroup& group, WallTime now) {
  ShapeProbe* const probe = group.profile->plugins.probe;
  if (probe == nullptr) return true;
  std::vector<std::string_view> rejectors;
  if (probe->MightFit(group.unfit, now, rejectors)) return true;
  for (const std::string_view name : rejectors) {
    Rejector& by = index_.RejectorOf(*group.profile, name);
    if (std::ranges::find(group.listens, &by, &WaitGroup::Listening::to) == group.listens.end()) {
      Listen(group, by);
    }
  }
  return false;
}

std::vector<WaitGroup*> WaitGroups::WokenBy(const ClusterEvent& event, const WakeFilter& filter,
                                            WallTime now) {
  std::vector<WaitGroup*> due;
  for (const auto& rejector : index_.rejectors()) {
    if (!rejector->Wants(event.kind)) continue;
    for (WaitGroup* group : rejector->groups) {
      if (group->may_fit || group->members.empty()) continue;
      if (!filter.AdmitsPriority(group->members.front()->priority)) continue;
      if (!rejector->MightCure(*group->unfit.shape->sample, event)) continue;
      group->may_fit = true;
      due.push_back(group);
    }
  }
  std::erase_if(due, [&](WaitGroup* group) {
    group->may_fit = MayFit(*group, now);
    group->event = ToString(event.kind);
    return !group->may_fit || group->on_their_way > 0;
  });
  return due;
}

WaitGroup* WaitGroups::NextInRelay(WallTime now) {
  while (!relay_.empty()) {
    WaitGroup& group = *relay_.back();
    relay_.pop_back();
    group.in_relay = false;
    if (group.may_fit && !group.members.empty() && group.on_their_way == 0) {
      group.may_fit = MayFit(group, now);
      if (group.may_fit) return &group;
      group.next_batch = 1;
    }
    DropIfUnused(group);
  }
  return nullptr;
}

}  // namespace koord::scheduler
