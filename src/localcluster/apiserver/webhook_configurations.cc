#include "localcluster/apiserver/webhook_configurations.h"

#include "kube/resources.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

const kube::Resource& kMutating = kube::kMutatingWebhookConfigurations;
const kube::Resource& kValidating = kube::kValidatingWebhookConfigurations;

StatusOr<Json> Find(const Core& core, std::string_view resource, std::string_view key) {
  const EntryPtr entry = core.store.Get(resource, key);
  if (entry == nullptr) return NotFound("{} {} does not exist", resource, key);
  return kube::ParseJson(entry->value);
}

// The port of the endpoints that stands behind a port of the service, which may do so by name.
int TargetPort(const Json& service, int port, const Json& subset) {
  Json target = port;
  std::string name;
  if (const json::array* ports = kube::FindArray(service, {"spec", "ports"})) {
    for (const Json& item : *ports) {
      if (kube::FindInt(item, {"port"}) != port) continue;
      name = kube::FindString(item, {"name"});
      if (const Json* found = kube::Find(item, {"targetPort"})) target = *found;
    }
  }
  if (const json::array* ports = kube::FindArray(subset, {"ports"})) {
    for (const Json& item : *ports) {
      if (kube::FindString(item, {"name"}) == name) {
        return static_cast<int>(kube::FindInt(item, {"port"}));
      }
    }
  }
  return target.is_int64() ? static_cast<int>(target.get_int64()) : port;
}

}  // namespace

WebhookConfigurations::WebhookConfigurations(Core& core, Webhooks& webhooks)
    : core_(core), webhooks_(webhooks) {
  for (const kube::Resource* resource : {&kMutating, &kValidating}) {
    core_.Observe(resource->qualified(),
                  [this, resource](const EntryPtr&, const EntryPtr&) { Load(*resource); });
    Load(*resource);
  }
}

void WebhookConfigurations::Load(const kube::Resource& resource) {
  std::vector<Json> configurations;
  core_.store
      .Range(resource.qualified(), "", "", 0,
             [&](const EntryPtr& entry) {
               auto parsed = kube::ParseJson(entry->value);
               if (parsed.ok()) configurations.push_back(std::move(*parsed));
               return true;
             })
      .IgnoreError();
  if (resource == kMutating) {
    webhooks_.SetMutating(configurations);
  } else {
    webhooks_.SetValidating(configurations);
  }
}

Json NamespaceLabels(const Core& core, std::string_view ns) {
  const StatusOr<Json> object = Find(core, "namespaces", ns);
  const Json* labels = object.ok() ? kube::Find(*object, {"metadata", "labels"}) : nullptr;
  return labels == nullptr ? Json() : *labels;
}

StatusOr<Endpoint> ResolveService(const Core& core, const ServiceReference& reference) {
  const std::string key = KeyOf(reference.ns, reference.name);
  ASSIGN_OR_RETURN(const Json service, Find(core, "services", key));
  ASSIGN_OR_RETURN(const Json endpoints, Find(core, "endpoints", key));
  if (const json::array* subsets = kube::FindArray(endpoints, {"subsets"})) {
    for (const Json& subset : *subsets) {
      const json::array* addresses = kube::FindArray(subset, {"addresses"});
      if (addresses == nullptr || addresses->empty()) continue;
      return Endpoint{std::string(kube::FindString(addresses->front(), {"ip"})),
                      TargetPort(service, reference.port, subset)};
    }
  }
  return Unavailable("no endpoints available for service \"{}\"", reference.name);
}

}  // namespace koord::apiserver
