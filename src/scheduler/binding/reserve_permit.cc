#include "scheduler/binding/reserve_permit.h"

#include <string>
#include <utility>

#include "scheduler/binding/plugin_verdict.h"

namespace koord::scheduler {

Verdict RunReserve(const PluginLineup& profile, Attempt& attempt) {
  for (ReservePlugin* plugin : profile.reserve) {
    Verdict verdict = plugin->Reserve(attempt);
    if (!verdict.ok()) return SaidAt("Reserve", plugin->name(), std::move(verdict));
  }
  return Verdict::Success();
}

void RunUnreserve(const PluginLineup& profile, Attempt& attempt) {
  for (auto plugin = profile.reserve.rbegin(); plugin != profile.reserve.rend(); ++plugin) {
    (*plugin)->Unreserve(attempt);
  }
}

Verdict RunPermit(const PluginLineup& profile, Attempt& attempt,
                  std::vector<WaitingPods::Wait>& waits) {
  for (PermitPlugin* plugin : profile.permit) {
    PermitResult result = plugin->Permit(attempt);
    if (result.verdict.code == Code::kWait) {
      waits.push_back({std::string(plugin->name()), result.timeout});
    } else if (!result.verdict.ok()) {
      return SaidAt("Permit", plugin->name(), std::move(result.verdict));
    }
  }
  return Verdict::Success();
}

}  // namespace koord::scheduler
