#include "cli/scenario/environment.h"

#include <memory>
#include <optional>

namespace koord::scenario {

StatusOr<kube::Json> Await(Environment& environment,
                           const std::function<void(kube::Client::Done)>& call) {
  // Shared, since an answer may still come after we have given up.
  auto answer = std::make_shared<std::optional<StatusOr<kube::Json>>>();
  call([answer](StatusOr<kube::Json> result) { *answer = std::move(result); });
  if (!environment.RunUntil([&] { return answer->has_value(); })) {
    if (environment.interrupted()) return absl::CancelledError("interrupted");
    return absl::DeadlineExceededError("the cluster did not answer within a minute");
  }
  return std::move(**answer);
}

}  // namespace koord::scenario
