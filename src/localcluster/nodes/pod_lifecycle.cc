#include "localcluster/nodes/pod_lifecycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/duration.h"
#include "base/strings.h"
#include "kube/time.h"

namespace koord::localcluster {
namespace {

using kube::ContainerStatus;
using kube::Json;
using kube::Pod;

constexpr Duration kFirstBackoff = 10s;
constexpr Duration kLongestBackoff = 5min;
constexpr int kSigterm = 143;

// An annotation that makes no sense is as good as none.
std::optional<Duration> DurationOf(const Pod& pod, std::string_view annotation) {
  const std::string_view text = kube::ValueOf(pod.metadata.annotations, annotation);
  if (text.empty()) return std::nullopt;
  const StatusOr<Duration> duration = ParseDuration(text);
  if (!duration.ok() || *duration < Duration::zero()) return std::nullopt;
  return std::min(*duration, kCentury);
}

int32_t ExitCodeOf(const Pod& pod) {
  const auto code = ParseUint(kube::ValueOf(pod.metadata.annotations, kExitCodeAnnotation));
  return code && *code <= 255 ? static_cast<int32_t>(*code) : 0;
}

std::string ContainerId(const Pod& pod, const std::string& name, int32_t restarts) {
  return fmt::format("containerd://{}-{}-{}", pod.metadata.uid, name, restarts);
}

Json PodConditionPatch(std::string_view type, bool value, const Pod& pod, WallTime now,
                       std::string_view reason = {}, std::string_view message = {}) {
  const kube::PodCondition* known = kube::FindCondition(pod.status.conditions, type);
  const std::string_view status = value ? "True" : "False";
  const bool same = known != nullptr && known->status == status && known->last_transition_time;
  Json condition{
      {"type", type},
      {"status", status},
      {"lastProbeTime", nullptr},
      {"lastTransitionTime", kube::FormatTime(same ? *known->last_transition_time : now)}};
  // Null takes away what an earlier state has said.
  condition.as_object()["reason"] = reason.empty() ? Json(nullptr) : Json(reason);
  condition.as_object()["message"] = message.empty() ? Json(nullptr) : Json(message);
  return condition;
}

bool GatesOpen(const Pod& pod) {
  return std::all_of(pod.spec.readiness_gates.begin(), pod.spec.readiness_gates.end(),
                     [&](const kube::PodReadinessGate& gate) {
                       return kube::IsConditionTrue(pod.status.conditions, gate.condition_type);
                     });
}

Json ReadyPatch(const Pod& pod, bool containers_ready, WallTime now) {
  if (containers_ready && !GatesOpen(pod)) {
    return PodConditionPatch("Ready", false, pod, now, "ReadinessGatesNotReady",
                             "the status of pod readiness gate is not \"True\"");
  }
  return PodConditionPatch("Ready", containers_ready, pod, now,
                           containers_ready ? "" : "ContainersNotReady");
}

Json ContainersReadyPatch(const Pod& pod, bool ready, WallTime now) {
  return PodConditionPatch("ContainersReady", ready, pod, now, ready ? "" : "ContainersNotReady");
}

ContainerStatus Running(const Pod& pod, const kube::Container& container, int32_t restarts,
                        WallTime now) {
  ContainerStatus status;
  status.name = container.name;
  status.state.running = kube::ContainerStateRunning{.started_at = now};
  status.ready = true;
  status.restart_count = restarts;
  status.image = container.image;
  status.image_id = "simulated://" + container.image;
  status.container_id = ContainerId(pod, container.name, restarts);
  status.started = true;
  return status;
}

kube::ContainerStateTerminated Ended(const ContainerStatus& running, int32_t exit_code,
                                     WallTime now) {
  kube::ContainerStateTerminated end;
  end.exit_code = exit_code;
  end.reason = exit_code == 0 ? "Completed" : "Error";
  if (running.state.running) end.started_at = running.state.running->started_at;
  end.finished_at = now;
  end.container_id = running.container_id;
  return end;
}

Json InitStatuses(const Pod& pod, WallTime now) {
  kube::json::array statuses;
  for (const kube::Container& container : pod.spec.init_containers) {
    ContainerStatus status = Running(pod, container, 0, now);
    if (!kube::IsSidecar(container)) {
      status.state.terminated = Ended(status, 0, now);
      status.state.running.reset();
      status.started = false;
    }
    statuses.push_back(kube::Encode(status));
  }
  return statuses;
}

Json Encode(const std::vector<ContainerStatus>& statuses) {
  kube::json::array list;
  for (const ContainerStatus& status : statuses) list.push_back(kube::Encode(status));
  return list;
}

// The pod's containers have ended for good.
Json EndedStatus(const Pod& pod, int32_t exit_code, WallTime now) {
  std::vector<ContainerStatus> statuses = pod.status.container_statuses;
  for (ContainerStatus& status : statuses) {
    if (!status.state.terminated) status.state.terminated = Ended(status, exit_code, now);
    status.state.running.reset();
    status.state.waiting.reset();
    status.ready = false;
    status.started = false;
  }
  const bool good = exit_code == 0;
  const std::string_view reason = good ? "PodCompleted" : "PodFailed";
  return {{"phase", good ? "Succeeded" : "Failed"},
          {"containerStatuses", Encode(statuses)},
          {"conditions",
           kube::json::array{PodConditionPatch("Ready", false, pod, now, reason),
                             PodConditionPatch("ContainersReady", false, pod, now, reason)}}};
}

Json DeadlineStatus(const Pod& pod, WallTime now) {
  Json status = EndedStatus(pod, kSigterm, now);
  status.as_object()["reason"] = "DeadlineExceeded";
  status.as_object()["message"] = "Pod was active on the node longer than the specified deadline";
  return status;
}

bool StartsAgain(const Pod& pod, int32_t exit_code) {
  if (pod.spec.restart_policy == "Never") return false;
  return pod.spec.restart_policy != "OnFailure" || exit_code != 0;
}

Duration BackoffAfter(int32_t restarts) {
  if (restarts == 0) return Duration::zero();
  return std::min(kFirstBackoff * (1 << std::min(restarts - 1, 10)), kLongestBackoff);
}

const kube::Container* FindContainer(const Pod& pod, const std::string& name) {
  for (const kube::Container& container : pod.spec.containers) {
    if (container.name == name) return &container;
  }
  return nullptr;
}

// What one container of a running pod does now. Its status is changed if anything; `next` is when
// it has to be looked at again.
class ContainerStep {
 public:
  ContainerStep(const Pod& pod, WallTime now)
      : pod_(pod),
        now_(now),
        duration_(DurationOf(pod, kRunDurationAnnotation)),
        exit_code_(ExitCodeOf(pod)) {}

  bool Apply(ContainerStatus& status) {
    if (status.state.running) return EndIfDue(status);
    if (status.state.waiting) return RestartIfDue(status);
    return false;
  }
  const std::optional<WallTime>& next() const { return next_; }

 private:
  void LookAgain(WallTime at) { next_ = next_ ? std::min(*next_, at) : at; }

  bool EndIfDue(ContainerStatus& status) {
    if (!duration_) return false;
    const WallTime end = status.state.running->started_at.value_or(now_) + *duration_;
    if (now_ < end) {
      LookAgain(end);
      return false;
    }
    const kube::ContainerStateTerminated ended = Ended(status, exit_code_, now_);
    status.state.running.reset();
    status.ready = false;
    status.started = false;
    if (!StartsAgain(pod_, exit_code_)) {
      status.state.terminated = ended;
      return true;
    }
    status.last_state = {};
    status.last_state.terminated = ended;
    const Duration pause = BackoffAfter(status.restart_count);
    if (pause == Duration::zero()) {
      Restart(status);
      return true;
    }
    kube::ContainerStateWaiting waiting;
    waiting.reason = "CrashLoopBackOff";
    waiting.message = fmt::format("back-off {} restarting failed container={} pod={}_{}({})",
                                  FormatDuration(pause), status.name, pod_.metadata.name,
                                  pod_.metadata.ns, pod_.metadata.uid);
    status.state.waiting = waiting;
    LookAgain(now_ + pause);
    return true;
  }

  bool RestartIfDue(ContainerStatus& status) {
    WallTime due = now_;
    if (status.last_state.terminated && status.last_state.terminated->finished_at) {
      due = *status.last_state.terminated->finished_at + BackoffAfter(status.restart_count);
    }
    if (now_ < due) {
      LookAgain(due);
      return false;
    }
    Restart(status);
    return true;
  }

  void Restart(ContainerStatus& status) {
    const kube::Container* container = FindContainer(pod_, status.name);
    if (container == nullptr) return;
    kube::ContainerState last = status.last_state;
    status = Running(pod_, *container, status.restart_count + 1, now_);
    status.last_state = std::move(last);
    if (duration_) LookAgain(now_ + *duration_);
  }

  const Pod& pod_;
  const WallTime now_;
  const std::optional<Duration> duration_;
  const int32_t exit_code_;
  std::optional<WallTime> next_;
};

bool AllTerminated(const std::vector<ContainerStatus>& statuses) {
  return !statuses.empty() && std::all_of(statuses.begin(), statuses.end(), [](const auto& s) {
    return s.state.terminated.has_value();
  });
}

}  // namespace

Json StartedStatus(const Pod& pod, const PodAddresses& addresses, WallTime now) {
  std::vector<ContainerStatus> statuses;
  for (const kube::Container& container : pod.spec.containers) {
    statuses.push_back(Running(pod, container, 0, now));
  }
  Json status{{"phase", "Running"},
              {"startTime", kube::FormatTime(now)},
              {"hostIP", addresses.host_ip},
              {"hostIPs", kube::json::array{Json{{"ip", addresses.host_ip}}}},
              {"podIP", addresses.pod_ip},
              {"podIPs", kube::json::array{Json{{"ip", addresses.pod_ip}}}},
              {"containerStatuses", Encode(statuses)},
              {"conditions",
               kube::json::array{PodConditionPatch("PodReadyToStartContainers", true, pod, now),
                                 PodConditionPatch("Initialized", true, pod, now),
                                 ReadyPatch(pod, true, now), ContainersReadyPatch(pod, true, now),
                                 PodConditionPatch("PodScheduled", true, pod, now)}}};
  if (!pod.spec.init_containers.empty()) {
    status.as_object()["initContainerStatuses"] = InitStatuses(pod, now);
  }
  return status;
}

PodStep StepRunning(const Pod& pod, WallTime now) {
  PodStep step;
  if (pod.spec.active_deadline_seconds && pod.status.start_time) {
    const WallTime deadline =
        *pod.status.start_time + BoundedSeconds(*pod.spec.active_deadline_seconds);
    if (deadline <= now) {
      step.status = DeadlineStatus(pod, now);
      return step;
    }
    step.next = deadline;
  }
  std::vector<ContainerStatus> statuses = pod.status.container_statuses;
  ContainerStep container(pod, now);
  bool changed = false;
  for (ContainerStatus& status : statuses) changed |= container.Apply(status);
  if (AllTerminated(statuses)) {
    step.status = EndedStatus(pod, ExitCodeOf(pod), now);
    return step;
  }
  if (container.next() && (!step.next || *container.next() < *step.next)) {
    step.next = container.next();
  }
  const bool ready = std::all_of(statuses.begin(), statuses.end(),
                                 [](const ContainerStatus& status) { return status.ready; });
  const bool ready_differs = kube::IsReady(pod) != (ready && GatesOpen(pod));
  if (!changed && !ready_differs) return step;
  step.status = {{"containerStatuses", Encode(statuses)},
                 {"conditions", kube::json::array{ReadyPatch(pod, ready, now),
                                                  ContainersReadyPatch(pod, ready, now)}}};
  return step;
}

PodStep StepTerminating(const Pod& pod, Duration stop_time, WallTime now) {
  PodStep step;
  const Duration grace =
      BoundedSeconds(std::max<int64_t>(pod.metadata.deletion_grace_period_seconds.value_or(0), 0));
  // Nothing is left to do but for whoever holds a finalizer.
  const bool removed = grace == Duration::zero();
  if (removed && (kube::IsTerminal(pod) || pod.metadata.finalizers.empty())) return step;
  const Duration wanted = DurationOf(pod, kStopDurationAnnotation).value_or(stop_time);
  const WallTime end = *pod.metadata.deletion_timestamp - grace + std::min(grace, wanted);
  if (now < end && !kube::IsTerminal(pod)) {
    step.next = end;
    return step;
  }
  if (!kube::IsTerminal(pod) && !pod.metadata.finalizers.empty()) {
    step.status = EndedStatus(pod, kSigterm, now);
  }
  step.remove = !removed;
  return step;
}

}  // namespace koord::localcluster
