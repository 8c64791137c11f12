#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/json.h"

// For tests: what happens to a simulated cluster, decided before it starts, so that the same things
// happen whatever the scheduler does and however bad the network is.
namespace koord::localcluster::simulation {

// A request that a user or an administrator makes; 404 and 409 are fine, as in real life.
struct Request {
  Duration at{};
  std::string method;
  std::string target;
  kube::Json body;
  std::string content_type = "application/json";
};

// What koordlet on a node will report from now on, in percent of the machine.
struct Load {
  Duration at{};
  std::string node;
  int64_t cpu_percent = 0;
};

// The wall clock of the whole cluster is set.
struct ClockJump {
  Duration at{};
  Duration by{};
};

// What goes wrong with one of the two schedulers.
struct Trouble {
  enum class Kind { kCrash, kPartition, kDropWatches };
  Duration at{};
  Kind kind{};
  size_t instance = 0;
  Duration lasts{};
};

struct Plan {
  Duration length{};
  std::vector<Request> setup;
  std::vector<Request> requests;
  std::vector<Load> loads;
  std::vector<ClockJump> jumps;
  std::vector<Trouble> troubles;
  // Names that are used a second time while their first pod may not be gone yet: whether that
  // succeeds depends on what became of the first.
  std::set<std::string> reused;
  // At the end, room for everybody who can be helped at all.
  std::vector<Request> rescue;
};

// How long a pod runs before it is done, in seconds; without it, for ever.
inline constexpr char kLifetime[] = "simulation/lifetime";
// Pods that fit nowhere.
inline constexpr char kImpossible[] = "impossible";

// Reservations are for pods of one of these applications, told by the label app.
inline constexpr char kReservers[] = "reserver";

inline constexpr char kPodsPath[] = "/api/v1/namespaces/default/pods";
inline constexpr char kReservationsPath[] = "/apis/scheduling.koordinator.sh/v1alpha1/reservations";

inline constexpr char kQuotasPath[] =
    "/apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/default/elasticquotas";

// All of it sorted by time. `has_quotas`: teams share the cluster; their quotas change, are moved
// in the tree and deleted under their pods, and pods move between them.
Plan MakePlan(uint64_t seed, bool has_quotas = false);

}  // namespace koord::localcluster::simulation
