#pragma once
#include <string_view>

#include "scheduler/reference/plain_cluster.h"

// What the pods of a node are charged together, with each reservation charged once; several rules
// ask.
namespace koord::scheduler::reference {

int64_t Requested(const View& view, const PlainNode& node, std::string_view resource);
// How many places among its pods are taken.
int64_t PodCount(const View& view, const PlainNode& node);

}  // namespace koord::scheduler::reference
