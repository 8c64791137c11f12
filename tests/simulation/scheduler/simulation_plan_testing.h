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
  enum class Kind {
    kCrash,
    kPartition,
    kDropWatches,
    // Watches break, and the server has forgotten what they would go on with: what is gone in the
    // meantime shows only by lists that it is not in.
    kForgottenVersions,
    // Half of all requests fail, with or without effect.
    kFailingRequests
  };
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

// Of the machines that come and go; those that come to the rescue have more.
inline constexpr int64_t kCpusOfMachine = 8;
inline constexpr int64_t kCpusOfLargeMachine = 200;

inline constexpr char kPodsPath[] = "/api/v1/namespaces/default/pods";
inline constexpr char kReservationsPath[] = "/apis/scheduling.koordinator.sh/v1alpha1/reservations";

inline constexpr char kDevicesPath[] = "/apis/scheduling.koordinator.sh/v1alpha1/devices";
inline constexpr char kQuotasPath[] =
    "/apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/default/elasticquotas";

// What a plan has besides.
struct PlanOptions {
  bool devices = false;  // nodes with cards, and pods that ask for them
  // Teams share the cluster; their quotas change, are moved in the tree and deleted under their
  // pods, and pods move between them.
  bool quotas = false;
};

// All of it sorted by time.
Plan MakePlan(uint64_t seed, PlanOptions options = {});

}  // namespace koord::localcluster::simulation
