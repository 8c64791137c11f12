#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "scheduler/framework/plugin_context.h"
#include "scheduler/plugins/reservation/offer.h"

namespace koord::scheduler {

// Hears which reservations can be drawn from.
class OfferFollower {
 public:
  virtual ~OfferFollower() = default;
  // It can be used from now on, by somebody. May be said twice.
  virtual void OnOffered(const Offer& offer) = 0;
  // It cannot any more, or is about to be offered on other terms. Its row and pod are still set.
  virtual void OnWithdrawn(const Offer& offer) = 0;
};

// The reservations that can be drawn from, by who may and where.
//
// One is offered while it is available, holds its room, says nothing that cannot be understood, and
// was not used up. Pods and offers find each other by keys that both have (an owner's uid or name,
// a pair of labels, a namespace): nobody walks through all offers, neither when a pod comes nor
// when a reservation does.
class Offers final : private LedgerListener, private PodListener {
 public:
  explicit Offers(const PluginContext& context);
  Offers(const Offers&) = delete;
  Offers& operator=(const Offers&) = delete;

  // From now on `follower` hears of offers that have one of the keys, at first of those that are
  // there. Without keys: of all offers.
  void Follow(OfferFollower& follower, const std::vector<std::string>& keys);
  void Unfollow(OfferFollower& follower, const std::vector<std::string>& keys);

  // Also those that are used up; null: there is no such reservation with a node.
  const Offer* Find(std::string_view uid) const;
  const Offer* FindByName(std::string_view name) const;
  // Those that are offered.
  std::span<const Offer* const> On(NodeRow row) const;
  // visit(row, offers) for all rows that have any.
  template <class Visit>
  void ForEachRow(Visit visit) const {
    for (const auto& [row, offers] : by_row_) visit(row, std::span<const Offer* const>(offers));
  }
  // Some pod that has one of the keys might be served.
  bool HasAnyFor(const std::vector<std::string>& keys) const;
  bool empty() const { return offers_.empty(); }
  // There was one at some time. Clusters that do not know reservations pay nothing for them.
  bool any_ever() const { return any_ever_; }

 private:
  using ReservationPtr = std::shared_ptr<const api::Reservation>;
  struct Entry : Offer {
    bool is_understood = false;
    bool is_published = false;
    // Names and uids of pods that it is for.
    std::vector<std::string> named;
  };
  struct Bucket {
    std::vector<const Offer*> offers;
    std::vector<OfferFollower*> followers;
  };

  void OnReservation(const ReservationPtr& before, const ReservationPtr& after);
  void Set(const std::string& uid, StatusOr<model::ReservationOffer> terms, bool available,
           bool is_pod);
  void SetActingPod(const PodInfo& pod);
  void Remove(std::string_view uid);
  void Unlist(const Entry& entry);

  void OnNodeChanged(NodeRow row, const NodeChanges& changes) override;
  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRefreshed(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;
  void OnPodPending(const PodPtr& before, const PodPtr& after) override;
  void OnPodBound(const PodPtr& before, const PodPtr& after) override;
  void OnPodGone(const PodPtr& last) override;

  void FollowLedger(Entry& entry);
  void CountUse(Entry& entry);
  bool IsUsedUp(const Entry& entry) const;
  bool IsOffered(const Entry& entry) const;
  // Publishes or withdraws, as things are.
  void Refresh(Entry& entry);
  void Publish(Entry& entry);
  void Withdraw(Entry& entry);
  void Anew(std::string_view uid);
  void OnConsumer(const std::string& uid);
  void Name(Entry& entry, const std::vector<api::ReservationOwner>& owners);
  void Unname(Entry& entry);
  void WakeNamed(const std::vector<api::ReservationOwner>& owners);

  const PluginContext context_;
  StringMap<std::unique_ptr<Entry>> offers_;  // by uid
  StringMap<Entry*> by_name_;
  StringMap<Entry*> by_consumer_;  // by the uid of the pod that is said to have used it up
  absl::flat_hash_map<NodeRow, std::vector<const Offer*>> by_row_;
  StringMap<Bucket> buckets_;
  std::vector<OfferFollower*> of_all_;
  bool any_ever_ = false;
};

}  // namespace koord::scheduler
