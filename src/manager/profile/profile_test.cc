#include "manager/profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace koord::manager::profile_test {
namespace {

using kube::Json;
using testing::ElementsAre;
using testing::HasSubstr;

Json Yaml(std::string_view text) {
  auto parsed = kube::ParseYaml(text);
  EXPECT_TRUE(parsed.ok()) << Message(parsed.status());
  return *parsed;
}

class ProfileTest : public testing::Test {
 protected:
  void Add(std::string_view yaml) {
    auto profile = kube::Decode<api::ClusterColocationProfile>(Yaml(yaml));
    ASSERT_TRUE(profile.ok()) << Message(profile.status());
    profiles_.Set(std::make_shared<const api::ClusterColocationProfile>(*std::move(profile)));
  }
  StatusOr<bool> Apply(Json& pod, bool rewrite = true) {
    const PodProfileContext context{profiles_, [this] { return NamespaceLabels(); },
                                    [](std::string_view name) { return FindClass(name); }, rewrite};
    return ApplyToPod(context, random_, pod);
  }
  Json Applied(std::string_view yaml) {
    Json pod = Yaml(yaml);
    const StatusOr<bool> applied = Apply(pod);
    EXPECT_TRUE(applied.ok()) << Message(applied.status());
    return pod;
  }

  StatusOr<const kube::Labels*> NamespaceLabels() {
    if (namespace_missing_) return NotFound("namespaces \"default\" not found");
    return &namespace_labels_;
  }
  static std::shared_ptr<const kube::PriorityClass> FindClass(std::string_view name) {
    auto found = std::make_shared<kube::PriorityClass>();
    found->metadata.name = name;
    if (name == "koordinator-batch") {
      found->value = 5999;
      found->preemption_policy = "PreemptLowerPriority";
    } else if (name == "koordinator-mid") {
      found->value = 7500;
    } else {
      return nullptr;
    }
    return found;
  }

  ProfileSet profiles_;
  kube::Labels namespace_labels_{{"enable", "yes"}};
  bool namespace_missing_ = false;
  Random random_{7};
};

constexpr char kPlainPod[] = R"(
metadata: {name: p, labels: {app: job}}
spec:
  containers:
  - {name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}}
)";

// V20
TEST_F(ProfileTest, ColoursAPodAndMovesItsResources) {
  Add(R"(
metadata: {name: batch}
spec:
  namespaceSelector: {matchLabels: {enable: "yes"}}
  selector: {matchLabels: {app: job}}
  labels: {testLabelA: valueA}
  qosClass: BE
  priorityClassName: koordinator-batch
  koordinatorPriority: 1111
  schedulerName: koordinator-scheduler
  patch: {metadata: {labels: {test-patch-label: patched}}}
)");
  const Json pod = Applied(R"(
metadata: {name: p, labels: {app: job}}
spec:
  preemptionPolicy: Never
  initContainers:
  - {name: init, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 500m, memory: 1Gi}}}
  containers:
  - {name: main, image: busybox, resources: {limits: {cpu: "1", memory: 4Gi}}}
  overhead: {cpu: "1", memory: 2Gi}
)");
  EXPECT_TRUE(kube::Equal(pod, Yaml(R"(
metadata:
  name: p
  labels:
    app: job
    testLabelA: valueA
    koordinator.sh/qosClass: BE
    koordinator.sh/priority: "1111"
    test-patch-label: patched
spec:
  priorityClassName: koordinator-batch
  priority: 5999
  preemptionPolicy: PreemptLowerPriority
  schedulerName: koordinator-scheduler
  initContainers:
  - name: init
    resources:
      requests: {kubernetes.io/batch-cpu: "500", kubernetes.io/batch-memory: 1Gi}
      limits: {kubernetes.io/batch-cpu: "500", kubernetes.io/batch-memory: 1Gi}
  containers:
  - name: main
    image: busybox
    resources:
      requests: {kubernetes.io/batch-cpu: 1k, kubernetes.io/batch-memory: 4Gi}
      limits: {kubernetes.io/batch-cpu: 1k, kubernetes.io/batch-memory: 4Gi}
  overhead: {kubernetes.io/batch-cpu: 1k, kubernetes.io/batch-memory: 2Gi}
)"))) << kube::Serialize(pod);
}

// V21
TEST_F(ProfileTest, MapsKeysAndAppendsSuffixes) {
  Add(R"(
metadata: {name: map}
spec:
  labelKeysMapping: {load: store, nope: store2}
  annotationKeysMapping: {from: to}
  labelSuffixes: {k1: "-s", store: "-t", absent: "-u"}
)");
  const Json pod = Applied(
      R"({metadata: {labels: {load: v, k1: w}, annotations: {from: a}}, spec: {priority: 9000}})");
  EXPECT_TRUE(kube::Equal(*kube::Find(pod, {"metadata"}), Yaml(R"(
labels: {load: v, store: v-t, store2: "", k1: w-s}
annotations: {from: a, to: a}
)"))) << kube::Serialize(pod);
}

TEST_F(ProfileTest, AppliesInTheOrderOfNamesByLabelsAsSubmitted) {
  Add("{metadata: {name: b}, spec: {labels: {x: from-b}, selector: {matchLabels: {app: job}}}}");
  Add("{metadata: {name: a}, spec: {labels: {x: from-a, app: other}}}");
  Add("{metadata: {name: c}, spec: {labels: {x: from-c}, selector: {matchLabels: {app: other}}}}");
  const Json pod = Applied(kPlainPod);
  EXPECT_EQ(kube::FindString(pod, {"metadata", "labels", "x"}), "from-b");
}

TEST_F(ProfileTest, NothingHappensWhereNoneMatches) {
  Add("{metadata: {name: a}, spec: {qosClass: BE, selector: {matchLabels: {app: web}}}}");
  Add("{metadata: {name: b}, spec: {qosClass: BE, namespaceSelector: {matchLabels: {enable: n}}}}");
  Json pod = Yaml(kPlainPod);
  EXPECT_EQ(*Apply(pod), false);
  EXPECT_TRUE(kube::Equal(pod, Yaml(kPlainPod)));
}

TEST_F(ProfileTest, ABadSelectorMatchesNothing) {
  Add("{metadata: {name: a}, spec: {qosClass: BE,"
      " selector: {matchExpressions: [{key: a, operator: Near}]}}}");
  Json pod = Yaml(kPlainPod);
  EXPECT_EQ(*Apply(pod), false);
}

TEST_F(ProfileTest, AnUnknownNamespaceIsAnErrorOnlyWhereItMatters) {
  namespace_missing_ = true;
  Add("{metadata: {name: a}, spec: {labels: {x: y}}}");
  Json pod = Yaml(kPlainPod);
  EXPECT_TRUE(Apply(pod).ok());
  Add("{metadata: {name: b}, spec: {namespaceSelector: {matchLabels: {enable: 'yes'}}}}");
  EXPECT_THAT(Message(Apply(pod).status()), HasSubstr("namespaces \"default\" not found"));
}

TEST_F(ProfileTest, AnUnknownPriorityClassIsRefused) {
  Add("{metadata: {name: a}, spec: {priorityClassName: gone}}");
  Json pod = Yaml(kPlainPod);
  EXPECT_EQ(Message(Apply(pod).status()), "priorityclasses.scheduling.k8s.io \"gone\" not found");
}

struct RewriteCase {
  const char* name;
  const char* profile;
  const char* requests;  // of the container afterwards
};

class RewriteTest : public ProfileTest, public testing::WithParamInterface<RewriteCase> {};

TEST_P(RewriteTest, OfAContainerWith500mAnd1Gi) {
  Add(GetParam().profile);
  const Json pod = Applied(kPlainPod);
  const Json& requests =
      kube::FindArray(pod, {"spec", "containers"})->at(0).at("resources").at("requests");
  EXPECT_TRUE(kube::Equal(requests, Yaml(GetParam().requests))) << kube::Serialize(requests);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RewriteTest,
    testing::Values(
        RewriteCase{"batch_by_class",
                    "{metadata: {name: a}, spec: {priorityClassName: koordinator-batch}}",
                    "{kubernetes.io/batch-cpu: '500', kubernetes.io/batch-memory: 1Gi}"},
        RewriteCase{"mid", "{metadata: {name: a}, spec: {priorityClassName: koordinator-mid}}",
                    "{kubernetes.io/mid-cpu: '500', kubernetes.io/mid-memory: 1Gi}"},
        RewriteCase{"batch_by_qos_alone", "{metadata: {name: a}, spec: {qosClass: BE}}",
                    "{kubernetes.io/batch-cpu: '500', kubernetes.io/batch-memory: 1Gi}"},
        RewriteCase{"prod_by_default", "{metadata: {name: a}, spec: {labels: {x: y}}}",
                    "{cpu: 500m, memory: 1Gi}"},
        RewriteCase{"free_has_none",
                    "{metadata: {name: a}, spec: {qosClass: BE,"
                    " labels: {koordinator.sh/priority-class: koord-free}}}",
                    "{cpu: 500m, memory: 1Gi}"},
        RewriteCase{"skipped_by_annotation",
                    "{metadata: {name: a, annotations: {config.koordinator.sh/"
                    "skip-update-resources: ''}}, spec: {qosClass: BE}}",
                    "{cpu: 500m, memory: 1Gi}"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(ProfileTest, RewritesAlsoWhatTheDiceLeftOut) {
  Add("{metadata: {name: a}, spec: {probability: 0, labels: {x: y}}}");
  const Json pod = Applied(
      "{metadata: {labels: {koordinator.sh/qosClass: BE}}, spec: {containers: "
      "[{name: c, resources: {requests: {cpu: 1, kubernetes.io/batch-cpu: 7}}}]}}");
  EXPECT_EQ(kube::Find(pod, {"metadata", "labels", "x"}), nullptr);
  EXPECT_EQ(kube::Serialize(
                kube::FindArray(pod, {"spec", "containers"})->at(0).at("resources").at("requests")),
            R"({"kubernetes.io/batch-cpu":"1k"})");
}

struct ProbabilityCase {
  const char* name;
  kube::IntOrString probability;
  int at_least, at_most;  // of 10,000
};

class ProbabilityTest : public testing::TestWithParam<ProbabilityCase> {};

TEST_P(ProbabilityTest, IsKept) {
  api::ClusterColocationProfileSpec spec;
  spec.probability = GetParam().probability;
  Random random(3);
  int chosen = 0;
  for (int i = 0; i < 10'000; ++i) chosen += *Chosen(spec, random);
  EXPECT_GE(chosen, GetParam().at_least);
  EXPECT_LE(chosen, GetParam().at_most);
}

INSTANTIATE_TEST_SUITE_P(Cases, ProbabilityTest,
                         testing::Values(ProbabilityCase{"never", 0, 0, 0},
                                         ProbabilityCase{"negative", -1, 0, 0},
                                         ProbabilityCase{"half_is_51", 50, 4950, 5250},
                                         ProbabilityCase{"ninety_nine", 99, 10'000, 10'000},
                                         ProbabilityCase{"percent", "100%", 10'000, 10'000},
                                         ProbabilityCase{"more", 150, 10'000, 10'000}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(ProfileTest, AProbabilityThatIsNoneIsAnError) {
  Add("{metadata: {name: a}, spec: {probability: often}}");
  Json pod = Yaml(kPlainPod);
  EXPECT_THAT(Message(Apply(pod).status()), HasSubstr("profile a: spec.probability"));
}

TEST_F(ProfileTest, ChangesAReservationAndItsTemplate) {
  Add(R"(
metadata: {name: a}
spec:
  namespaceSelector: {matchLabels: {no: such}}
  selector: {matchLabels: {app: r}}
  labels: {x: y}
  qosClass: LSR
  schedulerName: koord-scheduler
  priorityClassName: koordinator-batch
  koordinatorPriority: 5
  patch: {spec: {template: {spec: {containers: [{name: main, image: new}]}}}}
)");
  const PodProfileContext context{profiles_, [this] { return NamespaceLabels(); },
                                  [](std::string_view name) { return FindClass(name); }, true};
  Json reservation = Yaml(R"(
metadata: {name: r, labels: {app: r}}
spec: {template: {spec: {containers: [{name: main, resources: {requests: {cpu: 1}}}]}}}
)");
  ASSERT_TRUE(*ApplyToReservation(context, random_, reservation));
  EXPECT_TRUE(kube::Equal(reservation, Yaml(R"(
metadata:
  name: r
  labels: {app: r, x: y, koordinator.sh/qosClass: LSR, koordinator.sh/priority: "5"}
spec:
  template:
    spec:
      schedulerName: koord-scheduler
      priorityClassName: koordinator-batch
      priority: 5999
      preemptionPolicy: PreemptLowerPriority
      containers: [{name: main, image: new, resources: {requests: {cpu: 1}}}]
)"))) << kube::Serialize(reservation);
}

}  // namespace
}  // namespace koord::manager::profile_test
