#include "koordlet/hooks/server/hook_config.h"

#include "koordlet/hooks/engine/atomic_file.h"
#include "kube/json.h"

namespace koord::koordlet::hooks {
namespace {

void AddMember(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("{}\n\t\"{}\": {}", text.size() > 1 ? "," : "", name, value);
}

std::string Quoted(std::string_view text) {
  return kube::json::serialize(kube::json::string(text.data(), text.size()));
}

}  // namespace

std::string HookConfigText(std::string_view endpoint, FailurePolicy policy,
                           std::span<const HookStage> stages) {
  std::string text = "{";
  if (!endpoint.empty()) AddMember(text, "remote-endpoint", Quoted(endpoint));
  AddMember(text, "failure-policy", Quoted(ToString(policy)));
  std::string list;
  for (const HookStage stage : stages) {
    if (stage == HookStage::kPreRemoveRunPodSandbox) continue;  // the proxy has no such moment
    list += fmt::format("{}\n\t\t{}", list.empty() ? "" : ",", Quoted(ToString(stage)));
  }
  if (!list.empty()) AddMember(text, "runtime-hooks", fmt::format("[{}\n\t]", list));
  return text += "\n}";
}

Status WriteHookConfig(const std::string& directory, std::string_view text) {
  const bool has_slash = directory.ends_with('/');
  return WriteFileAtomically(directory + (has_slash ? "" : "/") + "koordlet.json", text, 0644);
}

}  // namespace koord::koordlet::hooks
