#pragma once
#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/scope.h"
#include "base/string_map.h"
#include "model/gang/gang_spec.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/gangs/gang_metrics.h"

namespace koord::scheduler {

// Who belongs to which gang, who of them waits for whom, and the round that is under way: shared by
// all profiles, so that a gang is one gang whoever places its members.
//
// A gang is known from its first pod or its PodGroup until it has neither. What it is, its PodGroup
// says where there is one or a label asks for it; otherwise its first pod with a legal minimum.
//
// Gangs form a group if each of them lists all of them. Who is listed by others and does not list
// them has nothing to do with them: nobody can hold up, let go or send back the pods of strangers.
class GangBook final : private LedgerListener, private PodListener {
 public:
  enum class State : uint8_t {
    kPending,  // without a node
    kWaiting,  // was given a node, for which it waits or is being bound
    kBound,    // has it
  };
  static constexpr size_t kStates = 3;

  struct Gang;
  struct Member {
    PodPtr pod;
    Gang* gang = nullptr;
    State state = State::kPending;
    bool sent_back = false;     // of its node, which it has not left yet
    uint64_t sent_back_at = 0;  // in the order of attempts
  };
  // Gangs that are placed together, or one that is placed alone.
  struct Group {
    std::string id;
    std::vector<std::string> gang_ids;
    size_t gangs = 0;             // that are known and list it
    bool once_satisfied = false;  // one of its pods was bound
    // The uid of the one pod by which the group stands in the queue; "": none does.
    std::string representative;
    // Those that were let go together, as long as any of the group waits: uids.
    StringSet binding;
    // Those of them that are not bound yet: whatever becomes of their binding, they were let go.
    StringSet let_go;
    // How many were let go together, as pods say that were bound by a scheduler before this one,
    // and how many of those are bound.
    int64_t announced = 0;
    StringSet announced_bound;
    bool has_waiting = false;        // members
    size_t sent_back = 0;            // members that have not left their nodes yet
    bool wake_when_settled = false;  // once all of those have
  };
  struct Gang {
    std::string id;
    std::optional<model::GangSpec> spec;            // nothing: nobody has said yet what it is
    std::string problem;                            // why not
    Group* group = nullptr;                         // never null
    absl::btree_set<std::string> members[kStates];  // uids
    size_t sent_back = 0;                           // of those that wait

    const absl::btree_set<std::string>& in(State state) const {
      return members[static_cast<size_t>(state)];
    }
    size_t waiting() const { return in(State::kWaiting).size() - sent_back; }
    size_t children() const { return members[0].size() + members[1].size() + members[2].size(); }
  };
  // The pods of one group that are tried back to back, with nobody else in between.
  struct Round {
    std::string group;
    std::string gang;  // of the first pod
    SteadyTime began{};
    StringSet attempted;             // uids, also of those that could not be
    std::deque<std::string> to_try;  // uids; some may be out of date
    size_t tried = 0;
    std::vector<std::string> skipped;  // pods that could not be tried, and why
    std::string failure;               // the text that all others fail with; "": nobody has failed
    bool wake_after = false;           // something has happened that is worth another round
  };

  // What is left of a member that has ended: it holds nothing and waits for nobody.
  struct Ended {
    bool succeeded = false;
    bool had_node = false;
  };

  // That of the scheduler which the context is about: made with the first call. Pods of the
  // context's profile are tried as members from now on.
  static GangBook& Of(const PluginContext& context, const model::GangDefaults& defaults);
  GangBook(const GangBook&) = delete;
  GangBook& operator=(const GangBook&) = delete;

  const Member* Find(std::string_view uid) const;
  const Gang* FindGang(std::string_view id) const;
  Group* FindGroup(std::string_view id) const;
  const std::map<std::string, std::unique_ptr<Gang>, std::less<>>& gangs() const { return gangs_; }
  size_t groups() const { return groups_.size(); }
  size_t members() const { return members_.size(); }

  // The gangs of a group that are known and list it, in the order of their ids.
  std::vector<const Gang*> GangsOf(const Group& group) const;
  // What keeps the group from being tried; "": nothing. As users know it from PreEnqueue.
  std::string WhyIncomplete(const Group& group) const;
  // Whether what waits of the group may be bound.
  bool IsSatisfied(const Group& group) const;
  // Whether a member is placed like any other pod: its group is complete for good, or it was let go
  // before and only its binding has failed.
  bool GoesAlone(const Member& member) const;
  // Why a member cannot be tried here; "": it can.
  std::string WhyNotTried(const Member& member) const;
  size_t WaitingIn(const Group& group) const;

  // Members of a gang that have ended, as long as their pods exist: by uid.
  const std::map<std::string, Ended, std::less<>>& EndedOf(std::string_view gang) const;
  void SetEnded(const kube::Pod& pod);
  void RemoveEnded(const kube::Pod& pod);
  // Tells of a gang whose members are others, or stand elsewhere, or have changed.
  void OnChange(std::function<void(const std::string& gang)> tell) { on_change_ = std::move(tell); }

  // What plugins do with members.
  void SetWaiting(std::string_view uid);
  void SetSentBack(std::string_view uid);
  // A pod is tried, of a gang or not: what is held by those that are sent back is not there for it.
  void NoteTried(std::string_view uid);
  // Whether anybody was tried since the member was sent back, and whether this one was.
  bool WasAnyTriedSince(const Member& sent_back) const { return tried_ > sent_back.sent_back_at; }
  bool WasTriedSince(const Member& sent_back, std::string_view uid) const;
  // It has left its node again.
  void SetPending(std::string_view uid);
  void SetBound(std::string_view uid);
  // All that wait are let go.
  void LetGo(Group& group);

  Round* round() { return round_ ? &*round_ : nullptr; }
  const Round* round() const { return round_ ? &*round_ : nullptr; }
  // Is this group's.
  const Round* RoundOf(const Group& group) const;
  Round& Open(const Member& first);
  // In the words of the metric.
  void Close(std::string_view reason);
  // Brings the group back into the queue, unless it is there.
  void Wake(Group& group);

 private:
  GangBook(const PluginContext& context, const model::GangDefaults& defaults);

  void OnPodPending(const PodPtr& before, const PodPtr& after) override;
  void OnPodBound(const PodPtr& before, const PodPtr& after) override;
  void OnPodGone(const PodPtr& last) override { Remove(last->metadata.uid); }
  void OnPodAdded(const PodInfo& pod) override { OnSeenOnNode(pod); }
  void OnPodRefreshed(const PodInfo& pod) override { OnSeenOnNode(pod); }
  void OnPodRemoved(const PodInfo& pod) override;
  void OnSeenOnNode(const PodInfo& pod);
  void OnPodGroup(const api::PodGroup* before, const api::PodGroup* after);

  Member& Add(const PodPtr& pod, Gang& gang, State state);
  void Remove(std::string_view uid);
  void Move(Member& member, State state);
  Gang& GangFor(const std::string& id);
  void Define(Gang& gang, const kube::Pod& pod);
  void SetSpec(Gang& gang, std::optional<model::GangSpec> spec);
  void Attach(Gang& gang);
  void Detach(Gang& gang);
  void DropIfUnknown(Gang& gang);
  void Note(Group& group, const kube::Pod& bound);
  void Forget(Group& group, std::string_view uid);
  void EndSentBack(Member& member);
  void WakeIfSettled(Group& group);
  bool HasPodGroup(const Gang& gang) const;
  void TellChanged(const std::string& gang) const {
    if (on_change_) on_change_(gang);
  }
  void CountWaiting(Group& group);
  size_t NeededOf(const Gang& gang) const;

  ClusterObjects& objects_;
  SchedulerHandle* const handle_;
  const Clock& clock_;
  const model::GangDefaults defaults_;
  StringSet profiles_;                          // whose pods can be tried
  StringMap<std::unique_ptr<Member>> members_;  // by uid
  std::map<std::string, std::unique_ptr<Gang>, std::less<>> gangs_;
  StringMap<std::unique_ptr<Group>> groups_;
  std::optional<Round> round_;
  StringMap<std::map<std::string, Ended, std::less<>>> ended_;  // by gang
  std::function<void(const std::string& gang)> on_change_;
  size_t sent_back_ = 0;  // of all groups
  // The order of attempts, and those that were made while anybody was being sent back: by uid. They
  // are kept until somebody is sent back anew.
  uint64_t attempts_ = 0;
  uint64_t tried_ = 0;  // the last of them
  StringMap<uint64_t> tried_meanwhile_;
  size_t waiting_groups_ = 0;
  GangMetrics metrics_;
  Scope scope_;
};

}  // namespace koord::scheduler
