#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

// A second opinion on what a node lends, written from the definition and in plain numbers: no code
// is shared with the manager. Slow and simple on purpose.
namespace koord::localcluster::managed {

struct Amount {
  int64_t cpu = 0;     // milli-cores
  int64_t memory = 0;  // bytes

  bool operator==(const Amount&) const = default;
};

enum class Kind { kService, kExclusive, kMid, kBatch, kFree };  // kExclusive: QoS LSE

struct SimPod {
  Kind kind = Kind::kService;
  bool holds = true;  // Pending or Running
  Amount size;        // what it is made for
  Amount request;     // of cpu and memory; none if it asks for batch or mid resources instead
};

struct Usage {
  std::string name;
  std::string priority;  // as reported: "koord-prod", ..., ""
  Amount used;
};

// What a node last said of itself.
struct Report {
  WallTime time{};
  Amount system;
  std::vector<Usage> pods;
  std::vector<Usage> host_applications;
};

struct Strategy {
  bool enabled = true;
  int64_t cpu_percent = 60, memory_percent = 65;
  bool cpu_by_max = false;  // maxUsageRequest
  enum class Memory { kUsage, kRequest, kMax } memory = Memory::kUsage;
  std::optional<int64_t> cpu_cap_percent;
};

struct SimNode {
  Amount capacity, allocatable;
  Amount reserved_by_annotation;
  std::map<std::string, SimPod> pods;  // by name
  std::optional<Report> report;
};

inline constexpr Duration kDegradeTime = std::chrono::minutes(15);

// What the pods above batch take away.
struct Taken {
  Amount used, requested, larger;
};
Taken TakenBy(const SimNode& node);

// Nothing: the node must not lend anything.
std::optional<Amount> BatchOf(const SimNode& node, const Strategy& strategy, WallTime now);

}  // namespace koord::localcluster::managed
