#include "localcluster/apiserver/quota/quota_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/time.h"
#include "kube/yaml.h"
#include "localcluster/apiserver/quota/quota_scopes.h"

namespace koord::apiserver::quota_usage_test {
namespace {

const WallTime kNow = *kube::ParseTime("2024-05-01T12:00:00Z");

// "count/pods=1 pods=1": everything but zeros.
std::string Usage(std::string_view resource, const std::string& yaml) {
  std::string text;
  for (const auto& [name, amount] : QuotaUsage(resource, *kube::ParseYaml(yaml), kNow)) {
    if (amount.IsZero()) continue;
    text += (text.empty() ? "" : " ") + name + "=" + amount.ToString();
  }
  return text;
}

TEST(QuotaUsage, KnowsWhatANameCounts) {
  const struct {
    const char *name, *counted;
  } kCases[] = {
      {"cpu", "pods"},
      {"pods", "pods"},
      {"count/pods", "pods"},
      {"requests.memory", "pods"},
      {"limits.ephemeral-storage", "pods"},
      {"hugepages-2Mi", "pods"},
      {"requests.nvidia.com/gpu", "pods"},
      {"requests.kubernetes.io/batch-cpu", "pods"},
      {"services.loadbalancers", "services"},
      {"requests.storage", "persistentvolumeclaims"},
      {"gold.storageclass.storage.k8s.io/requests.storage", "persistentvolumeclaims"},
      {"count/jobs.batch", "jobs.batch"},
      {"configmaps", "configmaps"},
      {"limits.nvidia.com/gpu", nullptr},
      {"nvidia.com/gpu", nullptr},
      {"storage", nullptr},
  };
  for (const auto& test : kCases) {
    const auto counted = CountedBy(test.name);
    EXPECT_EQ(counted.value_or("nobody"), test.counted == nullptr ? "nobody" : test.counted)
        << test.name;
  }
}

TEST(QuotaUsage, OfPods) {
  const struct {
    const char *name, *pod, *usage;
  } kCases[] = {
      {"asks for nothing", "{spec: {containers: [{name: c}]}}", "count/pods=1 pods=1"},
      {"requests and limits",
       "{spec: {containers: [{name: a, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: "
       "{cpu: 1}}}, {name: b, resources: {requests: {cpu: 1}}}]}}",
       "count/pods=1 cpu=1500m limits.cpu=1 memory=1Gi pods=1 requests.cpu=1500m "
       "requests.memory=1Gi"},
      {"extended and batch resources",
       "{spec: {containers: [{name: a, resources: {requests: {nvidia.com/gpu: 2, "
       "kubernetes.io/batch-cpu: 1500}, limits: {nvidia.com/gpu: 2}}}]}}",
       "count/pods=1 pods=1 requests.kubernetes.io/batch-cpu=1500 requests.nvidia.com/gpu=2"},
      {"one that has ended",
       "{status: {phase: Succeeded}, spec: {containers: [{name: c, resources: {requests: {cpu: "
       "1}}}]}}",
       "count/pods=1"},
      {"one that is being deleted still runs",
       "{metadata: {deletionTimestamp: 2024-05-01T12:00:00Z, deletionGracePeriodSeconds: 30}, "
       "spec: "
       "{containers: [{name: c}]}}",
       "count/pods=1 pods=1"},
      {"one that has outstayed its deletion",
       "{metadata: {deletionTimestamp: 2024-05-01T11:59:30Z, deletionGracePeriodSeconds: 30}, "
       "spec: "
       "{containers: [{name: c}]}}",
       "count/pods=1"},
  };
  for (const auto& test : kCases) EXPECT_EQ(Usage("pods", test.pod), test.usage) << test.name;
}

TEST(QuotaUsage, OfServicesClaimsAndOthers) {
  EXPECT_EQ(Usage("services", "{spec: {type: ClusterIP, ports: [{port: 1}]}}"),
            "count/services=1 services=1");
  EXPECT_EQ(Usage("services", "{spec: {type: NodePort, ports: [{port: 1}, {port: 2}]}}"),
            "count/services=1 services=1 services.nodeports=2");
  EXPECT_EQ(Usage("services",
                  "{spec: {type: LoadBalancer, allocateLoadBalancerNodePorts: false, "
                  "ports: [{port: 1}, {port: 2, nodePort: 30000}]}}"),
            "count/services=1 services=1 services.loadbalancers=1 services.nodeports=1");
  EXPECT_EQ(Usage("persistentvolumeclaims",
                  "{spec: {storageClassName: gold, resources: {requests: {storage: 5Gi}}}}"),
            "count/persistentvolumeclaims=1 "
            "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1 "
            "gold.storageclass.storage.k8s.io/requests.storage=5Gi persistentvolumeclaims=1 "
            "requests.storage=5Gi");
  EXPECT_EQ(Usage("configmaps", "{}"), "configmaps=1 count/configmaps=1");
  EXPECT_EQ(Usage("jobs.batch", "{}"), "count/jobs.batch=1");
}

TEST(QuotaUsage, SaysWhatContainersHaveToAskFor) {
  const auto missing = [](const std::string& containers, const std::string& hard) {
    return MissingRequests(
        *kube::Decode<kube::Pod>(*kube::ParseYaml("{spec: {" + containers + "}}")),
        *kube::Decode<kube::ResourceList>(*kube::ParseYaml(hard)));
  };
  EXPECT_EQ(missing("containers: [{name: b}, {name: a, resources: {requests: {cpu: 1}}}], "
                    "initContainers: [{name: i}]",
                    "{cpu: 1, limits.memory: 1Gi}"),
            "cpu for: b,i; limits.memory for: a,b,i");
  EXPECT_EQ(missing("containers: [{name: a}]", "{pods: 1, requests.nvidia.com/gpu: 1}"),
            std::nullopt);
  EXPECT_EQ(missing("resources: {requests: {cpu: 1}}, containers: [{name: a}]", "{cpu: 1}"),
            std::nullopt);
}

TEST(QuotaScopes, SelectPods) {
  const char kBestEffort[] = "{spec: {containers: [{name: c}]}}";
  const char kBounded[] =
      "{spec: {activeDeadlineSeconds: 5, priorityClassName: high, containers: [{name: c, "
      "resources: "
      "{requests: {cpu: 1}}}]}}";
  const char kReaches[] =
      "{spec: {containers: [{name: c}], affinity: {podAntiAffinity: "
      "{preferredDuringSchedulingIgnoredDuringExecution: [{podAffinityTerm: {namespaces: "
      "[a]}}]}}}}";
  const struct {
    const char *name, *spec, *pod;
    bool in_scope;
  } kCases[] = {
      {"none", "{}", kBestEffort, true},
      {"best effort", "{scopes: [BestEffort]}", kBestEffort, true},
      {"not best effort", "{scopes: [BestEffort]}", kBounded, false},
      {"both must hold", "{scopes: [NotBestEffort, NotTerminating]}", kBounded, false},
      {"terminating", "{scopes: [NotBestEffort, Terminating]}", kBounded, true},
      {"any class", "{scopes: [PriorityClass]}", kBounded, true},
      {"no class", "{scopes: [PriorityClass]}", kBestEffort, false},
      {"one of the classes",
       "{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low, "
       "high]}]}}",
       kBounded, true},
      {"another class",
       "{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: "
       "[high]}]}}",
       kBounded, false},
      {"must not have a class",
       "{scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: DoesNotExist}]}}",
       kBestEffort, true},
      {"reaches other namespaces", "{scopes: [CrossNamespacePodAffinity]}", kReaches, true},
      {"does not", "{scopes: [CrossNamespacePodAffinity]}", kBestEffort, false},
  };
  for (const auto& test : kCases) {
    const auto quota = *kube::Decode<kube::ResourceQuota>(
        *kube::ParseYaml("{spec: " + std::string(test.spec) + "}"));
    EXPECT_EQ(InScope(ScopesOf(quota.spec), "pods", *kube::ParseYaml(test.pod)), test.in_scope)
        << test.name;
  }
  EXPECT_FALSE(InScope({{.scope_name = "BestEffort", .operation = "Exists", .values = {}}},
                       "configmaps", *kube::ParseYaml("{}")));
}

}  // namespace
}  // namespace koord::apiserver::quota_usage_test
