#pragma once
#include <cstdint>
#include <vector>

#include "scheduler/cluster/resource_names.h"

namespace koord::scheduler {

// What a pod needs of rows, taken apart by what the pods on them have to do with it: whether it
// fits a row once some of these are gone is mostly a matter of adding up.
struct RowNeeds {
  struct Room {
    ResourceId id = 0;
    // By row: what is left of the resource with the pod there; negative: what is lacking.
    std::vector<int64_t> left = {};
  };

  std::vector<uint8_t> suits;        // by row: all that pods have no part in lets the pod in
  std::vector<Room> room;            // of each resource that is asked for
  std::vector<int64_t> places_left;  // by row: for further pods, with the pod there
  // By row: pods of it share room (NodeTable::sharing), so what one of them frees is less than what
  // it asks for. Such a row must be asked about, if it suits and has the room.
  std::vector<uint8_t> shared;
  // That is all. Otherwise somebody must be asked about rows that suit and have the room.
  bool complete = false;
};

}  // namespace koord::scheduler
