#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "koordlet/host/file_tree.h"

namespace koord::koordlet {

struct Processor {
  int32_t cpu = 0;
  int32_t core = 0;
  int32_t socket = 0;
  int32_t node = 0;  // NUMA
  int32_t l3 = 0;
  bool operator==(const Processor&) const = default;
};

struct CpuInfo {
  std::vector<Processor> processors;  // by node, socket, core, cpu
  std::string model;
  std::string vendor;  // GenuineIntel, AuthenticAMD
  std::vector<std::string> flags;
  bool hyper_threading = false;
  bool turbo = false;
  std::string cat_l3_mask;  // as the kernel writes it; empty without resctrl

  int64_t core_count() const;
  int64_t node_count() const;
  int64_t socket_count() const;
  std::vector<int32_t> cpus() const;  // ascending
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
