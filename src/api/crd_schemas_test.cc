#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "api/cluster_colocation_profile.h"
#include "api/cluster_network_topology.h"
#include "api/device.h"
#include "api/elastic_quota.h"
#include "api/elastic_quota_profile.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "api/pod_group.h"
#include "api/pod_migration_job.h"
#include "api/recommendation.h"
#include "api/reservation.h"
#include "api/resources.h"
#include "api/schedule_explanation.h"
#include "base/source_dir/source_dir.h"
#include "kube/objects/custom_resource_definition.h"
#include "kube/patch/json_patch.h"
#include "kube/yaml.h"

// The CRDs that are installed and the structs that read them speak of the same members.
namespace koord::api::crd_schemas_test {
namespace {

using kube::Json;

const std::filesystem::path kDeploy = SourcePath("deploy");
const std::filesystem::path kFolder = kDeploy / "crds";
const std::filesystem::path kReservationV1 = kFolder / "reservation-v1";

Json ReadYaml(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  StatusOr<Json> value = kube::ParseYaml(text.str());
  EXPECT_TRUE(value.ok()) << path << ": " << value.status();
  return value.ok() ? *value : Json();
}

std::vector<std::filesystem::path> YamlFiles(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Compares the members of T with the properties of a schema, in both directions.
template <class T>
struct Compare {
  static void With(const Json& schema, const std::string& path) {
    EXPECT_TRUE(schema.as_object().contains("type") ||
                schema.as_object().contains("x-kubernetes-int-or-string"))
        << path;
    EXPECT_FALSE(schema.as_object().contains("properties")) << path << " is not a scalar";
  }
};

template <>
struct Compare<Json> {
  static void With(const Json& schema, const std::string& path) {
    EXPECT_EQ(kube::FindString(schema, {"type"}), "object") << path;
  }
};

// Checked by Kubernetes itself.
template <>
struct Compare<kube::ObjectMeta> {
  static void With(const Json&, const std::string&) {}
};

bool IsFree(const Json& schema) {
  return kube::FindBool(schema, {"x-kubernetes-preserve-unknown-fields"});
}

struct MemberComparer {
  const Json& schema;
  const std::string& path;
  std::set<std::string, std::less<>>& seen;

  template <class T>
  void operator()(std::string_view name, T&) {
    seen.emplace(name);
    const std::string below = path + "." + std::string(name);
    const Json* property = kube::Find(schema, {"properties", name});
    if (property == nullptr) {
      ADD_FAILURE() << below << " is not in the schema";
      return;
    }
    Compare<std::remove_const_t<T>>::With(*property, below);
  }
  template <class T>
  void operator()(std::string_view name, kube::AlwaysField<T> field) {
    (*this)(name, field.value);
  }
};

template <class T>
requires kube::codec_internal::Described<T>
struct Compare<T> {
  static void With(const Json& schema, const std::string& path) {
    if (IsFree(schema)) return;
    std::set<std::string, std::less<>> seen{"apiVersion", "kind"};
    T probe{};
    T::Fields(probe, MemberComparer{schema, path, seen});
    const auto* properties = kube::FindObject(schema, {"properties"});
    ASSERT_NE(properties, nullptr) << path;
    for (const auto& property : *properties) {
      if (property.value().as_object().contains("properties") &&
          property.value().at("properties").as_object().empty()) {
        continue;
      }
      EXPECT_TRUE(seen.contains(std::string_view(property.key())))
          << path << "." << property.key() << " is not read";
    }
  }
};

template <class T>
struct Compare<std::optional<T>> : Compare<T> {};
template <class T>
struct Compare<std::vector<T>> {
  static void With(const Json& schema, const std::string& path) {
    const Json* items = kube::Find(schema, {"items"});
    ASSERT_NE(items, nullptr) << path;
    Compare<T>::With(*items, path + "[]");
  }
};
template <class T, class Less>
struct Compare<std::map<std::string, T, Less>> {
  static void With(const Json& schema, const std::string& path) {
    const Json* values = kube::Find(schema, {"additionalProperties"});
    ASSERT_NE(values, nullptr) << path;
    Compare<T>::With(*values, path + "{}");
  }
};

struct Kind {
  kube::Resource resource;
  void (*compare)(const Json& schema, const std::string& path);
  Status (*decode)(const Json& object);
};

template <class T>
Kind KindOf(const kube::Resource& resource) {
  return {resource, &Compare<T>::With,
          [](const Json& object) { return kube::Decode<T>(object).status(); }};
}

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds{
      KindOf<Reservation>(kReservations),
      KindOf<PodMigrationJob>(kPodMigrationJobs),
      KindOf<Device>(kDevices),
      KindOf<ScheduleExplanation>(kScheduleExplanations),
      KindOf<ClusterNetworkTopology>(kClusterNetworkTopologies),
      KindOf<NodeMetric>(kNodeMetrics),
      KindOf<NodeSlo>(kNodeSlos),
      KindOf<ClusterColocationProfile>(kClusterColocationProfiles),
      KindOf<ElasticQuotaProfile>(kElasticQuotaProfiles),
      KindOf<Recommendation>(kRecommendations),
      KindOf<PodGroup>(kPodGroups),
      KindOf<ElasticQuota>(kElasticQuotas),
      KindOf<NodeResourceTopology>(kNodeResourceTopologies),
  };
  return kinds;
}

kube::CustomResourceDefinition DecodeCrd(const Json& json) {
  const auto crd = kube::Decode<kube::CustomResourceDefinition>(json);
  EXPECT_TRUE(crd.ok()) << crd.status();
  return crd.ok() ? *crd : kube::CustomResourceDefinition();
}

Json ReadCrdFile(const kube::Resource& resource) {
  return ReadYaml(kFolder / (resource.group + "_" + resource.resource + ".yaml"));
}

kube::CustomResourceDefinition ReadCrd(const kube::Resource& resource) {
  return DecodeCrd(ReadCrdFile(resource));
}

// With all that users may choose to install.
kube::CustomResourceDefinition ReadFullCrd(const kube::Resource& resource) {
  if (resource.resource != kReservations.resource) return ReadCrd(resource);
  const auto patched =
      kube::ApplyJsonPatch(ReadCrdFile(resource), ReadYaml(kReservationV1 / "patch.yaml"));
  EXPECT_TRUE(patched.ok()) << patched.status();
  return patched.ok() ? DecodeCrd(*patched) : kube::CustomResourceDefinition();
}

// Kubernetes describes the metadata of an object itself, and refuses what others say of it.
void ExpectDescriptions(const Json& schema, const std::string& path, bool is_root = false) {
  if (const auto* properties = kube::FindObject(schema, {"properties"})) {
    for (const auto& [name, property] : *properties) {
      const std::string below = path + "." + std::string(name);
      if (is_root && name == "metadata") {
        EXPECT_FALSE(property.as_object().contains("description")) << below;
        continue;
      }
      EXPECT_GT(kube::FindString(property, {"description"}).size(), 4) << below;
      ExpectDescriptions(property, below);
    }
  }
  for (const char* inner : {"items", "additionalProperties"}) {
    const Json* below = kube::Find(schema, {inner});
    if (below != nullptr) ExpectDescriptions(*below, path + "[]");
  }
}

TEST(CrdSchemasTest, EveryFileIsOneOfOurResources) {
  EXPECT_EQ(YamlFiles(kFolder).size(), Kinds().size());
}

TEST(CrdSchemasTest, NamesAreThoseOfTheResource) {
  for (const Kind& kind : Kinds()) {
    const auto crd = ReadCrd(kind.resource);
    EXPECT_EQ(crd.metadata.name, kind.resource.qualified());
    EXPECT_EQ(crd.spec.group, kind.resource.group);
    EXPECT_EQ(crd.spec.names.plural, kind.resource.resource);
    EXPECT_EQ(crd.spec.names.kind, kind.resource.kind);
    EXPECT_EQ(crd.spec.names.list_kind, kind.resource.kind + "List");
    EXPECT_EQ(crd.spec.scope, kind.resource.namespaced ? "Namespaced" : "Cluster");
    const bool is_kubernetes_group = crd.spec.group.ends_with(".k8s.io");
    EXPECT_EQ(crd.metadata.annotations.contains("api-approved.kubernetes.io"), is_kubernetes_group)
        << crd.metadata.name;
  }
}

TEST(CrdSchemasTest, TypesAndSchemasHaveTheSameMembers) {
  for (const Kind& kind : Kinds()) {
    const auto crd = ReadFullCrd(kind.resource);
    bool is_served = false;
    for (const kube::CustomResourceVersion& version : crd.spec.versions) {
      if (version.name != kind.resource.version) continue;
      is_served = version.served;
      kind.compare(version.schema->open_api_v3_schema, kind.resource.kind);
    }
    EXPECT_TRUE(is_served) << kind.resource.kind;
  }
}

// For `kubectl explain`.
TEST(CrdSchemasTest, EveryPropertyIsDescribed) {
  for (const Kind& kind : Kinds()) {
    for (const kube::CustomResourceVersion& version : ReadFullCrd(kind.resource).spec.versions) {
      const Json& schema = version.schema->open_api_v3_schema;
      const std::string name = kind.resource.kind + " " + version.name;
      EXPECT_FALSE(kube::FindString(schema, {"description"}).empty()) << name;
      ExpectDescriptions(schema, name, true);
    }
  }
}

// A served v1 would be what clients prefer, and upstream's programs, which know v1alpha1 alone,
// would refuse what they write back.
TEST(CrdSchemasTest, ReservationsAreV1Alpha1AloneUnlessAskedFor) {
  const auto crd = ReadCrd(kReservations);
  ASSERT_EQ(crd.spec.versions.size(), 1);
  EXPECT_EQ(crd.spec.versions[0].name, "v1alpha1");
  const Json& schema = crd.spec.versions[0].schema->open_api_v3_schema;
  EXPECT_EQ(kube::Find(schema, {"properties", "spec", "properties", "resources"}), nullptr);
  const kube::json::array* required = kube::FindArray(schema, {"properties", "spec", "required"});
  ASSERT_NE(required, nullptr);
  EXPECT_EQ(*required, (kube::json::array{"template", "owners"}));
}

TEST(CrdSchemasTest, ExamplesDecode) {
  std::set<std::string> seen;
  std::vector<std::filesystem::path> examples = YamlFiles(kFolder / "examples");
  examples.push_back(kReservationV1 / "example.yaml");
  for (const std::filesystem::path& path : examples) {
    const Json object = ReadYaml(path);
    const std::string_view name = kube::FindString(object, {"kind"});
    const auto kind =
        std::ranges::find_if(Kinds(), [&](const Kind& each) { return each.resource.kind == name; });
    ASSERT_NE(kind, Kinds().end()) << path;
    const Status status = kind->decode(object);
    EXPECT_TRUE(status.ok()) << path << ": " << status;
    seen.insert(kind->resource.kind);
  }
  EXPECT_EQ(seen.size(), Kinds().size()) << "every kind has an example";
}

}  // namespace
}  // namespace koord::api::crd_schemas_test
