#include "manager/webhook/pod/pod_binding.h"

#include <algorithm>

namespace koord::manager::webhook {
namespace {

using Names = std::vector<std::string>;

bool Contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool HasAny(const kube::Labels& pairs, const Names& keys) {
  return std::ranges::any_of(keys, [&](const std::string& key) { return pairs.contains(key); });
}

// Why the binding is allowed or not; "" if that is not worth counting.
std::string_view Decide(const Request& request, const ClusterView& view,
                        const BindingOptions& options) {
  const auto is_part = [&](const std::string& part) {
    return request.user.name.find(part) != std::string::npos;
  };
  if (std::ranges::any_of(options.user_names, is_part)) return "allowed_username";
  if (Contains(options.exclude_namespaces, request.ns)) return "excluded_ns";
  const bool everywhere = options.namespaces == Names{"*"};
  if (!everywhere && options.namespaces.empty()) return "";
  if (!everywhere && !Contains(options.namespaces, request.ns)) return "out_of_scope";
  const auto pod = view.FindPod({request.ns, BoundPodOf(request)});
  if (pod == nullptr) return "";
  if (HasAny(pod->metadata.labels, options.bypass_labels)) return "bypass_label";
  if (HasAny(pod->metadata.annotations, options.bypass_annotations)) return "bypass_annotation";
  return options.dry_run ? "dry_run" : "denied";
}

}  // namespace

bool IsPodBinding(const Request& request) {
  if (!request.group.empty() || request.operation != Operation::kCreate) return false;
  return (request.resource == "pods" && request.subresource == "binding") ||
         (request.resource == "bindings" && request.subresource.empty());
}

std::string BoundPodOf(const Request& request) {
  if (!request.name.empty()) return request.name;
  return std::string(kube::FindString(request.object, {"metadata", "name"}));
}

Response ValidateBinding(const Request& request, const ClusterView& view,
                         const BindingOptions& options, WebhookMetrics* metrics) {
  if (options.user_names.empty() || !IsPodBinding(request)) return Response::Allowed();
  const std::string_view decision = Decide(request, view, options);
  if (metrics != nullptr && !decision.empty()) {
    metrics->binding_decisions.With({decision}).Increment();
  }
  if (decision != "denied") return Response::Allowed();
  return Response::Denied("binding denied: username is not in the allowed list");
}

}  // namespace koord::manager::webhook
