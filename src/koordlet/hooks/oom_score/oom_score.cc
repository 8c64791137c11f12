#include "koordlet/hooks/oom_score/oom_score.h"

#include <algorithm>

#include "api/keys.h"
#include "api/koordlet_annotations.h"

namespace koord::koordlet::hooks {
namespace {

using kube::PodQos;

constexpr int32_t kGuaranteedScore = -997;
constexpr int32_t kBestEffortScore = 1000;
constexpr int32_t kSystemCriticalPriority = 2'000'000'000;

const kube::Container* FindContainer(const kube::PodSpec& spec, std::string_view name) {
  for (const auto* list : {&spec.containers, &spec.init_containers}) {
    for (const kube::Container& container : *list) {
      if (container.name == name) return &container;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<int32_t> KubeletOomScore(const kube::Pod& pod, PodQos qos,
                                       const kube::Container& container,
                                       std::optional<int64_t> node_memory) {
  const bool is_critical = pod.spec.priority.value_or(0) >= kSystemCriticalPriority;
  if (qos == PodQos::kGuaranteed || is_critical) return kGuaranteedScore;
  if (qos == PodQos::kBestEffort) return kBestEffortScore;
  if (!node_memory || *node_memory <= 0) return std::nullopt;
  const int64_t request = kube::AmountOf(container.resources.requests, kube::kMemory).Value();
  const double share =
      static_cast<double>(std::max<int64_t>(request, 0)) / static_cast<double>(*node_memory);
  const auto score = 1000 - static_cast<int32_t>(1000 * std::min(share, 1.0));
  return std::clamp<int32_t>(score, 1000 + kGuaranteedScore, kBestEffortScore - 1);
}

OomScore::OomScore(const HookEnv& env)
    : env_(env),
      scores_(env.registry.AddGauges(
                  "koordlet_container_oom_score_adj", "oom_score_adj set for a container",
                  {"node", "pod_namespace", "pod_name", "pod_uid", "container_name"}),
              env.clock) {}

const OomScore::Wish& OomScore::WishOf(const ReconciledPod& reconciled) {
  Wish& wish = wishes_[reconciled.pod.uid];
  if (wish.of == reconciled.pod.object) return wish;
  wish.of = reconciled.pod.object;
  wish.scores.clear();
  const kube::Annotations& annotations = reconciled.pod.annotations;
  if (!annotations.contains(api::kAnnotationOomScoreAdj) &&
      !annotations.contains(api::kAnnotationOomScoreAdjSpec)) {
    return wish;
  }
  for (const HookContainer& container : reconciled.containers) {
    const auto score = api::OomScoreAdjOf(annotations, container.name);
    if (score) wish.scores.emplace(container.name, *score);
  }
  return wish;
}

std::optional<int32_t> OomScore::KubeletScore(const HookPod& pod,
                                              std::string_view container) const {
  const kube::Container* spec = FindContainer(pod.object->spec, container);
  if (spec == nullptr) return std::nullopt;
  std::optional<int64_t> memory;
  if (env_.state.node() != nullptr) {
    memory = kube::AmountOf(env_.state.node()->status.capacity, kube::kMemory).Value();
  }
  return KubeletOomScore(*pod.object, pod.kube_qos, *spec, memory);
}

std::optional<int32_t> OomScore::Allowed(const HookPod& pod, std::string_view container,
                                         int32_t wanted) const {
  const TrustPolicy& trust = env_.options.trust;
  if (trust.trust_pod_authors || trust.allow_lower_oom_score) return wanted;
  const auto least = KubeletScore(pod, container);
  if (!least) return std::nullopt;
  return std::max(wanted, *least);
}

void OomScore::Apply(const HookContainer& container, int32_t score) {
  const auto processes = env_.host.cgroups().ReadProcesses(container.dir);
  if (!processes.ok()) return;  // has ended
  const std::string object = container.pod->key() + '/' + container.name;
  for (const int32_t pid : *processes) {
    Update update{FileTarget{FileTarget::Tree::kProc, fmt::format("{}/oom_score_adj", pid)},
                  fmt::format("{}", score),
                  {}};
    update.about.type = AuditEvent::Type::kContainer;
    update.about.level = 3;
    update.about.ns = container.pod->ns;
    update.about.name = container.pod->name;
    update.about.container = container.name;
    update.about.reason = "RuntimeHook";
    const Status status = env_.executor.ApplyNow(update).status();
    if (!status.ok()) env_.problems.Report({.object = object, .kind = name()}, status);
  }
}

void OomScore::OnPass(std::span<const ReconciledPod> pods) {
  StringMap<Wish> before;
  before.swap(wishes_);
  StringSet adjusted;
  for (const ReconciledPod& reconciled : pods) {
    const HookPod& pod = reconciled.pod;
    if (auto known = before.find(pod.uid); known != before.end()) {
      wishes_.emplace(pod.uid, std::move(known->second));
    }
    const Wish& wish = WishOf(reconciled);
    for (const HookContainer& container : reconciled.containers) {
      const auto wanted = wish.scores.find(container.name);
      if (wanted != wish.scores.end() && !env_.options.is_restoring) {
        const auto score = Allowed(pod, container.name, wanted->second);
        if (!score) continue;
        Apply(container, *score);
        adjusted.insert(container.dir.path());
        scores_.Touch({env_.options.node_name, pod.ns, pod.name, pod.uid, container.name})
            .Set(*score);
      } else if (adjusted_.contains(container.dir.path()) || wanted != wish.scores.end()) {
        if (const auto score = KubeletScore(pod, container.name)) Apply(container, *score);
      }
    }
  }
  adjusted_ = std::move(adjusted);
  scores_.RemoveOld();
}

}  // namespace koord::koordlet::hooks
