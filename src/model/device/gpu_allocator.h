#pragma once
#include "model/device/candidates.h"

namespace koord::model {

// Chooses cards: by the partitions of the machine, or close to each other and beside cards that are
// in use already. `decided` false: any cards that fit will do, in the order of all devices.
struct CardChoice {
  bool decided = false;
  DeviceRefusal refusal = DeviceRefusal::kNone;
  absl::InlinedVector<const Candidate*, 8> cards = {};  // by minor
};

CardChoice ChooseCards(const DeviceTask& task, const Candidates& candidates,
                       const DeviceRequest& request);

// Whether the cards of a partition may be given, and which partitions of the first that may. For
// requests that must have one.
struct PartitionSearch {
  bool honored = false;  // no other cards will do
  DeviceRefusal refusal = DeviceRefusal::kNone;
  std::vector<const api::GpuPartition*> feasible = {};  // all of one score
};
PartitionSearch FindPartitions(const DeviceTask& task, const Candidates& candidates, int64_t count);

}  // namespace koord::model
