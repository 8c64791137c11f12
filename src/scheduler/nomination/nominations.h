#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "scheduler/cluster/ledger.h"
#include "scheduler/nomination/nominator.h"
#include "scheduler/pipeline/nominated_rows.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// Which pods without node are promised room on which node, as pipelines see it, and who is told
// when such room becomes free.
//
// A promise that moves or ends frees room for pods of at most its priority. The pod whose promise
// it was is not told: it has a node by then, or something better, or is gone.
class Nominations {
 public:
  using PodPtr = std::shared_ptr<const kube::Pod>;
  // Room is free for those pods that the filter lets through.
  using Freed = std::function<void(const WakeFilter&)>;

  // `is_pending` as for the Nominator. Without `freed` nobody is told.
  Nominations(Ledger& ledger, Nominator::IsPending is_pending, Freed freed = {});

  // A pod without node as the API server shows it. `before` is what it showed last, null at first.
  void OnPending(const PodPtr& before, const PodPtr& after);
  // As it was decided here; "" promises nothing.
  void Nominate(const PodPtr& pod, std::string_view node);
  // The pod needs no promise any more.
  void End(const kube::Pod& pod);
  // Ends the promise without telling anybody, since it is not yet known whether the pod will use
  // the room. The node that was promised; "" if none.
  std::string Take(std::string_view uid);
  // After Take: it does not.
  void TellFreed(const kube::Pod& pod);
  // Somebody more important needs the room. The pod may try its luck elsewhere, so it is told like
  // all others. False if it was promised nothing.
  bool Revoke(const kube::Pod& pod);

  std::string_view NodeOf(std::string_view uid) const { return nominator_.NodeOf(uid); }
  std::span<const PodPtr> On(std::string_view node) const { return nominator_.On(node); }
  NominatedRows& rows() { return rows_; }

 private:
  void Tell(const WakeFilter& filter) const;

  NominatedRows rows_;
  Nominator nominator_;
  const Freed freed_;
};

}  // namespace koord::scheduler
