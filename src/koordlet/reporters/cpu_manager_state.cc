#include "koordlet/reporters/cpu_manager_state.h"

#include "kube/json.h"

namespace koord::koordlet {

StatusOr<std::map<std::string, CpuSet>> ParseCpuManagerState(std::string_view text) {
  std::map<std::string, CpuSet> pods;
  ASSIGN_OR_RETURN(const kube::Json state, kube::ParseJson(text));
  const kube::json::object* entries = kube::FindObject(state, {"entries"});
  if (entries == nullptr) return pods;
  for (const auto& [uid, containers] : *entries) {
    if (!containers.is_object()) continue;
    CpuSet cpus;
    for (const auto& [container, list] : containers.as_object()) {
      if (!list.is_string()) continue;
      const auto parsed = CpuSet::Parse({list.as_string().data(), list.as_string().size()});
      if (parsed.ok()) cpus |= *parsed;
    }
    if (!cpus.empty()) pods.emplace(uid, std::move(cpus));
  }
  return pods;
}

}  // namespace koord::koordlet
