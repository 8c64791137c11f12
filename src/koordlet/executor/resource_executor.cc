#include "koordlet/executor/resource_executor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/known_problems.h"
#include "base/log.h"
#include "base/string_map.h"
#include "base/strings.h"
#include "koordlet/executor/desired_value.h"
#include "koordlet/executor/schemata.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr Duration kEntryLife = std::chrono::minutes(2);
constexpr Duration kSweepInterval = std::chrono::minutes(1);
constexpr int kDefaultAuditLevel = 3;
constexpr size_t kShownBytes = 256;

enum class Outcome {
  kGone,
  kNotSupported,  // by this kernel, whatever the value is
  kSame,
  kChanged,
};

// Pods vanish all the time, and kernels lack things: nothing to complain of.
std::optional<Outcome> Ignored(const Status& status) {
  if (status.code() == absl::StatusCode::kNotFound) return Outcome::kGone;
  if (status.code() == absl::StatusCode::kUnimplemented) return Outcome::kNotSupported;
  return std::nullopt;
}

// One file of one tree.
struct Place {
  FileTree& tree;
  std::string_view tree_name;
  std::string path;
  bool has_lines = false;  // a write changes a part of it

  std::string Shown() const { return fmt::format("{}/{}", tree_name, path); }
};

std::string Shorten(std::string_view text) {
  return std::string(Trim(text).substr(0, kShownBytes));
}

std::string_view DefaultReason(const UpdateTarget& target) {
  if (std::holds_alternative<CgroupTarget>(target)) return "UpdateCgroups";
  if (std::holds_alternative<FileTarget>(target)) return "UpdateSystemConfig";
  return "UpdateResctrl";
}

std::string_view MetricType(const UpdateTarget& target) {
  if (std::holds_alternative<CgroupTarget>(target)) return "cgroup";
  if (std::holds_alternative<FileTarget>(target)) return "default";
  return "resctrl-schema";
}

bool HasLinePerDevice(CgroupFile file) {
  return file >= CgroupFile::kBlkioReadIops && file <= CgroupFile::kBlkioCostModel;
}

Status CheckGroup(std::string_view group) {
  if (group.empty() || group == "." || group == ".." || group == "info" ||
      group.find('/') != group.npos) {
    return InvalidArgument("{} is no resctrl group", Quote(group));
  }
  return absl::OkStatus();
}

std::string InGroup(std::string_view group, std::string_view file) {
  return group.empty() ? std::string(file) : fmt::format("{}/{}", group, file);
}

}  // namespace

struct ResourceExecutor::State {
  State(Host& host, const Clock& clock, Auditor* auditor, metrics::Registry* registry,
        Options options);

  // Whether this value was written, or found in place, a short while ago.
  bool IsFresh(const Update& update);
  void Remember(const Update& update);
  void Forget(const Update& update);
  const std::string& KeyOf(const Update& update);
  void Sweep(SteadyTime now);

  StatusOr<Outcome> WriteIfDifferent(const Update& update);
  StatusOr<Outcome> UpdateCgroup(const CgroupTarget& target, const Update& update);
  // Mainline kernels take no burst above the quota, and no quota below the burst; Anolis does.
  // After such a refusal: as much of the burst as there may be.
  StatusOr<Outcome> CutBurst(const CgroupTarget& target, const Place& place,
                             std::string_view current, const Update& update, const Status& refusal);
  // And: room for the quota.
  Status LowerBurst(const CgroupTarget& target, const Update& update, const Status& refusal);
  StatusOr<Outcome> UpdateFile(const FileTarget& target, const Update& update);
  StatusOr<Outcome> UpdateSchemata(const ResctrlSchemata& target, const Update& update);
  // False: ignored, nothing is left to do.
  StatusOr<bool> Loosen(const CgroupTarget& target, const Update& update);
  StatusOr<DesiredValue> Desire(const CgroupTarget& target, std::string_view value) const;
  Status WhyNotSupported(const CgroupTarget& target) const;
  Place PlaceOf(const CgroupTarget& target, std::string path) const;

  StatusOr<std::string> Read(const Place& place) const;
  Status Write(const Place& place, std::string_view old, std::string_view text,
               const Update& update);
  void Tell(std::string path, std::string_view old, std::string_view text);
  // Logs what went wrong once, until it changes or the value could be set.
  void Report(const Update& update, const Status& status);

  struct Entry {
    std::string value;
    SteadyTime at{};
    SteadyTime asked{};  // for the last time: what nobody asks for any more is forgotten
  };

  Host& host;
  const Clock& clock;
  Auditor* const auditor;
  const Options options;
  metrics::Histograms* durations = nullptr;
  std::function<void(const WriteRecord&)> observer;
  StringMap<Entry> written;
  KnownProblems problems;            // with files, by their keys
  StringMap<std::string> pretended;  // contents of files in a dry run, by shown path
  SteadyTime swept{};
  std::string key;
};

ResourceExecutor::State::State(Host& host, const Clock& clock, Auditor* auditor,
                               metrics::Registry* registry, Options options)
    : host(host), clock(clock), auditor(auditor), options(options), swept(clock.Steady()) {
  if (registry == nullptr) return;
  durations = &registry->AddHistograms("koordlet_resource_update_duration_milliseconds",
                                       "How long it took to bring a file of the kernel to a value",
                                       {"type", "status"}, metrics::ExponentialBuckets(0.01, 4, 8));
}

const std::string& ResourceExecutor::State::KeyOf(const Update& update) {
  key.clear();
  if (const auto* cgroup = std::get_if<CgroupTarget>(&update.target)) {
    key += 'c';
    key += static_cast<char>(cgroup->file);
    key += cgroup->dir.path();
    if (HasLinePerDevice(cgroup->file)) {
      std::string_view value = update.value;
      key += '\0';
      key += TakeWord(value);
    }
  } else if (const auto* file = std::get_if<FileTarget>(&update.target)) {
    key += file->tree == FileTarget::Tree::kProc ? 'p' : 's';
    key += file->path;
  } else {
    const auto& schemata = std::get<ResctrlSchemata>(update.target);
    key += 'r';
    key += schemata.kind;
    key += '\0';
    key += schemata.group;
  }
  return key;
}

bool ResourceExecutor::State::IsFresh(const Update& update) {
  const SteadyTime now = clock.Steady();
  Sweep(now);
  const auto it = written.find(KeyOf(update));
  if (it == written.end() || it->second.value != update.value) return false;
  it->second.asked = now;
  return now - it->second.at < options.force_update_after;
}

void ResourceExecutor::State::Remember(const Update& update) {
  Entry& entry = written[KeyOf(update)];
  entry.value = update.value;
  entry.at = entry.asked = clock.Steady();
}

void ResourceExecutor::State::Forget(const Update& update) {
  if (const auto it = written.find(KeyOf(update)); it != written.end()) written.erase(it);
}

void ResourceExecutor::State::Sweep(SteadyTime now) {
  if (now - swept < kSweepInterval) return;
  swept = now;
  const auto is_old = [now](const auto& entry) { return now - entry.second.asked >= kEntryLife; };
  absl::erase_if(written, is_old);
}

StatusOr<Outcome> ResourceExecutor::State::WriteIfDifferent(const Update& update) {
  const SteadyTime start = clock.Steady();
  StatusOr<Outcome> outcome = [&] {
    if (const auto* cgroup = std::get_if<CgroupTarget>(&update.target)) {
      return UpdateCgroup(*cgroup, update);
    }
    if (const auto* file = std::get_if<FileTarget>(&update.target)) {
      return UpdateFile(*file, update);
    }
    return UpdateSchemata(std::get<ResctrlSchemata>(update.target), update);
  }();
  if (!outcome.ok()) {
    if (const auto ignored = Ignored(outcome.status())) return *ignored;
  }
  if (durations != nullptr) {
    const std::chrono::duration<double, std::milli> took = clock.Steady() - start;
    durations->With({MetricType(update.target), outcome.ok() ? "success" : "failed"})
        .Observe(took.count());
  }
  return outcome;
}

StatusOr<DesiredValue> ResourceExecutor::State::Desire(const CgroupTarget& target,
                                                       std::string_view value) const {
  const Cgroups& cgroups = host.cgroups();
  if (InfoOf(target.file, cgroups.layout().version) == nullptr) {
    return absl::UnimplementedError("not in this version");
  }
  ASSIGN_OR_RETURN(DesiredValue desired, DesiredValue::Parse(target.file, cgroups.layout().version,
                                                             host.kernel().page_size(), value));
  if (!cgroups.IsSupported(target.file, target.dir)) return WhyNotSupported(target);
  return desired;
}

// A kernel makes directories with their files: one that has the directory and not the file lacks
// it, and before the kubelet has made its own nothing can be said.
Status ResourceExecutor::State::WhyNotSupported(const CgroupTarget& target) const {
  const Cgroups& cgroups = host.cgroups();
  if (!cgroups.HasDir(target.dir) ||
      !cgroups.HasDir(cgroups.layout().QosDir(kube::PodQos::kGuaranteed))) {
    return NotFound("not there");
  }
  return absl::UnimplementedError("not on this machine");
}

Place ResourceExecutor::State::PlaceOf(const CgroupTarget& target, std::string path) const {
  return {host.cgroup_files(), "cgroup", std::move(path), HasLinePerDevice(target.file)};
}

StatusOr<Outcome> ResourceExecutor::State::UpdateCgroup(const CgroupTarget& target,
                                                        const Update& update) {
  ASSIGN_OR_RETURN(const DesiredValue desired, Desire(target, update.value));
  ASSIGN_OR_RETURN(std::string path, host.cgroups().PathOf(target.file, target.dir));
  const Place place = PlaceOf(target, std::move(path));
  ASSIGN_OR_RETURN(const std::string current, Read(place));
  if (desired.Matches(current)) return Outcome::kSame;
  const Status written = Write(place, current, desired.TextFor(current), update);
  if (written.ok()) return Outcome::kChanged;
  if (written.code() != absl::StatusCode::kInvalidArgument) return written;
  if (target.file == CgroupFile::kCpuBurst)
    return CutBurst(target, place, current, update, written);
  if (target.file == CgroupFile::kCpuQuota) {
    RETURN_IF_ERROR(LowerBurst(target, update, written));
    RETURN_IF_ERROR(Write(place, current, desired.TextFor(current), update));
    return Outcome::kChanged;
  }
  return written;
}

StatusOr<Outcome> ResourceExecutor::State::CutBurst(const CgroupTarget& target, const Place& place,
                                                    std::string_view current, const Update& update,
                                                    const Status& refusal) {
  const auto quota = host.cgroups().ReadCpuQuota(target.dir);
  const auto burst = NumberOf<int64_t>(Trim(update.value));
  if (!quota.ok() || quota->unlimited() || !burst || *burst <= quota->value()) return refusal;
  const std::string most = std::to_string(quota->value());
  if (Trim(current) == most) return Outcome::kSame;
  RETURN_IF_ERROR(Write(place, current, most, update));
  return Outcome::kChanged;
}

Status ResourceExecutor::State::LowerBurst(const CgroupTarget& target, const Update& update,
                                           const Status& refusal) {
  const auto path = host.cgroups().PathOf(CgroupFile::kCpuBurst, target.dir);
  const auto quota = NumberOf<int64_t>(Trim(update.value));
  if (!path.ok() || !quota || *quota < 0) return refusal;
  const Place place = PlaceOf({CgroupFile::kCpuBurst, target.dir}, *path);
  const auto text = Read(place);
  const auto burst = text.ok() ? NumberOf<int64_t>(Trim(*text)) : std::nullopt;
  if (!burst || *burst <= *quota) return refusal;
  return Write(place, *text, std::to_string(*quota), update);
}

StatusOr<Outcome> ResourceExecutor::State::UpdateFile(const FileTarget& target,
                                                      const Update& update) {
  const bool proc = target.tree == FileTarget::Tree::kProc;
  const Place place{proc ? host.proc() : host.sys(), proc ? "proc" : "sys", target.path};
  ASSIGN_OR_RETURN(const std::string current, Read(place));
  if (Trim(current) == Trim(update.value)) return Outcome::kSame;
  RETURN_IF_ERROR(Write(place, current, update.value, update));
  return Outcome::kChanged;
}

StatusOr<Outcome> ResourceExecutor::State::UpdateSchemata(const ResctrlSchemata& target,
                                                          const Update& update) {
  if (!target.group.empty()) RETURN_IF_ERROR(CheckGroup(target.group));
  ASSIGN_OR_RETURN(const SchemataLine line, SchemataLine::Parse(target.kind, update.value));
  const Place place{host.resctrl(), "resctrl", InGroup(target.group, "schemata"), true};
  ASSIGN_OR_RETURN(const std::string current, Read(place));
  if (line.Matches(current)) return Outcome::kSame;
  RETURN_IF_ERROR(Write(place, current, line.Text(), update));
  return Outcome::kChanged;
}

StatusOr<bool> ResourceExecutor::State::Loosen(const CgroupTarget& target, const Update& update) {
  StatusOr<DesiredValue> desired = Desire(target, update.value);
  if (!desired.ok()) {
    if (Ignored(desired.status())) return false;
    return desired.status();
  }
  ASSIGN_OR_RETURN(std::string path, host.cgroups().PathOf(target.file, target.dir));
  const Place place = PlaceOf(target, std::move(path));
  StatusOr<std::string> current = Read(place);
  // In version 2 a cgroup whose CPUs nobody has set has those of its parent.
  if (current.ok() && target.file == CgroupFile::kCpuset && Trim(*current).empty()) {
    current = host.cgroups().Read(target.file, target.dir);
  }
  if (!current.ok()) {
    if (Ignored(current.status())) return false;
    return current.status();
  }
  ASSIGN_OR_RETURN(const auto text, desired->Loosened(*current));
  if (text) RETURN_IF_ERROR(Write(place, *current, *text, update));
  return true;
}

StatusOr<std::string> ResourceExecutor::State::Read(const Place& place) const {
  if (options.dry_run) {
    if (const auto it = pretended.find(place.Shown()); it != pretended.end()) return it->second;
  }
  return place.tree.Read(place.path);
}

Status ResourceExecutor::State::Write(const Place& place, std::string_view old,
                                      std::string_view text, const Update& update) {
  if (options.dry_run) {
    pretended[place.Shown()] = place.has_lines ? fmt::format("{}\n{}", Trim(text), old) : text;
  } else {
    RETURN_IF_ERROR(place.tree.Write(place.path, text));
  }
  if (auditor != nullptr && !options.dry_run) {
    AuditEvent event = update.about;
    if (event.reason.empty()) {
      event.reason = DefaultReason(update.target);
      event.level = kDefaultAuditLevel;
    }
    event.message += fmt::format("{}update {}: {} -> {}", event.message.empty() ? "" : ", ",
                                 place.Shown(), Shorten(old), Shorten(text));
    auditor->Log(std::move(event));
  }
  if (observer) Tell(place.Shown(), old, text);
  return absl::OkStatus();
}

void ResourceExecutor::State::Tell(std::string path, std::string_view old, std::string_view text) {
  if (observer) observer({std::move(path), Shorten(old), Shorten(text)});
}

void ResourceExecutor::State::Report(const Update& update, const Status& status) {
  const ProblemKey problem{.object = KeyOf(update), .kind = "write"};
  if (status.ok()) return problems.Resolve(problem);
  if (!problems.IsNew(problem, Message(status))) return;
  const auto* const cgroup = std::get_if<CgroupTarget>(&update.target);
  LOG_WARNING("Failed to set a value", {"dir", cgroup != nullptr ? cgroup->dir.path() : ""},
              {"value", update.value}, {"err", status});
}

ResourceExecutor::ResourceExecutor(Host& host, const Clock& clock, Auditor* auditor,
                                   metrics::Registry* metrics, Options options)
    : state_(std::make_unique<State>(host, clock, auditor, metrics, options)) {}

ResourceExecutor::~ResourceExecutor() = default;

StatusOr<bool> ResourceExecutor::Apply(const Update& update) {
  if (state_->IsFresh(update)) return false;
  return ApplyNow(update);
}

StatusOr<bool> ResourceExecutor::ApplyNow(const Update& update) {
  const StatusOr<Outcome> outcome = state_->WriteIfDifferent(update);
  if (!outcome.ok() || *outcome == Outcome::kGone) {
    state_->Forget(update);
    if (!outcome.ok()) return outcome.status();
    return false;
  }
  state_->Remember(update);
  return *outcome == Outcome::kChanged;
}

void ResourceExecutor::ApplyLevels(std::span<const std::vector<Update>> levels) {
  const auto apply = [this](const Update& update) {
    state_->Report(update, ApplyNow(update).status());
  };
  std::vector<const Update*> to_tighten;
  for (const std::vector<Update>& level : levels) {
    for (const Update& update : level) {
      if (state_->IsFresh(update)) continue;
      const auto* const target = std::get_if<CgroupTarget>(&update.target);
      if (target == nullptr || !DesiredValue::BoundsChildren(target->file)) {
        apply(update);
        continue;
      }
      const StatusOr<bool> loosened = state_->Loosen(*target, update);
      if (!loosened.ok()) {
        state_->Report(update, loosened.status());
      } else if (*loosened) {
        to_tighten.push_back(&update);
      }
    }
  }
  for (auto it = to_tighten.rbegin(); it != to_tighten.rend(); ++it) apply(**it);
}

Status ResourceExecutor::MakeResctrlGroup(std::string_view group) {
  RETURN_IF_ERROR(CheckGroup(group));
  FileTree& tree = state_->host.resctrl();
  if (tree.Exists(group)) return absl::OkStatus();
  if (!state_->options.dry_run) RETURN_IF_ERROR(tree.MakeDirectory(group));
  state_->Tell(fmt::format("resctrl/{}", group), "", "(a group)");
  return absl::OkStatus();
}

Status ResourceExecutor::RemoveResctrlGroup(std::string_view group) {
  RETURN_IF_ERROR(CheckGroup(group));
  FileTree& tree = state_->host.resctrl();
  if (!tree.Exists(group)) return absl::OkStatus();
  if (!state_->options.dry_run) {
    const Status removed = tree.RemoveDirectory(group);
    if (!removed.ok() && !Ignored(removed)) return removed;
  }
  state_->Tell(fmt::format("resctrl/{}", group), "(a group)", "");
  return absl::OkStatus();
}

Status ResourceExecutor::AddResctrlTasks(std::string_view group, std::vector<int32_t> tasks) {
  if (!group.empty()) RETURN_IF_ERROR(CheckGroup(group));
  if (tasks.empty()) return absl::OkStatus();
  std::ranges::sort(tasks);
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  const std::string path = InGroup(group, "tasks");
  std::vector<std::string> added;
  for (const int32_t task : tasks) {
    const std::string text = std::to_string(task);
    if (state_->options.dry_run || state_->host.resctrl().Append(path, text + "\n").ok()) {
      added.push_back(text);
    }
  }
  if (!added.empty()) state_->Tell(fmt::format("resctrl/{}", path), "", Join(added, ","));
  return absl::OkStatus();
}

void ResourceExecutor::set_observer(std::function<void(const WriteRecord&)> observer) {
  state_->observer = std::move(observer);
}

}  // namespace koord::koordlet
