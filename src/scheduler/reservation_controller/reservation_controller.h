#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/scope.h"
#include "base/string_map.h"
#include "kube/controller/work_queue.h"
#include "scheduler/config/reservation_args.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/reservation_controller/reservation_decision.h"

namespace koord::scheduler {

// Keeps the status of reservations true while this process leads: who uses how much, what is over
// and what was used up. Ended ones are deleted after a while.
//
// What it knows of owners and nodes is the ledger's, so that it never has a second idea of who runs
// where; pods that are being bound count once the API server shows them.
class ReservationController final : public LeaderPart, private LedgerListener, private PodListener {
 public:
  struct Options {
    ReservationArgs args;
    // Pods that used a reservation which is gone no longer say so.
    bool clean_allocated = false;
  };

  // Lets it live and die with leadership; nothing if another profile has brought one along.
  static void AddTo(const PluginContext& context, Options options);

  std::string_view name() const override { return "ReservationController"; }
  void Start() override;
  void Stop(Task done) override;

 private:
  using ReservationPtr = ObjectCache<api::Reservation>::Ptr;
  // A reservation by its name and uid: another one of the same name is another one.
  struct Key {
    std::string name;
    std::string uid;

    static Key Parse(std::string_view text);
    std::string ToString() const { return name + "/" + uid; }
  };

  ReservationController(const PluginContext& context, Options options);
  void Listen();

  void OnReservation(const ReservationPtr& before, const ReservationPtr& after);
  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRefreshed(const PodInfo& pod) override { OnPodAdded(pod); }
  void OnPodRemoved(const PodInfo& pod) override { OnOwner(pod); }
  void OnNodeRemoved(NodeRow row) override;
  void OnPodGone(const PodPtr& last) override;
  void OnOwner(const PodInfo& pod);
  void OnConsumer(const std::string& uid);
  void Enqueue(const Key& key);

  void Handle(const std::string& key, kube::WorkQueue::Finish done);
  kube::Plan Decide(const Key& key);
  kube::Plan DecideGone(const Key& key) const;
  ReservationFacts FactsOf(const api::Reservation& reservation) const;
  void WarnIfInvalid(const api::Reservation& reservation);
  void CarryOut(const std::string& key, kube::Plan plan, kube::WorkQueue::Finish done);
  void Collect();
  void Done();

  Ledger& ledger_;
  const ReservationBook& book_;
  ClusterObjects& objects_;
  PendingPods& pending_;
  kube::Client& client_;
  kube::EventRecorder* const recorder_;
  const Options options_;
  bool running_ = false;
  size_t under_way_ = 0;
  Task when_stopped_;
  // The version that a status was written upon: until it is shown there is nothing to decide.
  StringMap<std::string> written_upon_;  // by uid
  StringMap<std::string> warned_of_;     // by uid
  StringMap<Key> by_consumer_;           // by the uid of the pod that is to use it up
  kube::WorkQueue queue_;
  Timer collecting_;
  Scope scope_;
};

}  // namespace koord::scheduler
