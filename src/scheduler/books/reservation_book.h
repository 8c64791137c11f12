#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "scheduler/cluster/ledger.h"

namespace koord::scheduler {

// The reservations that hold room, and the pods that draw from them: facts as the ledger has them.
// Who may draw from which, and what becomes of them, is for others to decide.
class ReservationBook final : private LedgerListener {
 public:
  struct Entry {
    std::string uid;
    std::string name;  // "" until its reserve pod is known
    // Holds the room; null: nothing does, as before the reservation was seen or after it has ended.
    const PodInfo* reserve_pod = nullptr;
    // All that say so, in no order that matters.
    std::vector<const PodInfo*> owners;
  };

  explicit ReservationBook(Ledger& ledger) { ledger.AddListener(*this); }
  ReservationBook(const ReservationBook&) = delete;
  ReservationBook& operator=(const ReservationBook&) = delete;

  // Those that hold room; what is returned is good until the next change of the ledger.
  std::span<const Entry* const> On(NodeRow row) const;
  const Entry* Find(std::string_view name) const;
  // Also those that only have owners.
  const Entry* FindByUid(std::string_view uid) const;
  size_t size() const { return entries_.size(); }

  // Of a reservation that holds room.
  static const ResourceAmounts& ReservedOf(const Entry& entry) {
    return entry.reserve_pod->requests();
  }
  // What its owners use of the resources that it reserves: owners on its node, since nobody can
  // draw from afar, whatever an annotation says. May be more than is reserved.
  static ResourceAmounts UsedOf(const Entry& entry);

 private:
  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;
  Entry& EntryOf(const std::string& uid);
  void DropIfEmpty(const Entry& entry);

  StringMap<std::unique_ptr<Entry>> entries_;  // by uid
  StringMap<const Entry*> by_name_;            // those that hold room
  absl::flat_hash_map<NodeRow, std::vector<const Entry*>> by_row_;
};

}  // namespace koord::scheduler
