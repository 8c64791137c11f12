#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "koordlet/host/file_tree.h"
#include "model/cpu/cpu_topology.h"

namespace koord::koordlet {

using model::Processor;

struct CpuInfo {
  model::CpuTopology topology;
  std::string model;
  std::string vendor;  // GenuineIntel, AuthenticAMD
  std::vector<std::string> flags;
  bool hyper_threading = false;
  bool turbo = false;
  std::string cat_l3_mask;  // as the kernel writes it; empty without resctrl

  bool operator==(const CpuInfo&) const = default;
};

struct NumaNode {
  int32_t id = 0;
  int64_t memory_total = 0;  // bytes
  int64_t memory_used = 0;
  int64_t huge_2mi = 0;  // pages
  int64_t huge_1gi = 0;
  bool operator==(const NumaNode&) const = default;
};

// From the kernel's files, without lscpu and its locale. CPUs that are offline or do not say where
// they are do not count. Cores and sockets are numbered in the order of their first CPU.
StatusOr<CpuInfo> ReadCpuInfo(const FileTree& sys, const FileTree& proc, const FileTree& resctrl);
// By id, which must be 0, 1, ... Nodes that have neither CPUs nor memory of their own are left out.
StatusOr<std::vector<NumaNode>> ReadNumaNodes(const FileTree& sys, const FileTree& proc);

}  // namespace koord::koordlet
