#pragma once
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/virtual_loop.h"
#include "kube/yaml.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/review.h"

// For tests of handlers: a cluster as the test says.
namespace koord::manager::webhook {

inline kube::Json Yaml(std::string_view text) {
  auto parsed = kube::ParseYaml(text);
  EXPECT_TRUE(parsed.ok()) << Message(parsed.status()) << "\n" << text;
  return parsed.ok() ? *parsed : kube::Json();
}

template <class T>
std::shared_ptr<const T> Read(std::string_view yaml) {
  auto object = kube::Decode<T>(Yaml(yaml));
  EXPECT_TRUE(object.ok()) << Message(object.status());
  return std::make_shared<const T>(object.ok() ? *std::move(object) : T());
}

class FakeView final : public ClusterView {
 public:
  explicit FakeView(QuotaRules rules = {}) : topology(loop.clock(), rules) {}

  const ProfileSet& profiles() const override { return profile_set; }
  StatusOr<const kube::Labels*> NamespaceLabels(std::string_view ns) const override {
    const auto it = namespaces.find(ns);
    if (it == namespaces.end()) return NotFound("namespaces \"{}\" not found", ns);
    return &it->second;
  }
  bool IsNamespaceBeingDeleted(std::string_view ns) const override {
    return namespaces_being_deleted.contains(ns);
  }
  std::shared_ptr<const kube::PriorityClass> FindPriorityClass(
      std::string_view name) const override {
    const auto it = priority_classes.find(name);
    return it == priority_classes.end() ? nullptr : it->second;
  }
  std::shared_ptr<const kube::Pod> FindPod(const kube::ObjectKey& key) const override {
    for (const auto& pod : pods) {
      if (kube::KeyOf(pod->metadata) == key) return pod;
    }
    return nullptr;
  }
  QuotaTopology& quotas() override { return topology; }
  const QuotaTopology& quotas() const override { return topology; }
  std::vector<kube::ObjectKey> PodsOfQuota(std::string_view quota) const override {
    std::vector<kube::ObjectKey> found;
    for (const auto& pod : pods) {
      if (kube::ValueOf(pod->metadata.labels, "quota.scheduling.koordinator.sh/name") == quota) {
        found.push_back(kube::KeyOf(pod->metadata));
      }
    }
    return found;
  }
  bool HasPods(std::string_view ns) const override {
    for (const auto& pod : pods) {
      if (pod->metadata.ns == ns) return true;
    }
    return false;
  }
  std::vector<std::shared_ptr<const api::ElasticQuotaProfile>> QuotaProfilesOfTree(
      std::string_view tree_id) const override {
    std::vector<std::shared_ptr<const api::ElasticQuotaProfile>> found;
    for (const auto& profile : quota_profiles) {
      if (kube::ValueOf(profile->metadata.labels, "quota.scheduling.koordinator.sh/tree-id") ==
          tree_id) {
        found.push_back(profile);
      }
    }
    return found;
  }
  std::vector<std::shared_ptr<const kube::Node>> Nodes() const override { return nodes; }
  std::shared_ptr<const kube::ConfigMap> SloConfig() const override { return slo_config; }
  std::shared_ptr<const kube::ConfigMap> EnhancedValidatorConfig() const override {
    return enhanced_config;
  }

  VirtualLoop loop;
  ProfileSet profile_set;
  std::map<std::string, kube::Labels, std::less<>> namespaces{{"default", {}}};
  std::set<std::string, std::less<>> namespaces_being_deleted;
  std::map<std::string, std::shared_ptr<const kube::PriorityClass>, std::less<>> priority_classes;
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  std::vector<std::shared_ptr<const kube::Node>> nodes;
  std::vector<std::shared_ptr<const api::ElasticQuotaProfile>> quota_profiles;
  QuotaTopology topology;
  std::shared_ptr<const kube::ConfigMap> slo_config, enhanced_config;
};

inline Request PodRequest(Operation operation, std::string_view object,
                          std::string_view old_object = "") {
  Request request;
  request.uid = "u";
  request.operation = operation;
  request.resource = "pods";
  request.ns = "default";
  request.user.name = "alice";
  if (!object.empty()) request.object = Yaml(object);
  if (!old_object.empty()) request.old_object = Yaml(old_object);
  return request;
}

}  // namespace koord::manager::webhook
