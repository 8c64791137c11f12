#include "manager/webhook/configmap/config_webhook.h"

#include <optional>

#include "base/log.h"

namespace koord::manager::webhook {
namespace {

template <class T>
StatusOr<T> DecodeObject(const kube::Json& object) {
  if (object.is_null()) return InvalidArgument("{}", kNothingToDecode);
  return kube::Decode<T>(object);
}

Status Judge(const Request& request, const ClusterView& view, const kube::ObjectKey& slo_config,
             const SloConfigCheck& options) {
  ASSIGN_OR_RETURN(kube::ConfigMap config, DecodeObject<kube::ConfigMap>(request.object));
  if (config.metadata.ns.empty()) config.metadata.ns = request.ns;
  if (kube::KeyOf(config.metadata) != slo_config) return absl::OkStatus();
  std::optional<kube::ConfigMap> old;
  if (request.operation == Operation::kUpdate) {
    ASSIGN_OR_RETURN(old, DecodeObject<kube::ConfigMap>(request.old_object));
  }
  return CheckSloConfig(config, old ? &*old : nullptr, view.Nodes(), options);
}

Response ToResponse(const Status& status) {
  return status.ok() ? Response::Allowed() : Response::Errored(400, status);
}

}  // namespace

Response ValidateConfigMap(const Request& request, const ClusterView& view,
                           const kube::ObjectKey& slo_config, const SloConfigCheck& options) {
  if (!request.IsAbout("configmaps")) return Response::Allowed();
  if (request.operation == Operation::kDelete) {
    if (kube::ObjectKey{request.ns, request.name} == slo_config) {
      LOG_WARNING("The configuration is being deleted", {"configmap", slo_config.ToString()});
    }
    return Response::Allowed();
  }
  return ToResponse(Judge(request, view, slo_config, options));
}

Response ValidateNode(const Request& request, const ClusterView& view) {
  if (!request.IsAbout("nodes")) return Response::Allowed();
  if (request.operation != Operation::kCreate && request.operation != Operation::kUpdate) {
    return Response::Allowed();
  }
  const auto node = DecodeObject<kube::Node>(request.object);
  if (!node.ok()) return Response::Errored(400, node.status());
  const auto config = view.SloConfig();
  if (config == nullptr) return Response::Allowed();
  if (request.operation == Operation::kUpdate) {
    const auto old = DecodeObject<kube::Node>(request.old_object);
    if (!old.ok()) return Response::Errored(400, old.status());
    if (old->metadata.labels == node->metadata.labels) return Response::Allowed();
  }
  const Status status = CheckNodeLabels(node->metadata.name, node->metadata.labels, *config);
  if (request.operation == Operation::kUpdate || status.ok()) return ToResponse(status);
  // A node must be able to join whatever the configuration says.
  LOG_WARNING("Node is subject to several strategies", {"node", node->metadata.name},
              {"err", status});
  return Response::Allowed();
}

}  // namespace koord::manager::webhook
