#include "koordlet/hooks/engine/result_writer.h"

#include <utility>

namespace koord::koordlet::hooks {
namespace {

std::string_view NameOf(HookLevel level) {
  constexpr std::string_view kNames[] = {"kubeqos", "pod",     "container",
                                         "sandbox", "allpods", "hostapp"};
  return kNames[static_cast<int>(level)];
}

AuditEvent::Type AuditTypeOf(HookLevel level) {
  switch (level) {
    case HookLevel::kPod:
      return AuditEvent::Type::kPod;
    case HookLevel::kContainer:
    case HookLevel::kSandbox:
      return AuditEvent::Type::kContainer;
    default:
      return AuditEvent::Type::kGroup;
  }
}

double MillisecondsOf(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string_view ResourceName(CgroupFile file) {
  const CgroupFileInfo* info = InfoOf(file, CgroupVersion::kV1);
  return info != nullptr ? info->name : "unknown";
}

}  // namespace

std::string LimitText(Limit limit) {
  return limit.unlimited() ? "-1" : fmt::format("{}", limit.value());
}

ResultWriter::ResultWriter(const HookEnv& env)
    : env_(env),
      durations_(env.registry.AddHistograms(
          "koordlet_runtime_hook_reconciler_invoked_duration_milliseconds",
          "Time that the reconciler of runtime hooks takes for one resource",
          {"node", "level", "resource_type", "status"}, metrics::ExponentialBuckets(0.01, 4, 8))),
      levels_(2) {}

void ResultWriter::Observe(HookLevel level, std::string_view resource, Duration took, bool ok) {
  durations_.With({env_.options.node_name, NameOf(level), resource, ok ? "succeeded" : "failed"})
      .Observe(MillisecondsOf(took));
}

Update ResultWriter::MakeUpdate(const About& about, CgroupFile file, std::string value) const {
  Update update{CgroupTarget{file, about.dir}, std::move(value), {}};
  update.about.type = AuditTypeOf(about.level);
  update.about.level = 3;
  update.about.ns = about.ns;
  update.about.name = about.name;
  update.about.container = about.container;
  update.about.reason = "RuntimeHook";
  return update;
}

void ResultWriter::Write(const About& about, CgroupFile file, std::string value, Status& first) {
  const SteadyTime start = env_.clock.Steady();
  const StatusOr<bool> changed = env_.executor.Apply(MakeUpdate(about, file, std::move(value)));
  Observe(about.level, ResourceName(file), env_.clock.Steady() - start, changed.ok());
  if (!changed.ok() && first.ok()) first = changed.status();
}

void ResultWriter::WriteQuota(const About& about, Limit quota, Status& first) {
  if (!collecting_) return Write(about, CgroupFile::kCpuQuota, LimitText(quota), first);
  const size_t level = about.level == HookLevel::kPod ? 0 : 1;
  levels_[level].push_back(MakeUpdate(about, CgroupFile::kCpuQuota, LimitText(quota)));
}

void ResultWriter::FlushLevels() {
  collecting_ = false;
  if (!levels_[0].empty() || !levels_[1].empty()) env_.executor.ApplyLevels(levels_);
  for (auto& level : levels_) level.clear();
}

void ResultWriter::WriteResctrl(const About& about, const ResctrlGroup& group, Status& first) {
  const SteadyTime start = env_.clock.Steady();
  Status status = env_.executor.MakeResctrlGroup(group.name);
  for (const auto& [kind, text] : {std::pair("L3", &group.l3), std::pair("MB", &group.mb)}) {
    if (!status.ok() || text->empty()) continue;
    Update update{ResctrlSchemata{group.name, kind}, *text, {}};
    update.about.type = AuditEvent::Type::kPod;
    update.about.level = 3;
    update.about.ns = about.ns;
    update.about.name = about.name;
    update.about.reason = "RuntimeHook";
    status = env_.executor.Apply(update).status();
  }
  Observe(about.level, "resctrl", env_.clock.Steady() - start, status.ok());
  if (first.ok()) first = status;
}

Status ResultWriter::WritePod(const HookPod& pod, const PodResult& result) {
  const About about{HookLevel::kPod, pod.ns, pod.name, {}, pod.dir};
  Status first;
  if (result.bvt) Write(about, CgroupFile::kCpuBvt, fmt::format("{}", *result.bvt), first);
  if (result.idle) Write(about, CgroupFile::kCpuIdle, *result.idle ? "1" : "0", first);
  if (result.shares) Write(about, CgroupFile::kCpuShares, fmt::format("{}", *result.shares), first);
  if (result.quota) WriteQuota(about, *result.quota, first);
  if (result.memory) Write(about, CgroupFile::kMemoryLimit, LimitText(*result.memory), first);
  if (result.net_class) {
    Write(about, CgroupFile::kNetClassId, fmt::format("{}", *result.net_class), first);
  }
  if (result.resctrl) WriteResctrl(about, *result.resctrl, first);
  return first;
}

Status ResultWriter::WriteContainer(const HookContainer& container, const ContainerResult& result) {
  const About about{container.is_sandbox ? HookLevel::kSandbox : HookLevel::kContainer,
                    container.pod->ns, container.pod->name, container.name, container.dir};
  Status first;
  if (result.bvt) Write(about, CgroupFile::kCpuBvt, fmt::format("{}", *result.bvt), first);
  if (result.shares) Write(about, CgroupFile::kCpuShares, fmt::format("{}", *result.shares), first);
  // The kernel has no empty set of CPUs.
  if (result.cpuset && !result.cpuset->empty()) {
    Write(about, CgroupFile::kCpuset, *result.cpuset, first);
  }
  if (result.quota) WriteQuota(about, *result.quota, first);
  if (result.memory) Write(about, CgroupFile::kMemoryLimit, LimitText(*result.memory), first);
  return first;
}

Status ResultWriter::WriteDir(HookLevel level, std::string_view name, const CgroupDir& dir,
                              const DirResult& result) {
  const About about{level, {}, name, {}, dir};
  Status first;
  if (result.cpuset && !result.cpuset->empty()) {
    Write(about, CgroupFile::kCpuset, *result.cpuset, first);
  }
  if (result.bvt) Write(about, CgroupFile::kCpuBvt, fmt::format("{}", *result.bvt), first);
  if (result.idle) Write(about, CgroupFile::kCpuIdle, *result.idle ? "1" : "0", first);
  return first;
}

}  // namespace koord::koordlet::hooks
