#include "localcluster/apiserver/write/bootstrap.h"

#include "base/log.h"
#include "kube/resources.h"
#include "localcluster/apiserver/http/body.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

void Ensure(Core& core, Writer& writer, const kube::Resource& resource, std::string_view ns,
            json::object object) {
  const ResourceInfoPtr info =
      core.registry.Find(resource.group, resource.version, resource.resource);
  Json value(std::move(object));
  const std::string key = KeyOf(ns, kube::FindString(value, {"metadata", "name"}));
  if (core.store.Get(info->stored_as(), key) != nullptr) return;
  kube::ReportedFields unknown;
  const Status normalized = Normalize(core, *info, value, unknown);
  WriteIntent intent;
  intent.info = info;
  intent.ns = ns;
  intent.user = ServerUser();
  if (!normalized.ok()) {
    LOG_ERROR("Could not make a bootstrap object", {"key", key}, {"err", normalized});
    return;
  }
  writer.Create(std::move(intent), std::move(value), [key](StatusOr<Written> written) {
    if (!written.ok()) {
      LOG_ERROR("Could not create a bootstrap object", {"key", key}, {"err", written.status()});
    }
  });
}

json::object Named(std::string_view name) { return {{"metadata", json::object{{"name", name}}}}; }

void EnsureNamespaces(Core& core, Writer& writer) {
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    Ensure(core, writer, kube::kNamespaces, "", Named(name));
  }
}

void EnsurePriorityClass(Core& core, Writer& writer, std::string_view name, int64_t value,
                         std::string_view description) {
  json::object object = Named(name);
  object["value"] = value;
  object["description"] = description;
  Ensure(core, writer, kube::kPriorityClasses, "", std::move(object));
}

void EnsureServerService(Core& core, Writer& writer) {
  json::object object{
      {"metadata", json::object{{"name", "kubernetes"},
                                {"labels", json::object{{"component", "apiserver"},
                                                        {"provider", "kubernetes"}}}}},
      {"spec", json::object{{"clusterIP", "10.96.0.1"},
                            {"clusterIPs", json::array{"10.96.0.1"}},
                            {"type", "ClusterIP"},
                            {"ports", json::array{json::object{{"name", "https"},
                                                               {"port", 443},
                                                               {"protocol", "TCP"},
                                                               {"targetPort", 6443}}}}}}};
  Ensure(core, writer, kube::kServices, "default", std::move(object));
}

// Those who verify client certificates look here for whom this server accepts.
void PublishAuthentication(Core& core, Writer& writer) {
  constexpr char kNamespace[] = "kube-system";
  constexpr char kName[] = "extension-apiserver-authentication";
  const std::string& ca = core.options.client_ca;
  if (ca.empty()) return;
  json::object object = Named(kName);
  object["data"] = json::object{{"client-ca-file", ca}};
  Ensure(core, writer, kube::kConfigMaps, kNamespace, std::move(object));
  WriteIntent intent;
  intent.info = core.registry.Find("", "v1", "configmaps");
  intent.ns = kNamespace;
  intent.name = kName;
  intent.user = ServerUser();
  const auto update = [ca](const Json& current) -> StatusOr<Json> {
    Json changed = current;
    kube::At(changed, {"data", "client-ca-file"}) = ca;
    return changed;
  };
  writer.Update(std::move(intent), update, [](const StatusOr<Written>& written) {
    if (!written.ok()) LOG_ERROR("Could not publish the client CA", {"err", written.status()});
  });
}

}  // namespace

kube::UserInfo ServerUser() {
  return {"system:apiserver", "", {"system:masters", "system:authenticated"}, {}};
}

void Bootstrap(Core& core, Writer& writer) {
  core.Observe("namespaces", [&core, &writer](const EntryPtr& before, const EntryPtr& after) {
    if (before != nullptr || after == nullptr) return;
    Ensure(core, writer, kube::kServiceAccounts, after->key, Named("default"));
  });
  EnsureNamespaces(core, writer);
  EnsurePriorityClass(core, writer, "system-node-critical", 2000001000,
                      "Used for system critical pods that must not be moved from their current "
                      "node.");
  EnsurePriorityClass(
      core, writer, "system-cluster-critical", 2000000000,
      "Used for system critical pods that must run in the cluster, but can be moved "
      "to another node if necessary.");
  EnsureServerService(core, writer);
  PublishAuthentication(core, writer);
}

}  // namespace koord::apiserver
