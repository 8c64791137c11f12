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

}  // namespace koord::koordlet
