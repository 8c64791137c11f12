#include "model/transform/transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/keys.h"
#include "kube/yaml.h"

namespace koord::model::transform_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class T>
std::shared_ptr<const T> Make(std::string_view yaml) {
  return std::make_shared<const T>(kube::Decode<T>(kube::ParseYaml(yaml).value()).value());
}

TransformOptions All() { return {true, true, true}; }

struct PodCase {
  const char* name;
  const char* before;
  const char* after;  // null: the same object
  TransformOptions options = {};
};

void PrintTo(const PodCase& test, std::ostream* out) { *out << test.name; }

class TransformPodTest : public testing::TestWithParam<PodCase> {};

TEST_P(TransformPodTest, LooksAsItShould) {
  const PodCase& test = GetParam();
  const auto pod = Make<kube::Pod>(test.before);
  const kube::Pod original = *pod;
  const auto transformed = Transform(pod, test.options);
  EXPECT_THAT(transformed.problems, IsEmpty());
  EXPECT_EQ(*pod, original) << "the object of the API stays as it is";
  if (test.after == nullptr) {
    EXPECT_EQ(transformed.object, pod) << "not copied";
  } else {
    EXPECT_EQ(kube::ToYaml(kube::Encode(*transformed.object)),
              kube::ToYaml(kube::Encode(*Make<kube::Pod>(test.after))));
  }
}

const PodCase kPodCases[] = {
    {"nothing to do",
     "{metadata: {name: p, labels: {a: b}}, spec: {containers: [{name: c, resources: {requests: "
     "{cpu: 1, memory: 1Gi, kubernetes.io/batch-cpu: 1k, koordinator.sh/gpu: 50}}}]}}",
     nullptr},
    {"batch names in containers, init containers and overhead",
     "{spec: {containers: [{name: c, resources: {requests: {koordinator.sh/batch-cpu: 1k}, "
     "limits: {koordinator.sh/batch-memory: 1Gi}}}], initContainers: [{name: i, resources: "
     "{requests: {koordinator.sh/batch-cpu: 2k}}}], overhead: {koordinator.sh/batch-memory: 5}}}",
     "{spec: {containers: [{name: c, resources: {requests: {kubernetes.io/batch-cpu: 1k}, "
     "limits: {kubernetes.io/batch-memory: 1Gi}}}], initContainers: [{name: i, resources: "
     "{requests: {kubernetes.io/batch-cpu: 2k}}}], overhead: {kubernetes.io/batch-memory: 5}}}"},
    {"the old entry stays where the new name is present",
     "{spec: {containers: [{name: c, resources: {requests: {koordinator.sh/batch-cpu: 1k, "
     "kubernetes.io/batch-cpu: 2k}}}]}}",
     nullptr},
    {"device names",
     "{spec: {containers: [{name: c, resources: {requests: {kubernetes.io/rdma: 1, "
     "kubernetes.io/fpga: 2, kubernetes.io/gpu: 3, kubernetes.io/gpu-core: 4, "
     "kubernetes.io/gpu-memory: 5, kubernetes.io/gpu-memory-ratio: 6}}}]}}",
     "{spec: {containers: [{name: c, resources: {requests: {koordinator.sh/rdma: 1, "
     "koordinator.sh/fpga: 2, koordinator.sh/gpu: 3, koordinator.sh/gpu-core: 4, "
     "koordinator.sh/gpu-memory: 5, koordinator.sh/gpu-memory-ratio: 6}}}]}}"},
    {"device names among those that were allocated",
     R"({metadata: {annotations: {scheduling.koordinator.sh/device-allocated: )"
     R"('{"gpu":[{"minor":1,"resources":{"kubernetes.io/gpu-core":"50"}}]}'}}})",
     R"({metadata: {annotations: {scheduling.koordinator.sh/device-allocated: )"
     R"('{"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"50"}}]}'}}})"},
    {"present device names are not rewritten, however spaced",
     R"({metadata: {annotations: {scheduling.koordinator.sh/device-allocated: )"
     R"('{ "gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"50"}}]}'}}})",
     nullptr},
    {"resources are replaced only behind their gate",
     "{metadata: {annotations: {pod.koordinator.sh/replace-resources: 'cpu:a/b'}}, spec: "
     "{containers: [{name: c, resources: {requests: {cpu: 1}}}]}}",
     nullptr},
    {"resources are erased first and then replaced, cpu in milli-cores",
     "{metadata: {annotations: {pod.koordinator.sh/replace-resources: ' cpu : x.io/cpu , "
     "memory:x.io/memory,x.io/memory:'}}, spec: {containers: [{name: c, resources: {requests: "
     "{cpu: 1500m, memory: 1Gi, x.io/memory: 7}, limits: {cpu: 2}}}], overhead: {cpu: 10m}}}",
     "{metadata: {annotations: {pod.koordinator.sh/replace-resources: ' cpu : x.io/cpu , "
     "memory:x.io/memory,x.io/memory:'}}, spec: {containers: [{name: c, resources: {requests: "
     "{x.io/cpu: 1500, x.io/memory: 1Gi}, limits: {x.io/cpu: 2000}}}], overhead: {x.io/cpu: 10}}}",
     {.replace_resources = true}},
    {"priority only behind its gate",
     "{spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}", nullptr},
    {"a pod with requests is production",
     "{spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}",
     "{spec: {priority: 9500, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}",
     {.priority = true}},
    {"a pod without requests is batch",
     "{spec: {priority: 0, containers: [{name: c}]}}",
     "{spec: {priority: 5500, containers: [{name: c}]}}",
     {.priority = true}},
    {"so is one that asks for extended resources only",
     "{spec: {containers: [{name: c, resources: {limits: {a.com/b: 1}, requests: {a.com/b: 1}}}]}}",
     "{spec: {priority: 5500, containers: [{name: c, resources: {limits: {a.com/b: 1}, requests: "
     "{a.com/b: 1}}}]}}",
     {.priority = true}},
    {"the class decides",
     "{metadata: {labels: {koordinator.sh/priority-class: koord-mid}}}",
     "{metadata: {labels: {koordinator.sh/priority-class: koord-mid}}, spec: {priority: 7500}}",
     {.priority = true}},
    {"free is a class too",
     "{metadata: {labels: {koordinator.sh/priority-class: koord-free}}}",
     "{metadata: {labels: {koordinator.sh/priority-class: koord-free}}, spec: {priority: 3500}}",
     {.priority = true}},
    {"the QoS class decides where there is no priority class",
     "{metadata: {labels: {koordinator.sh/qosClass: SYSTEM}}}",
     "{metadata: {labels: {koordinator.sh/qosClass: SYSTEM}}, spec: {priority: 9500}}",
     {.priority = true}},
    {"a priority stays",
     "{metadata: {labels: {koordinator.sh/priority-class: koord-mid}}, spec: {priority: 5}}",
     nullptr,
     {.priority = true}},
    {"resources are replaced before the class is worked out",
     "{metadata: {annotations: {pod.koordinator.sh/replace-resources: 'cpu:'}}, spec: {containers: "
     "[{name: c, resources: {requests: {cpu: 1}}}]}}",
     "{metadata: {annotations: {pod.koordinator.sh/replace-resources: 'cpu:'}}, spec: {priority: "
     "5500, containers: [{name: c}]}}",
     {.replace_resources = true, .priority = true}},
    {"preemption policy only behind its gate",
     "{metadata: {labels: {scheduling.koordinator.sh/preemption-policy: Never}}}", nullptr},
    {"preemption policy of the label",
     "{metadata: {labels: {scheduling.koordinator.sh/preemption-policy: PreemptLowerPriority}}, "
     "spec: {preemptionPolicy: Never}}",
     "{metadata: {labels: {scheduling.koordinator.sh/preemption-policy: PreemptLowerPriority}}, "
     "spec: {preemptionPolicy: PreemptLowerPriority}}",
     {.preemption_policy = true}},
    {"pods without the label preempt nobody",
     "{spec: {preemptionPolicy: PreemptLowerPriority}}",
     "{spec: {preemptionPolicy: Never}}",
     {.preemption_policy = true}},
    {"which some say themselves",
     "{spec: {preemptionPolicy: Never}}",
     nullptr,
     {.preemption_policy = true}},
    {"the label names another scheduler",
     "{metadata: {labels: {scheduling.koordinator.sh/scheduler-name: koord-scheduler}}, spec: "
     "{schedulerName: default-scheduler}}",
     "{metadata: {labels: {scheduling.koordinator.sh/scheduler-name: koord-scheduler}, "
     "annotations: "
     "{internal.scheduling.koordinator.sh/original-scheduler-name: default-scheduler}}, spec: "
     "{schedulerName: koord-scheduler}}"},
    {"the label names the same scheduler",
     "{metadata: {labels: {scheduling.koordinator.sh/scheduler-name: a}}, spec: {schedulerName: "
     "a}}",
     nullptr},
    {"an empty label counts",
     "{metadata: {labels: {scheduling.koordinator.sh/scheduler-name: ''}}, spec: {schedulerName: "
     "a}}",
     "{metadata: {labels: {scheduling.koordinator.sh/scheduler-name: ''}, annotations: "
     "{internal.scheduling.koordinator.sh/original-scheduler-name: a}}}"},
    {"an ordinary pod with all gates on",
     "{spec: {priority: 9000, preemptionPolicy: Never, containers: [{name: c, resources: "
     "{requests: {cpu: 1}}}]}}",
     nullptr, All()},
};

INSTANTIATE_TEST_SUITE_P(All, TransformPodTest, testing::ValuesIn(kPodCases));

TEST(TransformTest, WhatAPodHasWrongIsSaidAndLeftOut) {
  const auto bad_devices = Make<kube::Pod>(
      R"({metadata: {annotations: {scheduling.koordinator.sh/device-allocated: )"
      R"('{"gpu":[{"minor":"x","resources":{"kubernetes.io/gpu":"1"}}]}'}}, )"
      R"(spec: {containers: [{name: c, resources: {requests: {koordinator.sh/batch-cpu: 1}}}]}})");
  const auto devices = Transform(bad_devices, {});
  EXPECT_THAT(devices.problems,
              ElementsAre("annotation scheduling.koordinator.sh/device-allocated: gpu[0].minor: "
                          "expected a 32-bit integer, found \"x\""));
  EXPECT_EQ(devices.object->metadata.annotations, bad_devices->metadata.annotations);
  EXPECT_TRUE(
      devices.object->spec.containers[0].resources.requests.contains("kubernetes.io/batch-cpu"))
      << "the other rules still hold";

  const auto bad_replacement = Make<kube::Pod>(
      "{metadata: {annotations: {pod.koordinator.sh/replace-resources: 'a,b:c:d'}}}");
  const auto replacement = Transform(bad_replacement, {.replace_resources = true});
  EXPECT_THAT(
      replacement.problems,
      ElementsAre("annotation pod.koordinator.sh/replace-resources: what is not of the form "
                  "from:to is ignored in \"a,b:c:d\""));
  EXPECT_EQ(replacement.object, bad_replacement);

  const auto bad_policy = Make<kube::Pod>(
      "{metadata: {labels: {scheduling.koordinator.sh/preemption-policy: Sometimes}}}");
  const auto policy = Transform(bad_policy, {.preemption_policy = true});
  EXPECT_THAT(policy.problems,
              ElementsAre("label scheduling.koordinator.sh/preemption-policy: \"Sometimes\" is "
                          "neither Never nor PreemptLowerPriority: Never is assumed"));
  EXPECT_EQ(policy.object->spec.preemption_policy, "Never");
}

struct NodeCase {
  const char* name;
  const char* reservation;  // the annotation; null: none
  const char* before;       // allocatable
  const char* after;        // null: the same object
  const char* problem = nullptr;
};

const NodeCase kNodeCases[] = {
    {"no reservation", nullptr, "{cpu: 10}", nullptr},
    {"empty annotation", "", "{cpu: 10}", nullptr},
    {"a list of CPUs counts more than their number, batch resources stay",
     R"({"resources":{"cpu":"1.5","memory":"1Gi"},"reservedCPUs":"0-2"})",
     "{cpu: 10, memory: 10Gi, kubernetes.io/batch-cpu: 2000}",
     "{cpu: 7, memory: 9Gi, kubernetes.io/batch-cpu: 2000}"},
    {"the policy that is meant when none is said",
     R"({"resources":{"cpu":"1.5","memory":"1Gi"},"reservedCPUs":"0-2","applyPolicy":"Default"})",
     "{cpu: 10, memory: 10Gi}", "{cpu: 7, memory: 9Gi}"},
    {"only the CPUs are kept out of CPU sets",
     R"({"resources":{"cpu":"1.5"},"reservedCPUs":"0-2","applyPolicy":"ReservedCPUsOnly"})",
     "{cpu: 10, memory: 10Gi}", nullptr},
    {"an amount of cpu", R"({"resources":{"cpu":"1500m"}})", "{cpu: 10}", "{cpu: 8500m}"},
    {"never below zero", R"({"resources":{"cpu":"11","memory":"1Ki"}})", "{cpu: 10, memory: 1Ki}",
     "{cpu: 0, memory: 0}"},
    {"what the node lacks becomes zero", R"({"resources":{"a.com/b":"1"}})", "{cpu: 10}",
     "{cpu: 10, a.com/b: 0}"},
    {"batch resources cannot be reserved", R"({"resources":{"kubernetes.io/batch-cpu":"1"}})",
     "{kubernetes.io/batch-cpu: 5}", nullptr},
    {"nothing reserved", R"({"resources":{"cpu":"0"}})", "{cpu: 10}", nullptr},
    {"an empty range of CPUs", R"({"resources":{"cpu":"2"},"reservedCPUs":"5-3"})", "{cpu: 10}",
     nullptr},
    {"not JSON", "{", "{cpu: 10}", nullptr, "annotation node.koordinator.sh/reservation: "},
    {"not a list of CPUs", R"({"resources":{"cpu":"1"},"reservedCPUs":"0-x"})", "{cpu: 10}",
     nullptr,
     "annotation node.koordinator.sh/reservation: reservedCPUs: \"0-x\" is no CPU: expected a "
     "number or a range like 0-3"},
    {"names of earlier releases", nullptr,
     "{koordinator.sh/batch-cpu: 5, kubernetes.io/gpu: 100, kubernetes.io/rdma: 1, "
     "koordinator.sh/rdma: 2}",
     "{kubernetes.io/batch-cpu: 5, koordinator.sh/gpu: 100, kubernetes.io/rdma: 1, "
     "koordinator.sh/rdma: 2}"},
    {"an old batch name beside a reservation", R"({"resources":{"cpu":"1"}})",
     "{cpu: 3, koordinator.sh/batch-cpu: 5}", "{cpu: 2, kubernetes.io/batch-cpu: 5}"},
};

TEST(TransformTest, Nodes) {
  for (const NodeCase& test : kNodeCases) {
    SCOPED_TRACE(test.name);
    kube::Node node =
        *Make<kube::Node>(fmt::format("{{status: {{allocatable: {0}}}}}", test.before));
    if (test.reservation != nullptr) {
      node.metadata.annotations.emplace(api::kAnnotationNodeReservation, test.reservation);
    }
    const auto shared = std::make_shared<const kube::Node>(node);
    const auto transformed = Transform(shared);
    EXPECT_EQ(*shared, node);
    if (test.problem != nullptr) {
      EXPECT_THAT(transformed.problems, ElementsAre(testing::StartsWith(test.problem)));
    } else {
      EXPECT_THAT(transformed.problems, IsEmpty());
    }
    if (test.after == nullptr) {
      EXPECT_EQ(transformed.object, shared);
    } else {
      const auto after = kube::Decode<kube::ResourceList>(kube::ParseYaml(test.after).value());
      EXPECT_EQ(transformed.object->status.allocatable, after.value());
    }
  }
}

TEST(TransformTest, CapacityGetsPresentNamesButIsNotReduced) {
  const auto node = Make<kube::Node>(
      R"({metadata: {annotations: {node.koordinator.sh/reservation: '{"resources":{"cpu":"1"}}'}}, )"
      R"(status: {allocatable: {cpu: 3}, capacity: {cpu: 4, kubernetes.io/fpga: 1}}})");
  const auto transformed = Transform(node);
  EXPECT_EQ(kube::Serialize(kube::Encode(transformed.object->status)),
            R"({"capacity":{"cpu":"4","koordinator.sh/fpga":"1"},"allocatable":{"cpu":"2"}})");
}

TEST(TransformTest, Devices) {
  const auto old = Make<api::Device>(
      "{spec: {devices: [{type: gpu, resources: {kubernetes.io/gpu-core: 100}}, {type: rdma, "
      "resources: {koordinator.sh/rdma: 100}}]}}");
  const auto transformed = Transform(old).object;
  EXPECT_TRUE(transformed->spec.devices[0].resources.contains("koordinator.sh/gpu-core"));
  EXPECT_FALSE(transformed->spec.devices[0].resources.contains("kubernetes.io/gpu-core"));
  EXPECT_EQ(transformed->spec.devices[1], old->spec.devices[1]);
  EXPECT_EQ(Transform(transformed).object, transformed);
}

TEST(TransformTest, ElasticQuotas) {
  const auto old = Make<api::ElasticQuota>(
      "{spec: {max: {koordinator.sh/batch-cpu: 5, cpu: 1, kubernetes.io/gpu: 1}, min: "
      "{koordinator.sh/batch-memory: 6}}}");
  const auto transformed = Transform(old).object;
  EXPECT_EQ(kube::Serialize(kube::Encode(transformed->spec)),
            R"({"min":{"kubernetes.io/batch-memory":"6"},)"
            R"("max":{"cpu":"1","kubernetes.io/batch-cpu":"5","kubernetes.io/gpu":"1"}})");
  EXPECT_EQ(Transform(transformed).object, transformed);
}

}  // namespace
}  // namespace koord::model::transform_test
