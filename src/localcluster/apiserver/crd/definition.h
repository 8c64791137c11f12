#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "localcluster/apiserver/crd/json_path.h"
#include "localcluster/apiserver/crd/structural_schema.h"
#include "localcluster/apiserver/registry/resource_info.h"

// CustomResourceDefinition objects: what the server fills in, what it refuses, and what it serves
// once one is accepted. All functions take the definition as JSON (apiextensions.k8s.io/v1).
namespace koord::apiserver {

// spec.names.singular and listKind, conversion.strategy, the Age column of versions without
// columns.
void DefaultDefinition(kube::Json& crd);

FieldErrors ValidateDefinition(const kube::Json& crd);
// What an update may not change, on top of ValidateDefinition.
FieldErrors ValidateDefinitionUpdate(const kube::Json& crd, const kube::Json& old);

// For the Warning header: what the definition asks for and this server does not do.
std::vector<std::string> DefinitionWarnings(const kube::Json& crd);

// Writes status: acceptedNames, storedVersions and the conditions NamesAccepted and Established.
// `others` are all other definitions; a name that one of the same group has taken is not accepted,
// and the definition then stays unestablished. Returns whether the definition is established.
// Idempotent: a condition keeps its lastTransitionTime unless its status changes.
bool UpdateDefinitionStatus(kube::Json& crd, std::span<const kube::Json* const> others,
                            WallTime now);

// Sets condition Terminating=True while the objects of a deleted definition are being removed.
void MarkDefinitionTerminating(kube::Json& crd, WallTime now);

inline constexpr std::string_view kDefinitionCleanupFinalizer =
    "customresourcecleanup.apiextensions.k8s.io";

// Where a custom resource keeps what `scale` speaks of.
struct ScalePaths {
  JsonPath spec_replicas;
  JsonPath status_replicas;
  std::optional<JsonPath> label_selector;
};

struct CustomVersion {
  ResourceInfoPtr info;
  StructuralSchemaPtr schema;  // never null
  bool served = false;
  bool storage = false;
  std::optional<ScalePaths> scale;
  // For field selectors: ("spec.color", path).
  std::vector<std::pair<std::string, JsonPath>> selectable_fields;
};

// A definition made ready to serve.
struct CustomResource {
  std::string group;
  std::string name;                     // "reservations.scheduling.koordinator.sh"
  std::vector<CustomVersion> versions;  // preferred first

  const CustomVersion* Find(std::string_view version) const;
  const CustomVersion& storage() const;

  // A valid definition always compiles; the error says why another does not.
  static StatusOr<std::shared_ptr<const CustomResource>> Compile(const kube::Json& crd);
};

// Conversion strategy None: the same object under another version.
void ConvertVersion(kube::Json& object, std::string_view api_version);

// Negative if `a` is preferred over `b`: GA before beta before alpha, higher numbers first
// (v10 > v2 > v1 > v2beta1 > v1beta2 > v1alpha1), other names last in alphabetical order.
int CompareVersions(std::string_view a, std::string_view b);

}  // namespace koord::apiserver
