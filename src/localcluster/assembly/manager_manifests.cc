#include "localcluster/assembly/manager_manifests.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/api_error.h"
#include "kube/resources.h"
#include "kube/yaml.h"

namespace koord::localcluster {
namespace {

using kube::Json;

constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
constexpr std::string_view kUs = "koord-up";

struct Object {
  kube::Resource resource;
  Json manifest;
};

// In the order in which they have to be made, which is that of the file.
const kube::Resource kInstalled[] = {kube::kNamespaces, kube::kServices,
                                     kube::kMutatingWebhookConfigurations,
                                     kube::kValidatingWebhookConfigurations};

// Nothing is in force before somebody answers: the manager takes the list from its template.
void PutAside(Json& configuration) {
  const Json* webhooks = kube::Find(configuration, {"webhooks"});
  if (webhooks == nullptr) return;
  const std::string text = kube::Serialize(*webhooks);
  kube::At(configuration, {"webhooks"}) = kube::json::array();
  kube::At(configuration, {"metadata", "annotations", "template"}) = text;
}

std::vector<Object> ReadObjects() {
  std::vector<Object> objects;
  for (const EmbeddedFile& file : ManagerManifests()) {
    auto documents = kube::ParseYamlDocuments(file.text);
    if (!documents.ok()) continue;
    for (kube::YamlDocument& document : *documents) {
      const std::string_view kind = kube::FindString(document.value, {"kind"});
      const auto* known = std::ranges::find(kInstalled, kind, &kube::Resource::kind);
      if (known == std::end(kInstalled)) continue;
      kube::At(document.value, {"metadata", "labels", kManagedBy}) = kUs;
      PutAside(document.value);
      objects.push_back({*known, std::move(document.value)});
    }
  }
  return objects;
}

const std::vector<Object>& Objects() {
  static const std::vector<Object> kObjects = ReadObjects();
  return kObjects;
}

void CreateAll(kube::Client& client, std::span<const Object> objects,
               std::function<void(Status)> done) {
  if (objects.empty()) return done(absl::OkStatus());
  const Object& object = objects.front();
  const std::string ns(kube::FindString(object.manifest, {"metadata", "namespace"}));
  client.Create(object.resource, ns, object.manifest, {.field_manager = std::string(kUs)},
                [&client, rest = objects.subspan(1), done](const StatusOr<Json>& created) {
                  if (!created.ok() && !kube::IsAlreadyExists(created.status())) {
                    return done(created.status());
                  }
                  CreateAll(client, rest, done);
                });
}

bool LeadsElsewhere(const Json& configuration) {
  const auto* webhooks = kube::FindArray(configuration, {"webhooks"});
  return webhooks != nullptr && std::ranges::any_of(*webhooks, [](const Json& webhook) {
           return kube::Find(webhook, {"clientConfig", "url"}) != nullptr;
         });
}

struct Removal {
  size_t left = 0;
  Status first_error;
  std::function<void(Status)> done;

  void Finish(const Status& status) {
    if (!status.ok() && !kube::IsNotFound(status) && first_error.ok()) first_error = status;
    if (--left == 0) done(first_error);
  }
};

void RemoveOwn(kube::Client& client, const Object& object,
               const std::shared_ptr<Removal>& progress) {
  const kube::ObjectKey key{"",
                            std::string(kube::FindString(object.manifest, {"metadata", "name"}))};
  client.Get(object.resource, key, [=, &client, &object](const StatusOr<Json>& found) {
    const bool ours = found.ok() && !LeadsElsewhere(*found) &&
                      kube::FindString(*found, {"metadata", "labels", kManagedBy}) == kUs;
    if (!ours) return progress->Finish(found.status());
    client.Delete(object.resource, key, {},
                  [=](const StatusOr<Json>& gone) { progress->Finish(gone.status()); });
  });
}

}  // namespace

void InstallWebhooks(kube::Client& client, std::function<void(Status)> done) {
  CreateAll(client, Objects(), std::move(done));
}

void InstallManagerNamespace(kube::Client& client, std::function<void(Status)> done) {
  CreateAll(client, std::span(Objects()).first(1), std::move(done));
}

void RemoveWebhooks(kube::Client& client, std::function<void(Status)> done) {
  auto progress = std::make_shared<Removal>();
  progress->left = 1;
  progress->done = std::move(done);
  for (const Object& object : Objects()) {
    if (object.resource.group != kube::kMutatingWebhookConfigurations.group) continue;
    ++progress->left;
    RemoveOwn(client, object, progress);
  }
  progress->Finish(absl::OkStatus());
}

}  // namespace koord::localcluster
