#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/node_metric.h"
#include "api/qos.h"
#include "api/reservation.h"
#include "kube/json.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "localcluster/nodes/node_agents.h"

// What a cluster is doing, on one screen: for `koord up` and `koord status`.
namespace koord::localcluster {

// CPU in thousandths of a core, memory in bytes.
struct Amounts {
  int64_t cpu = 0;
  int64_t memory = 0;

  Amounts& operator+=(const Amounts& more) {
    cpu += more.cpu;
    memory += more.memory;
    return *this;
  }
};

struct NodeSummary {
  std::string name;
  bool ready = false;
  bool cordoned = false;
  int pods = 0;
  Amounts allocatable, requested;
  std::optional<Amounts> used;     // nothing: nobody has reported it
  Amounts batch, batch_requested;  // of what services leave idle
};

struct PodCounts {
  int pending = 0, running = 0, succeeded = 0, failed = 0, terminating = 0;
  int total() const { return pending + running + succeeded + failed + terminating; }
};

struct ReservationCounts {
  int pending = 0, available = 0, succeeded = 0, failed = 0;
  int total() const { return pending + available + succeeded + failed; }
};

// The pods of one class that have a node and have not ended: what they live on, be it ordinary,
// mid or batch resources.
struct ClassSummary {
  int pods = 0;
  int reported = 0;  // pods whose usage is known, and in `used`
  Amounts requested, used, limits;
  bool cpu_open = false, memory_open = false;  // some pods have no limit
};

struct Summary {
  std::vector<NodeSummary> nodes;  // by name
  PodCounts pods;
  ReservationCounts reservations;
  Amounts allocatable, requested;  // of all nodes
  Amounts used;                    // of those whose usage is known
  Amounts batch, batch_requested;
  std::array<ClassSummary, 6> classes;  // by api::QosClass
  std::optional<Protection> protection;
  std::string unknown_because;  // why nobody can report usage; empty: nodes may or may not

  int ready_nodes() const;
  int silent_nodes() const;  // whose usage is unknown
  bool knows_usage() const { return silent_nodes() < static_cast<int>(nodes.size()); }
  const ClassSummary& of(api::QosClass qos) const { return classes[static_cast<size_t>(qos)]; }
  // What would be in use if no best-effort pod ran.
  int64_t cpu_without_best_effort() const { return used.cpu - of(api::QosClass::kBe).used.cpu; }
};

// NodeMetric objects tell what is used; what a node without one uses is unknown.
class SummaryBuilder {
 public:
  void AddNode(const kube::Node& node);
  void AddPod(const kube::Pod& pod);
  void AddReservation(const api::Reservation& reservation);
  void AddNodeMetric(const api::NodeMetric& metric);
  void AddNodeMetric(const kube::Json& metric);  // one that cannot be read is ignored
  void SetUnknownBecause(std::string why) { summary_.unknown_because = std::move(why); }
  void SetProtection(const Protection& protection) { summary_.protection = protection; }
  Summary Build() &&;

 private:
  struct Request {
    std::string node;
    Amounts ordinary, batch;
  };

  void AddToClass(const kube::Pod& pod, const kube::ResourceList& requests);
  void AddPodUsage(const api::PodUsage& pod);

  Summary summary_;
  std::vector<Request> requests_;
  std::vector<std::pair<std::string, Amounts>> used_;
};

kube::Json ToJson(const Summary& summary);

}  // namespace koord::localcluster
