#include "localcluster/controllers/volumes/default_class.h"

#include <utility>

#include "kube/api_error.h"
#include "kube/resources.h"

namespace koord::localcluster {
namespace {

constexpr char kIsDefault[] = "storageclass.kubernetes.io/is-default-class";
constexpr char kIsDefaultOld[] = "storageclass.beta.kubernetes.io/is-default-class";

bool IsDefault(const kube::StorageClass& one) {
  return kube::ValueOf(one.metadata.annotations, kIsDefault) == "true" ||
         kube::ValueOf(one.metadata.annotations, kIsDefaultOld) == "true";
}

}  // namespace

kube::Json StandardStorageClass() {
  return {{"apiVersion", kube::kStorageClasses.api_version()},
          {"kind", kube::kStorageClasses.kind},
          {"metadata", {{"name", "standard"}, {"annotations", {{kIsDefault, "true"}}}}},
          {"provisioner", "koordinator.sh/local"},
          {"reclaimPolicy", "Delete"},
          {"volumeBindingMode", "WaitForFirstConsumer"}};
}

void EnsureStorageClass(kube::Client& client, std::function<void(Status)> done) {
  const auto create = [&client, done](const StatusOr<kube::Json>& answer) {
    if (!answer.ok()) return done(answer.status());
    const auto* classes = kube::FindArray(*answer, {"items"});
    if (classes != nullptr && !classes->empty()) return done(absl::OkStatus());
    client.Create(kube::kStorageClasses, "", StandardStorageClass(), {},
                  [done](const StatusOr<kube::Json>& created) { done(created.status()); });
  };
  client.List(kube::kStorageClasses, "", {}, create);
}

std::string DefaultClassAmong(const std::vector<std::shared_ptr<const kube::StorageClass>>& all) {
  const kube::StorageClass* newest = nullptr;
  for (const auto& each : all) {
    const bool newer = newest == nullptr ||
                       each->metadata.creation_timestamp > newest->metadata.creation_timestamp;
    if (IsDefault(*each) && newer) newest = each.get();
  }
  return newest == nullptr ? "" : newest->metadata.name;
}

}  // namespace koord::localcluster
