#pragma once
#include <string>
#include <string_view>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/gangs/gang_book.h"

namespace koord::scheduler {

// Lets the members of a group of gangs be tried back to back and bound together.
//
// A group stands in the queue by one pod, its representative. Once that one was given a node, or
// fits nowhere, a round is open: one member after the other is tried, with no other pod in between,
// so that two groups never hold what the other one waits for. The round ends when enough of them
// have nodes (all of these are bound), when nobody is left to be tried (those that have nodes give
// them back), or, in mode Strict, with the first that fits nowhere: those that have nodes give them
// back, and the rest fails with what that one has met.
class Rounds {
 public:
  static constexpr std::string_view kPlugin = "Coscheduling";

  Rounds(GangBook& book, const PluginContext& context);

  // May the pod enter the queue; it may become its group's representative thereby.
  Verdict Gate(const kube::Pod& pod);
  // May it be tried now. Changes nothing but what is known of who was.
  Verdict Admit(const kube::Pod& pod) const;

  // The uid of the member to be tried next; "": no round is open any more.
  std::string Next();
  void OnRefused(std::string_view uid, std::string_view gate);

  PermitResult Permit(const Attempt& attempt);
  // It gives its node back, or was not given it after all.
  void Unreserve(const Attempt& attempt);
  // It fits nowhere.
  void OnUnfit(const Attempt& attempt, const Diagnosis& diagnosis);
  // Says with whom it is bound, for those who read it.
  void Annotate(Attempt& attempt) const;
  void OnBound(const Attempt& attempt);

  // Whether it gives its node back because of the round in which it was given it, and nobody was
  // tried since.
  bool HasSentBack(const kube::Pod& pod) const;
  bool AreOne(const kube::Pod& gives_back, const kube::Pod& other) const;

 private:
  // What is wrong with its gang; success: nothing. `member` is null for a pod that is not known.
  Verdict CheckGang(const kube::Pod& pod, const GangBook::Member* member) const;
  Verdict CheckRound(const kube::Pod& pod) const;
  void SendBack(const GangBook::Group& group, const std::string& text);
  void LetGo(GangBook::Group& group, std::string_view but);
  bool IsToBeTried(const GangBook::Member& member, const GangBook::Group& group) const;

  GangBook& book_;
  SchedulerHandle* const handle_;
  const Reasons& reasons_;
};

}  // namespace koord::scheduler
