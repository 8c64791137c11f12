#include "koordlet/qos/system_config/system_config.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"
#include "koordlet/qos/framework/amounts.h"

namespace koord::koordlet {
namespace {

using Tree = FileTarget::Tree;

constexpr Duration kMaxAge = std::chrono::seconds(60);
constexpr std::string_view kNo = "NO_";
constexpr std::string_view kFeaturePrefix = "sched_features/";

const FileTarget& SchedFeaturesFile() {
  static const FileTarget file{Tree::kSys, "kernel/debug/sched_features"};
  return file;
}

std::optional<int64_t> InRange(std::optional<int64_t> value, int64_t min, int64_t max) {
  if (!value || *value < min || *value > max) return std::nullopt;
  return value;
}

bool IsFeatureName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::optional<bool> StateOf(std::string_view features, std::string_view name) {
  for (auto word = TakeWord(features); !word.empty(); word = TakeWord(features)) {
    if (word == name) return true;
    if (word.starts_with(kNo) && word.substr(kNo.size()) == name) return false;
  }
  return std::nullopt;
}

}  // namespace

std::vector<SystemSetting> SystemSettings(const api::SystemStrategy& strategy,
                                          int64_t memory_bytes) {
  std::optional<int64_t> min_free;
  if (strategy.min_free_kbytes_factor) {
    min_free = Scale(memory_bytes / 1024, *strategy.min_free_kbytes_factor, 10000);
  }
  return {
      {{Tree::kProc, "sys/vm/min_free_kbytes"}, InRange(min_free, 10 << 10, 10 << 20)},
      {{Tree::kProc, "sys/vm/watermark_scale_factor"},
       InRange(strategy.watermark_scale_factor, 10, 400)},
      {{Tree::kSys, "kernel/mm/memcg_reaper/reap_background"},
       InRange(strategy.memcg_reap_background, 0, 1)},
      {{Tree::kProc, "sys/kernel/sched_group_identity_enabled"},
       InRange(strategy.sched_group_identity_enabled, 0, 1)},
      {{Tree::kProc, "sys/kernel/sched_idle_saver_wmark"},
       InRange(strategy.sched_idle_saver_wmark, 0, INT64_MAX)},
      {{Tree::kSys, "kernel/mm/pagecache_limit/enabled"},
       InRange(strategy.page_cache_limit_enabled, 0, 1)},
  };
}

std::vector<std::string> SchedFeatureChanges(const std::map<std::string, bool, std::less<>>& wanted,
                                             std::string_view current) {
  std::vector<std::string> changes;
  for (const auto& [name, on] : wanted) {
    if (!IsFeatureName(name) || StateOf(current, name) == on) continue;
    changes.push_back(fmt::format("{}{}\n", on ? "" : kNo, name));
  }
  return changes;
}

SystemConfig::SystemConfig(const QosContext& context)
    : context_(context),
      problems_("SystemConfigReconcile"),
      before_(context.undo != nullptr ? *context.undo : own_undo_) {}

void SystemConfig::Run() {
  NodeInputs inputs = NodeInputs::Of(context_.state);
  if (inputs.node == nullptr || inputs.slo == nullptr || !inputs.slo->system_strategy) return;
  const int64_t memory = ValueOf(inputs.node->status.capacity, kube::kMemory).value_or(0);
  if (memory <= 0) return;
  const SteadyTime now = context_.clock.Steady();
  const bool same = inputs.node == inputs_.node && inputs.slo == inputs_.slo;
  if (same && now - applied_ < kMaxAge) return;
  inputs_ = std::move(inputs);
  applied_ = now;
  for (const auto& setting : SystemSettings(*inputs_.slo->system_strategy, memory)) Apply(setting);
  ApplySchedFeatures();
}

void SystemConfig::Apply(const SystemSetting& setting) {
  const std::string& path = setting.file.path;
  if (setting.value) {
    if (!before_.Holds(path, name())) {
      const FileTree& tree =
          setting.file.tree == Tree::kProc ? context_.host.proc() : context_.host.sys();
      const auto text = tree.Read(path);
      if (!text.ok()) return;  // this kernel has no such thing
      before_.Hold(path, name(), Trim(*text));
    }
    Write(setting.file, std::to_string(*setting.value));
  } else {
    before_.Release(path, name(),
                    [&](const std::string& before) { return Write(setting.file, before); });
  }
}

void SystemConfig::ApplySchedFeatures() {
  const auto& asked_for = inputs_.slo->system_strategy->sched_features;
  const auto changed = before_.HeldBy(name(), kFeaturePrefix);
  if (asked_for.empty() && changed.empty()) return;
  const auto current = context_.host.sys().Read(SchedFeaturesFile().path);
  if (!current.ok()) return;
  for (const auto& [feature, on] : asked_for) {
    const auto state = StateOf(*current, feature);
    if (!state || *state == on) continue;
    before_.Hold(fmt::format("{}{}", kFeaturePrefix, feature), name(), *state ? "1" : "0");
  }
  const auto write = [&](const std::map<std::string, bool, std::less<>>& wanted) {
    bool all_written = true;
    for (const std::string& change : SchedFeatureChanges(wanted, *current)) {
      all_written &= Write(SchedFeaturesFile(), change);
    }
    return all_written;
  };
  write(asked_for);
  for (const auto& [key, on] : changed) {
    const std::string feature = key.substr(kFeaturePrefix.size());
    if (asked_for.contains(feature)) continue;
    before_.Release(key, name(), [&](const std::string& before) {
      return write({{feature, before == "1"}});
    });
  }
}

bool SystemConfig::Write(const FileTarget& file, const std::string& value) {
  const auto written = context_.executor.ApplyNow({file, value,
                                                   AuditEvent{.type = AuditEvent::Type::kNode,
                                                              .level = 3,
                                                              .ns = {},
                                                              .name = context_.node_name,
                                                              .container = {},
                                                              .reason = "UpdateSystemConfig",
                                                              .message = {}}});
  if (!written.ok())
    problems_.Report({.object = file.path, .kind = "setting is not writable"}, written.status());
  return written.ok();
}

}  // namespace koord::koordlet
