#include "koordlet/qos/memory_qos/memory_qos.h"

#include <algorithm>
#include <utility>

#include "api/extended_resources.h"
#include "base/strings.h"
#include "koordlet/qos/framework/amounts.h"
#include "koordlet/qos/memory_qos/memory_rules.h"

namespace koord::koordlet {
namespace {

enum Level : size_t { kKubepods, kQosDirs, kPods, kContainers, kLevelCount };

constexpr Duration kMaxAge = std::chrono::seconds(60);

std::string_view MemoryOf(const NodePod& pod) {
  return pod.qos == api::QosClass::kBe ? api::kBatchMemory : kube::kMemory;
}

int64_t BytesOf(const kube::ResourceList& resources, std::string_view name) {
  return std::max<int64_t>(ValueOf(resources, name).value_or(0), 0);
}

// None where one of its containers may take what it likes.
std::optional<int64_t> LimitOf(const NodePod& pod) {
  const std::string_view memory = MemoryOf(pod);
  const bool limited = std::ranges::all_of(pod.pod->spec.containers, [&](const auto& container) {
    return BytesOf(container.resources.limits, memory) > 0;
  });
  const int64_t limit = BytesOf(pod.limits, memory);
  if (!limited || limit == 0) return std::nullopt;
  return limit;
}

void AddTo(std::optional<int64_t>& sum, std::optional<int64_t> amount) {
  if (amount) sum = Plus(sum.value_or(0), *amount);
}

}  // namespace

MemoryQosStrategy::MemoryQosStrategy(const QosContext& context)
    : context_(context), problems_("CgroupReconcile"), levels_(kLevelCount) {}

void MemoryQosStrategy::Run() {
  NodeInputs inputs = NodeInputs::Of(context_.state);
  if (inputs.node == nullptr || inputs.slo == nullptr) return;
  const SteadyTime now = context_.clock.Steady();
  if (inputs == inputs_ && now - applied_ < kMaxAge) return;
  if (inputs != inputs_) {
    inputs_ = std::move(inputs);
    Plan();
  }
  context_.executor.ApplyLevels(levels_);
  applied_ = now;
}

void MemoryQosStrategy::Plan() {
  for (auto& level : levels_) level.clear();
  Guarantees guarantees;
  for (const NodePod& pod : *inputs_.pods) {
    if (pod.is_active) PlanPod(pod, guarantees);
  }
  PlanQosDirs(guarantees);
}

const api::ResourceQos* MemoryQosStrategy::ClassOf(api::QosClass qos) const {
  const auto& strategy = inputs_.slo->resource_qos_strategy;
  if (!strategy) return nullptr;
  const auto pick = [](const std::optional<api::ResourceQos>& c) { return c ? &*c : nullptr; };
  switch (qos) {
    case api::QosClass::kLse:
    case api::QosClass::kLsr:
      return pick(strategy->lsr_class);
    case api::QosClass::kLs:
      return pick(strategy->ls_class);
    case api::QosClass::kBe:
      return pick(strategy->be_class);
    case api::QosClass::kSystem:
      return pick(strategy->system_class);
    case api::QosClass::kNone:
      return nullptr;
  }
  return nullptr;
}

void MemoryQosStrategy::PlanPod(const NodePod& pod, Guarantees& guarantees) {
  const api::ResourceQos* of_class = ClassOf(pod.qos);
  const api::MemoryQos* of_node =
      of_class != nullptr && of_class->memory_qos ? &*of_class->memory_qos : nullptr;
  const api::MemoryQos config =
      MergeMemoryQos(of_node, pod.qos, pod.memory_qos ? &*pod.memory_qos : nullptr);

  const int64_t request = BytesOf(pod.requests, MemoryOf(pod));
  const auto min = Protected(request, config.min_limit_percent);
  const auto low = Protected(request, config.low_limit_percent);
  Guarantee& guarantee = guarantees[static_cast<size_t>(pod.kube_qos)];
  AddTo(guarantee.min, min);
  AddTo(guarantee.low, low);

  const AuditEvent about{.type = AuditEvent::Type::kPod,
                         .level = 3,
                         .ns = pod.pod->metadata.ns,
                         .name = pod.pod->metadata.name,
                         .container = {},
                         .reason = "MemoryQOS",
                         .message = {}};
  auto& level = levels_[kPods];
  Put(level, CgroupFile::kMemoryMin, pod.dir, min, about);
  if (low) {
    Put(level, CgroupFile::kMemoryLow, pod.dir, RaisedTo(*low, min.value_or(0)), about);
  }
  PutReclaim(level, pod.dir, config, about);
  PutOomOrder(level, pod.dir, config, about);
  const PageCacheLimit cache = PageCacheLimitOf(config, LimitOf(pod));
  Put(level, CgroupFile::kPageCacheLimitEnable, pod.dir, cache.enable, about);
  Put(level, CgroupFile::kPageCacheLimitSize, pod.dir, cache.size, about);
  Put(level, CgroupFile::kPageCacheLimitSync, pod.dir, cache.sync, about);

  for (const NodeContainer& container : pod.containers) {
    const bool stays =
        container.spec != nullptr && (!container.is_init || kube::IsSidecar(*container.spec));
    if (stays && !container.dir.is_root()) PlanContainer(pod, container, config);
  }
}

void MemoryQosStrategy::PlanContainer(const NodePod& pod, const NodeContainer& container,
                                      const api::MemoryQos& config) {
  const auto& resources = container.spec->resources;
  const int64_t request = BytesOf(resources.requests, MemoryOf(pod));
  const int64_t limit = BytesOf(resources.limits, MemoryOf(pod));
  const auto min = Protected(request, config.min_limit_percent);
  const auto low = Protected(request, config.low_limit_percent);

  const AuditEvent about{.type = AuditEvent::Type::kContainer,
                         .level = 3,
                         .ns = pod.pod->metadata.ns,
                         .name = pod.pod->metadata.name,
                         .container = container.spec->name,
                         .reason = "MemoryQOS",
                         .message = {}};
  auto& level = levels_[kContainers];
  Put(level, CgroupFile::kMemoryMin, container.dir, min, about);
  if (low) {
    Put(level, CgroupFile::kMemoryLow, container.dir, RaisedTo(*low, min.value_or(0)), about);
  }
  if (config.throttling_percent) {
    const int64_t allocatable = BytesOf(inputs_.node->status.allocatable, kube::kMemory);
    const int64_t high = MemoryHigh(request, limit, allocatable, *config.throttling_percent,
                                    context_.host.kernel().page_size());
    Put(level, CgroupFile::kMemoryHigh, container.dir, RaisedTo(high, min.value_or(0)), about);
  }
  PutReclaim(level, container.dir, config, about);
  api::MemoryQos order = config;
  if (KubeletGroupsOomKills()) order.oom_kill_group.reset();
  PutOomOrder(level, container.dir, order, about);
}

// From 1.28 on and with cgroups of version 2 the kubelet lets containers die as a whole.
bool MemoryQosStrategy::KubeletGroupsOomKills() const {
  const auto& info = inputs_.node->status.node_info;
  if (!info || context_.host.cgroups().layout().version != CgroupVersion::kV2) return false;
  std::string_view version = info->kubelet_version;
  if (version.starts_with('v')) version.remove_prefix(1);
  const size_t dot = version.find('.');
  if (dot == version.npos) return false;
  const auto major = ParseInt(version.substr(0, dot));
  std::string_view rest = version.substr(dot + 1);
  const auto minor = ParseInt(rest.substr(0, rest.find_first_not_of("0123456789")));
  return major && minor && (*major > 1 || (*major == 1 && *minor >= 28));
}

void MemoryQosStrategy::PlanQosDirs(const Guarantees& guarantees) {
  Guarantee all;
  for (const Guarantee& guarantee : guarantees) {
    AddTo(all.min, guarantee.min);
    AddTo(all.low, guarantee.low);
  }
  // Whatever pods say, there is no more to protect than the node has.
  const int64_t capacity = BytesOf(inputs_.node->status.capacity, kube::kMemory);
  for (std::optional<int64_t>* sum : {&all.min, &all.low}) {
    if (*sum && capacity > 0) **sum = std::min(**sum, capacity);
  }
  const auto of = [&](kube::PodQos qos) { return guarantees[static_cast<size_t>(qos)]; };
  using enum kube::PodQos;
  PlanQosDir(kGuaranteed, all, ClassOf(api::QosClass::kLsr), levels_[kKubepods]);
  PlanQosDir(kBurstable, of(kBurstable), ClassOf(api::QosClass::kLs), levels_[kQosDirs]);
  PlanQosDir(kBestEffort, of(kBestEffort), ClassOf(api::QosClass::kBe), levels_[kQosDirs]);
}

void MemoryQosStrategy::PlanQosDir(kube::PodQos qos, const Guarantee& guarantee,
                                   const api::ResourceQos* of_class, std::vector<Update>& level) {
  const Cgroups& cgroups = context_.host.cgroups();
  const CgroupDir dir = cgroups.layout().QosDir(qos);
  const AuditEvent about{.type = AuditEvent::Type::kGroup,
                         .level = 3,
                         .ns = {},
                         .name = dir.path(),
                         .container = {},
                         .reason = "MemoryQOS",
                         .message = {}};
  const auto put = [&](CgroupFile file, std::optional<int64_t> amount) {
    if (!amount) {
      // Of pods that have left, something may remain.
      const auto text = cgroups.Read(file, dir);
      if (text.ok() && Trim(*text) != "0") amount = 0;
    }
    Put(level, file, dir, amount, about);
  };
  put(CgroupFile::kMemoryMin, guarantee.min);
  put(CgroupFile::kMemoryLow, guarantee.low);
  if (of_class != nullptr && of_class->memory_qos) {
    PutOomOrder(level, dir, *of_class->memory_qos, about);
  }
}

void MemoryQosStrategy::PutReclaim(std::vector<Update>& level, const CgroupDir& dir,
                                   const api::MemoryQos& config, const AuditEvent& about) {
  Put(level, CgroupFile::kMemoryWmarkRatio, dir, config.wmark_ratio, about);
  Put(level, CgroupFile::kMemoryWmarkScaleFactor, dir, config.wmark_scale_permill, about);
  Put(level, CgroupFile::kMemoryWmarkMinAdj, dir, config.wmark_min_adj, about);
}

void MemoryQosStrategy::PutOomOrder(std::vector<Update>& level, const CgroupDir& dir,
                                    const api::MemoryQos& config, const AuditEvent& about) {
  Put(level, CgroupFile::kMemoryPriority, dir, config.priority, about);
  Put(level, CgroupFile::kMemoryUsePriorityOom, dir, config.priority_enable, about);
  Put(level, CgroupFile::kMemoryOomGroup, dir, config.oom_kill_group, about);
}

void MemoryQosStrategy::Put(std::vector<Update>& level, CgroupFile file, const CgroupDir& dir,
                            std::optional<int64_t> value, const AuditEvent& about) {
  if (!value) return;
  const CgroupFileInfo* info = InfoOf(file, context_.host.cgroups().layout().version);
  if (info == nullptr) return;
  if ((info->min && *value < *info->min) || (info->max && *value > *info->max)) {
    problems_.Report({.object = dir, .kind = info->name},
                     InvalidArgument("{} is out of its range", *value));
    return;
  }
  level.push_back({CgroupTarget{file, dir}, std::to_string(*value), about});
}

}  // namespace koord::koordlet
