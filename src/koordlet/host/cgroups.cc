#include "koordlet/host/cgroups.h"

#include <algorithm>

#include "base/cpu_set.h"
#include "base/strings.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kEffectiveCpuset = "cpuset.cpus.effective";
// What version 1 answers where nobody has set a limit: the greatest number of whole pages.
constexpr int64_t kNoMemoryLimitV1 = 0x7FFFFFFFFFFFF000;
constexpr int64_t kMinShares = 2;
constexpr int64_t kMaxShares = 262144;
constexpr int64_t kMinQuotaMicros = 1000;
// Of a hundred million CPUs: the quota of it is the greatest power of two that the kernel takes.
constexpr MilliCpu kMaxCpu(int64_t{1} << 37);

Status Explain(const Status& status, CgroupFile file, CgroupVersion version, const CgroupDir& dir) {
  return Status(status.code(),
                fmt::format("{}/{}: {}", dir.path(), InfoOf(file, version)->name, Message(status)));
}

}  // namespace

Cgroups::Cgroups(FileTree& tree, CgroupLayout layout) : tree_(tree), layout_(layout) {}

std::string Cgroups::Join(std::string_view subsystem, std::string_view dir,
                          std::string_view name) const {
  std::string path;
  path.reserve(subsystem.size() + dir.size() + name.size() + 2);
  for (const std::string_view part : {subsystem, dir, name}) {
    if (part.empty()) continue;
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

StatusOr<std::string> Cgroups::PathOf(CgroupFile file, const CgroupDir& dir) const {
  const CgroupFileInfo* const info = InfoOf(file, layout_.version);
  if (info == nullptr) return absl::UnimplementedError("this version of cgroups has no such file");
  return Join(info->subsystem, dir, info->name);
}

StatusOr<std::string> Cgroups::ReadPathOf(CgroupFile file, const CgroupDir& dir) const {
  if (file == CgroupFile::kCpuset && layout_.version == CgroupVersion::kV2) {
    return Join("", dir, kEffectiveCpuset);
  }
  return PathOf(file, dir);
}

bool Cgroups::IsSupported(CgroupFile file, const CgroupDir& dir) const {
  const CgroupFileInfo* const info = InfoOf(file, layout_.version);
  if (info == nullptr) return false;
  switch (info->check) {
    case CgroupCheck::kAlways:
      return true;
    case CgroupCheck::kInDirectory:
      return tree_.Exists(Join(info->subsystem, dir, info->name));
    case CgroupCheck::kInKubepods:
      return IsIn(file, *info, layout_.QosDir(kube::PodQos::kGuaranteed));
    case CgroupCheck::kInRoot:
      break;
  }
  return IsIn(file, *info, CgroupDir());
}

bool Cgroups::IsIn(CgroupFile file, const CgroupFileInfo& info, const CgroupDir& dir) const {
  auto& known = probed_[static_cast<int>(file)];
  if (known) return *known;
  const bool exists = tree_.Exists(Join(info.subsystem, dir, info.name));
  // Before the kubelet has made its directory nothing can be said.
  if (exists || tree_.Exists(Join(info.subsystem, dir, ""))) known = exists;
  return exists;
}

bool Cgroups::HasDir(const CgroupDir& dir) const {
  return tree_.Exists(Join(layout_.version == CgroupVersion::kV1 ? "cpu" : "", dir, ""));
}

StatusOr<std::vector<std::string>> Cgroups::SubDirs(const CgroupDir& dir,
                                                    std::string_view subsystem) const {
  const bool v1 = layout_.version == CgroupVersion::kV1;
  ASSIGN_OR_RETURN(auto entries, tree_.List(Join(v1 ? subsystem : "", dir, "")));
  std::vector<std::string> names;
  for (FileTree::Entry& entry : entries) {
    if (entry.is_directory) names.push_back(std::move(entry.name));
  }
  return names;
}

StatusOr<std::optional<CgroupDir>> Cgroups::FindSandboxDir(
    const CgroupDir& pod_dir, std::span<const CgroupDir> container_dirs) const {
  if (container_dirs.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(const auto names, SubDirs(pod_dir, "cpuset"));
  std::vector<CgroupDir> candidates;
  for (const std::string& name : names) {
    // CRI-O's own name of a sandbox; its containers are scopes.
    const bool other_of_crio = name.starts_with("crio-") && name.ends_with(".scope");
    CgroupDir dir = pod_dir.Below(name);
    if (!other_of_crio && std::ranges::find(container_dirs, dir) == container_dirs.end()) {
      candidates.push_back(std::move(dir));
    }
  }
  if (candidates.size() != 1) {
    return FailedPrecondition("candidates of sandbox id is {} in {}, expected one",
                              candidates.size(), pod_dir.path());
  }
  return std::move(candidates.front());
}

StatusOr<std::string> Cgroups::Read(CgroupFile file, const CgroupDir& dir) const {
  ASSIGN_OR_RETURN(const std::string path, ReadPathOf(file, dir));
  return tree_.Read(path);
}

StatusOr<std::unique_ptr<OpenFile>> Cgroups::Open(CgroupFile file, const CgroupDir& dir) const {
  ASSIGN_OR_RETURN(const std::string path, ReadPathOf(file, dir));
  return tree_.Open(path);
}

template <class Parse>
auto Cgroups::ReadAs(CgroupFile file, const CgroupDir& dir, Parse parse) const
    -> decltype(parse(std::string_view())) {
  ASSIGN_OR_RETURN(const std::string text, Read(file, dir));
  auto value = parse(std::string_view(text));
  if (!value.ok()) return Explain(value.status(), file, layout_.version, dir);
  return value;
}

StatusOr<int64_t> Cgroups::ReadNumber(CgroupFile file, const CgroupDir& dir) const {
  return ReadAs(file, dir, [](std::string_view text) -> StatusOr<int64_t> {
    ASSIGN_OR_RETURN(const Limit limit, ParseLimit(text));
    if (limit.unlimited() && Trim(text) != "max") {
      return InvalidArgument("{}: expected a number that is not negative", Quote(text, 64));
    }
    return limit.value();
  });
}

StatusOr<int64_t> Cgroups::ReadCpuUsage(const CgroupDir& dir) const {
  return ReadAs(CgroupFile::kCpuUsage, dir,
                [this](std::string_view text) { return ParseCpuUsage(text, layout_.version); });
}

StatusOr<CpuStat> Cgroups::ReadCpuStat(const CgroupDir& dir) const {
  return ReadAs(CgroupFile::kCpuStat, dir, ParseCpuStat);
}

StatusOr<int64_t> Cgroups::ReadCpuShares(const CgroupDir& dir) const {
  ASSIGN_OR_RETURN(const int64_t number, ReadNumber(CgroupFile::kCpuShares, dir));
  return layout_.version == CgroupVersion::kV1 ? number : SharesOfWeight(number);
}

StatusOr<Limit> Cgroups::ReadCpuQuota(const CgroupDir& dir) const {
  return ReadAs(CgroupFile::kCpuQuota, dir,
                [](std::string_view text) { return ParseLimit(TakeWord(text)); });
}

StatusOr<int64_t> Cgroups::ReadCpuPeriod(const CgroupDir& dir) const {
  const bool v2 = layout_.version == CgroupVersion::kV2;
  return ReadAs(CgroupFile::kCpuPeriod, dir, [v2](std::string_view text) -> StatusOr<int64_t> {
    if (v2) TakeWord(text);
    const auto micros = NumberOf<int64_t>(TakeWord(text));
    if (!micros || *micros <= 0) return InvalidArgument("no period of CPU time");
    return *micros;
  });
}

StatusOr<CpuSet> Cgroups::ReadCpuset(const CgroupDir& dir) const {
  return ReadAs(CgroupFile::kCpuset, dir,
                [](std::string_view text) { return CpuSet::Parse(Trim(text)); });
}

StatusOr<Limit> Cgroups::ReadMemoryLimit(const CgroupDir& dir) const {
  const bool v1 = layout_.version == CgroupVersion::kV1;
  return ReadAs(CgroupFile::kMemoryLimit, dir, [v1](std::string_view text) -> StatusOr<Limit> {
    ASSIGN_OR_RETURN(const Limit limit, ParseLimit(text));
    return v1 && limit.value() >= kNoMemoryLimitV1 ? Limit::Unlimited() : limit;
  });
}

StatusOr<int64_t> Cgroups::ReadMemoryUsage(const CgroupDir& dir) const {
  return ReadNumber(CgroupFile::kMemoryUsage, dir);
}

StatusOr<MemoryStat> Cgroups::ReadMemoryStat(const CgroupDir& dir) const {
  return ReadAs(CgroupFile::kMemoryStat, dir,
                [this](std::string_view text) { return ParseMemoryStat(text, layout_.version); });
}

StatusOr<Pressure> Cgroups::ReadPressure(CgroupFile file, const CgroupDir& dir) const {
  return ReadAs(file, dir, ParsePressure);
}

StatusOr<std::vector<int32_t>> Cgroups::ReadProcesses(const CgroupDir& dir) const {
  return ReadAs(CgroupFile::kProcesses, dir, ParseIds);
}

StatusOr<std::vector<int32_t>> Cgroups::ReadThreads(const CgroupDir& dir) const {
  return ReadAs(CgroupFile::kThreads, dir, ParseIds);
}

int64_t SharesOf(MilliCpu cpu) {
  if (cpu <= MilliCpu()) return kMinShares;
  return std::clamp(std::min(cpu, kMaxCpu).value() * 1024 / 1000, kMinShares, kMaxShares);
}

Limit QuotaOf(MilliCpu cpu) {
  if (cpu <= MilliCpu()) return Limit::Unlimited();
  const int64_t micros = std::min(cpu, kMaxCpu).value() * kCpuPeriodMicros / 1000;
  return Limit::Of(std::max(micros, kMinQuotaMicros));
}

int64_t WeightOfShares(int64_t shares) {
  return 1 + (std::clamp(shares, kMinShares, kMaxShares) - 2) * 9999 / 262142;
}

int64_t SharesOfWeight(int64_t weight) {
  return (std::clamp<int64_t>(weight, 1, 10000) - 1) * 262142 / 9999 + 2;
}

}  // namespace koord::koordlet
