#include "scheduler/cluster/pod_shape.h"

#include <gtest/gtest.h>

#include "api/output_keys.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::pod_shape_test {
namespace {

struct Pair {
  const char* what;
  const char* a;
  const char* b;
  bool same;
};

TEST(PodShapeTest, PodsThatAreAlikeShareAShape) {
  const Pair cases[] = {
      {"name and uid", "{metadata: {name: p}}", "{metadata: {name: q}}", true},
      {"owner's pods",
       "{metadata: {name: p, ownerReferences: [{kind: ReplicaSet, name: r, controller: true}]}}",
       "{metadata: {name: q, ownerReferences: [{kind: ReplicaSet, name: r, controller: true}]}}",
       true},
      {"other owner",
       "{metadata: {name: p, ownerReferences: [{kind: ReplicaSet, name: r, controller: true}]}}",
       "{metadata: {name: q, ownerReferences: [{kind: ReplicaSet, name: s, controller: true}]}}",
       false},
      {"another owner of the same name",
       "{metadata: {name: p, ownerReferences: [{kind: ReplicaSet, name: r, uid: '1'}]}}",
       "{metadata: {name: q, ownerReferences: [{kind: ReplicaSet, name: r, uid: '2'}]}}", false},
      {"other annotations", "{metadata: {name: p, annotations: {checksum: a}}}",
       "{metadata: {name: p, annotations: {checksum: b}}}", true},
      {"Koordinator's annotations",
       "{metadata: {name: p, annotations: {scheduling.koordinator.sh/x: a}}}",
       "{metadata: {name: p, annotations: {scheduling.koordinator.sh/x: b}}}", false},
      {"labels", "{metadata: {name: p, labels: {app: a}}}",
       "{metadata: {name: p, labels: {app: b}}}", false},
      {"namespace", "{metadata: {name: p, namespace: a}}", "{metadata: {name: p, namespace: b}}",
       false},
      {"amounts written differently",
       "{metadata: {name: p}, spec: {containers: [{resources: {requests: {cpu: 500m}}}]}}",
       "{metadata: {name: p}, spec: {containers: [{resources: {requests: {cpu: '0.5'}}}]}}", true},
      {"volumes that bind to no node",
       "{metadata: {name: p}, spec: {volumes: [{name: kube-api-access-x, configMap: {name: c}}]}}",
       "{metadata: {name: p}, spec: {volumes: [{name: kube-api-access-y, configMap: {name: c}}]}}",
       true},
      {"claims",
       "{metadata: {name: p}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]}}",
       "{metadata: {name: p}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: b}}]}}",
       false},
      {"ephemeral claims, which are named after their pod",
       "{metadata: {name: p}, spec: {volumes: [{name: v, ephemeral: {}}]}}",
       "{metadata: {name: q}, spec: {volumes: [{name: v, ephemeral: {}}]}}", false},
      {"priority", "{metadata: {name: p}, spec: {priority: 1}}",
       "{metadata: {name: p}, spec: {priority: 2}}", false},
      {"tolerations", "{metadata: {name: p}, spec: {tolerations: [{operator: Exists}]}}",
       "{metadata: {name: p}}", false},
  };
  for (const Pair& test : cases) {
    ResourceNames resources;
    ShapeTable shapes(resources);
    const auto a = PodOf(test.a);
    const auto b = PodOf(test.b);
    const ShapePtr shape = shapes.Of(a);
    EXPECT_EQ(shape == shapes.Of(b), test.same) << test.what;
    if (test.same) {
      EXPECT_EQ(ShapeHash(*a), ShapeHash(*b)) << test.what;
    }
  }
}

TEST(PodShapeTest, WhatAPodWasGivenIsNoPartOfIt) {
  for (const std::string_view key : api::kOutputAnnotations) {
    ResourceNames resources;
    ShapeTable shapes(resources);
    const auto with = [&](std::string_view given) {
      return PodOf(
          fmt::format("{{metadata: {{name: p, annotations: {{a.koordinator.sh/x: '1', "
                      "{}z.koordinator.sh/x: '2'}}}}}}",
                      given));
    };
    const ShapePtr asked = shapes.Of(with(""));
    EXPECT_EQ(asked, shapes.Of(with(fmt::format("{}: one, ", key)))) << key;
    EXPECT_EQ(asked, shapes.Of(with(fmt::format("{}: another, ", key)))) << key;
    EXPECT_EQ(shapes.size(), 1u) << key;
  }
}

TEST(PodShapeTest, PodsThatAreNamedHaveShapesOfTheirOwn) {
  ResourceNames resources;
  ShapeTable shapes(resources);
  const auto pod = [](std::string_view name) {
    return PodOf(fmt::format("{{metadata: {{name: {0}, uid: uid-of-{0}}}}}", name));
  };
  const ShapePtr common = shapes.Of(pod("a"));
  shapes.Name("b");
  shapes.Name("uid-of-c");
  EXPECT_EQ(shapes.Of(pod("d")), common);
  const ShapePtr b = shapes.Of(pod("b"));
  EXPECT_TRUE(b->named);
  EXPECT_NE(b, common);
  EXPECT_EQ(shapes.Of(pod("b")), b);
  EXPECT_NE(shapes.Of(pod("c")), common);
  EXPECT_NE(shapes.Of(pod("c")), b);
  // As often as it was named it must be forgotten.
  shapes.Name("b");
  shapes.Forget("b");
  EXPECT_EQ(shapes.Of(pod("b")), b);
  shapes.Forget("b");
  EXPECT_EQ(shapes.Of(pod("b")), common);
}

TEST(PodShapeTest, KnowsWhatAPodAsksFor) {
  ResourceNames resources;
  ShapeTable shapes(resources);
  const ShapePtr shape = shapes.Of(PodOf(R"({metadata: {name: p}, spec: {priority: 5, overhead:
      {cpu: 50m}, containers: [{resources: {requests: {cpu: 500m}}, ports: [{hostPort: 80}]},
      {resources: {requests: {cpu: 300m, memory: '0'}}}], initContainers: [
      {resources: {requests: {cpu: 900m}}},
      {restartPolicy: Always, resources: {requests: {cpu: 200m}}},
      {resources: {requests: {cpu: 600m}}}]}})"));
  EXPECT_EQ(AmountOf(shape->requests, kCpuId), 1050);
  EXPECT_EQ(AmountOf(shape->requests, kMemoryId), 0);
  EXPECT_EQ(shape->requests.size(), 1U) << "zeros are left out";
  EXPECT_EQ(shape->priority, 5);
  EXPECT_EQ(shape->host_ports, (std::vector<HostPort>{{"0.0.0.0", "TCP", 80}}));
}

TEST(PodShapeTest, ShapesThatNobodyHoldsAreDropped) {
  ResourceNames resources;
  ShapeTable shapes(resources);
  for (int i = 0; i < 5000; ++i) {
    shapes.Of(PodOf(fmt::format("{{metadata: {{name: p, labels: {{n: '{}'}}}}}}", i)));
  }
  EXPECT_EQ(shapes.size(), 0U);
  ShapePtr outlives;
  {
    ResourceNames names;
    ShapeTable others(names);
    outlives =
        others.Of(PodOf("{metadata: {name: p}, spec: {containers: [{resources: {requests: "
                        "{example.com/x: '1'}}}]}}"));
    EXPECT_EQ(others.size(), 1U);
  }
}

TEST(PodShapeTest, AShapeKeepsTheNamesOfWhatItAsksFor) {
  ResourceNames resources;
  ShapeTable shapes(resources);
  const size_t before = resources.used();
  const auto asking_for = [&](std::string_view name) {
    return shapes.Of(
        PodOf(fmt::format("{{metadata: {{name: p}}, spec: {{containers: [{{resources: {{requests: "
                          "{{{}: '1'}}, limits: {{{}: '1'}}}}}}]}}}}",
                          name, name)));
  };
  ShapePtr one = asking_for("example.com/one");
  const ResourceId id = one->requests.front().id;
  EXPECT_EQ(resources.NameOf(id), "example.com/one");
  EXPECT_EQ(resources.used(), before + 1);
  one.reset();
  EXPECT_EQ(resources.used(), before);
  EXPECT_FALSE(resources.Find("example.com/one").has_value());
  EXPECT_EQ(asking_for("example.com/two")->requests.front().id, id) << "numbers are used again";
}

}  // namespace
}  // namespace koord::scheduler::pod_shape_test
