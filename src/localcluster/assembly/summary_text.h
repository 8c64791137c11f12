#pragma once
#include <string>
#include <vector>

#include "localcluster/assembly/summary.h"

// A summary as people read it, in lines of at most 80 columns.
namespace koord::localcluster {

// One screen of 24 lines at most, and what there is nothing to say about left out:
//  - nodes, pods and reservations; CPU and memory, where # is in use and = is in use by best-effort
//  pods
//  - what the pods of each QoS class have asked for, use, and may use
//  - how much CPU each node offers to batch pods, and how much of it they have asked for
//  - how batch pods were held back, and what the cluster would do without them
std::vector<std::string> FormatSummary(const Summary& summary);

// The same in one line.
std::string FormatLine(const Summary& summary);

// A table with one row per node.
std::vector<std::string> FormatNodes(const Summary& summary);

}  // namespace koord::localcluster
