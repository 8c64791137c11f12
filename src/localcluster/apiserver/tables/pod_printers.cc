#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "kube/time.h"
#include "localcluster/apiserver/tables/cells.h"
#include "localcluster/apiserver/tables/human_duration.h"
#include "localcluster/apiserver/tables/printer.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

const json::array& Items(const Json& object, std::initializer_list<std::string_view> path) {
  static const json::array& kEmpty = *new json::array;
  const json::array* found = kube::FindArray(object, path);
  return found == nullptr ? kEmpty : *found;
}

// "Error", "Signal:9" or "ExitCode:2": how a container ended.
std::string TerminationText(const Json& terminated) {
  const std::string_view reason = kube::FindString(terminated, {"reason"});
  if (!reason.empty()) return std::string(reason);
  if (const int64_t signal = kube::FindInt(terminated, {"signal"}); signal != 0) {
    return fmt::format("Signal:{}", signal);
  }
  return fmt::format("ExitCode:{}", kube::FindInt(terminated, {"exitCode"}));
}

// How often containers were restarted, and when last.
struct Restarts {
  int64_t count = 0;
  std::optional<WallTime> last;

  void Add(const Json& status) {
    count += kube::FindInt(status, {"restartCount"});
    const auto finished =
        kube::ParseTime(kube::FindString(status, {"lastState", "terminated", "finishedAt"}));
    if (finished) last = std::max(last.value_or(*finished), *finished);
  }
};

// The one word for a pod's state, read off its containers as kubectl users know it.
class PodState {
 public:
  explicit PodState(const Json& pod) : pod_(pod) {
    const auto& containers = Items(pod, {"spec", "containers"});
    total_ = static_cast<int64_t>(containers.size());
    for (const Json& container : Items(pod, {"spec", "initContainers"})) {
      if (kube::FindString(container, {"restartPolicy"}) == "Always") ++total_;
    }
    reason = kube::FindString(pod, {"status", "reason"});
    if (reason.empty()) reason = kube::FindString(pod, {"status", "phase"});
    const Json* scheduled = FindCondition(pod, "PodScheduled");
    if (scheduled != nullptr && kube::FindString(*scheduled, {"reason"}) == "SchedulingGated") {
      reason = "SchedulingGated";
    }
    const bool initializing = WalkInitContainers();
    if (!initializing || ConditionIsTrue(pod, "Initialized")) WalkContainers();
    ConsiderDeletion();
  }

  std::string reason;
  Restarts restarts;
  std::string ReadyText() const { return fmt::format("{}/{}", ready_, total_); }

 private:
  bool IsSidecar(const Json& status) const {
    const std::string_view name = kube::FindString(status, {"name"});
    for (const Json& container : Items(pod_, {"spec", "initContainers"})) {
      if (kube::FindString(container, {"name"}) == name) {
        return kube::FindString(container, {"restartPolicy"}) == "Always";
      }
    }
    return false;
  }

  // True if an init container is still to finish.
  bool WalkInitContainers() {
    size_t index = 0;
    for (const Json& status : Items(pod_, {"status", "initContainerStatuses"})) {
      const bool sidecar = IsSidecar(status);
      restarts.Add(status);
      if (sidecar) sidecar_restarts_.Add(status);
      const Json* terminated = kube::Find(status, {"state", "terminated"});
      const bool ended = terminated != nullptr && terminated->is_object();
      const std::string_view waiting = kube::FindString(status, {"state", "waiting", "reason"});
      if (ended && kube::FindInt(*terminated, {"exitCode"}) == 0) {
        ++index;
        continue;
      }
      if (sidecar && kube::FindBool(status, {"started"})) {
        if (kube::FindBool(status, {"ready"})) ++ready_;
        ++index;
        continue;
      }
      if (ended) {
        reason = "Init:" + TerminationText(*terminated);
      } else if (!waiting.empty() && waiting != "PodInitializing") {
        reason = fmt::format("Init:{}", waiting);
      } else {
        reason = fmt::format("Init:{}/{}", index, Items(pod_, {"spec", "initContainers"}).size());
      }
      return true;
    }
    return false;
  }

  void WalkContainers() {
    restarts = sidecar_restarts_;
    bool has_running = false;
    std::string error;
    const auto& statuses = Items(pod_, {"status", "containerStatuses"});
    for (size_t i = statuses.size(); i-- > 0;) {
      const Json& status = statuses[i];
      restarts.Add(status);
      const std::string_view waiting = kube::FindString(status, {"state", "waiting", "reason"});
      const Json* terminated = kube::Find(status, {"state", "terminated"});
      if (!waiting.empty()) {
        reason = waiting;
      } else if (terminated != nullptr && terminated->is_object()) {
        reason = TerminationText(*terminated);
        if (kube::FindInt(*terminated, {"exitCode"}) != 0) error = reason;
      } else if (kube::FindBool(status, {"ready"}) &&
                 kube::FindObject(status, {"state", "running"}) != nullptr) {
        has_running = true;
        ++ready_;
      }
    }
    if (reason != "Completed") return;
    if (has_running && ConditionIsTrue(pod_, "Ready")) {
      reason = "Running";
    } else if (!error.empty()) {
      reason = error;
    } else if (has_running) {
      reason = "NotReady";
    }
  }

  void ConsiderDeletion() {
    if (kube::FindString(pod_, {"metadata", "deletionTimestamp"}).empty()) return;
    const std::string_view phase = kube::FindString(pod_, {"status", "phase"});
    if (kube::FindString(pod_, {"status", "reason"}) == "NodeLost") {
      reason = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      reason = "Terminating";
    }
  }

  const Json& pod_;
  int64_t ready_ = 0;
  int64_t total_ = 0;
  Restarts sidecar_restarts_;
};

std::string RestartsText(const Restarts& restarts, WallTime now) {
  if (restarts.count == 0 || !restarts.last) return std::to_string(restarts.count);
  return fmt::format("{} ({} ago)", restarts.count, HumanDuration(now - *restarts.last));
}

std::string PodIp(const Json& pod) {
  const auto& ips = Items(pod, {"status", "podIPs"});
  const std::string_view first = ips.empty() ? kube::FindString(pod, {"status", "podIP"})
                                             : kube::FindString(ips.front(), {"ip"});
  return std::string(first.empty() ? kNone : first);
}

std::string ReadinessGatesText(const Json& pod) {
  const auto& gates = Items(pod, {"spec", "readinessGates"});
  if (gates.empty()) return std::string(kNone);
  size_t passed = 0;
  for (const Json& gate : gates) {
    if (ConditionIsTrue(pod, kube::FindString(gate, {"conditionType"}))) ++passed;
  }
  return fmt::format("{}/{}", passed, gates.size());
}

constexpr Column kPodColumns[] = {kNameColumn,
                                  {"Ready"},
                                  {"Status"},
                                  {"Restarts"},
                                  kAgeColumn,
                                  Wide("IP"),
                                  Wide("Node"),
                                  Wide("Nominated Node"),
                                  Wide("Readiness Gates")};

void PrintPod(Row& row) {
  const PodState state(row.object);
  row.Name().Text(state.ReadyText()).Text(state.reason);
  row.Text(RestartsText(state.restarts, row.now)).Age();
  row.Text(PodIp(row.object)).TextAt({"spec", "nodeName"}, kNone);
  row.TextAt({"status", "nominatedNodeName"}, kNone).Text(ReadinessGatesText(row.object));
}

constexpr Column kPodTemplateColumns[] = {kNameColumn, {"Containers"}, {"Images"}, {"Pod Labels"}};

void PrintPodTemplate(Row& row) {
  const auto* containers = kube::FindArray(row.object, {"template", "spec", "containers"});
  row.Name().Text(JoinField(containers, "name")).Text(JoinField(containers, "image"));
  row.Text(LabelsText(kube::FindObject(row.object, {"template", "metadata", "labels"})));
}

constexpr Printer kPodPrinters[] = {
    {"", "Pod", kPodColumns, PrintPod},
    {"", "PodTemplate", kPodTemplateColumns, PrintPodTemplate},
};

}  // namespace

std::span<const Printer> PodPrinters() { return kPodPrinters; }

}  // namespace koord::apiserver
