#include "koordlet/informers/kept_pod.h"

#include <utility>

#include "koordlet/informers/pod_filter.h"

namespace koord::kube {

Status Codec<koordlet::KeptPod>::Read(JsonView in, koordlet::KeptPod& out) {
  RETURN_IF_ERROR(Codec<Pod>::Read(koordlet::Filtered(in), out));
  if (!IsTerminal(out)) return absl::OkStatus();
  koordlet::KeptPod ended;
  ended.metadata.ns = std::move(out.metadata.ns);
  ended.metadata.name = std::move(out.metadata.name);
  ended.metadata.uid = std::move(out.metadata.uid);
  ended.metadata.resource_version = std::move(out.metadata.resource_version);
  ended.status.phase = std::move(out.status.phase);
  out = std::move(ended);
  return absl::OkStatus();
}

}  // namespace koord::kube
