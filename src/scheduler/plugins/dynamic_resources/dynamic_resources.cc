#include "scheduler/plugins/dynamic_resources/dynamic_resources.h"

#include <fmt/format.h>

namespace koord::scheduler {

PreFilterResult DynamicResources::PreFilter(PodQuery& query) {
  const auto& claims = query.shape().spec().resource_claims;
  if (claims.empty()) return PreFilterResult::Skip();
  return {Verdict::Unresolvable(fmt::format(
      "resource claims are not supported by this scheduler: spec.resourceClaims names \"{}\"",
      claims.front().name))};
}

}  // namespace koord::scheduler
