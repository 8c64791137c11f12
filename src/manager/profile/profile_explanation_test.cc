#include "manager/profile/profile_explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace koord::manager::profile_explanation_test {
namespace {

using kube::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json Yaml(std::string_view text) { return *kube::ParseYaml(text); }

ProfilePtr ProfileOf(std::string_view yaml) {
  return std::make_shared<const api::ClusterColocationProfile>(
      *kube::Decode<api::ClusterColocationProfile>(Yaml(yaml)));
}

constexpr char kPod[] =
    "{kind: Pod, metadata: {name: p, labels: {app: spark}}, spec: {containers: [{name: c, "
    "resources: {requests: {cpu: 1500m, memory: 2Gi}}}]}}";

ProfilesExplanation Explain(const std::vector<std::string>& profiles, std::string_view pod = kPod) {
  ProfilesQuestion question;
  question.ns = "jobs";
  question.namespace_labels = {{"team", "data"}};
  question.priority_class = [](std::string_view name) {
    auto found = std::make_shared<kube::PriorityClass>();
    found->value = 5000;
    return name == "koord-batch" ? found : nullptr;
  };
  for (const std::string& profile : profiles) question.profiles.push_back(ProfileOf(profile));
  return ExplainProfiles(question, Yaml(pod));
}

TEST(ProfileExplanation, SaysWhatASelectorMisses) {
  const auto explanation = Explain(
      {"{metadata: {name: a}, spec: {selector: {matchLabels: {app: web}}}}",
       "{metadata: {name: b}, spec: {namespaceSelector: {matchExpressions: [{key: env, operator: "
       "Exists}]}}}",
       "{metadata: {name: c}, spec: {selector: {matchExpressions: [{key: app, operator: "
       "Inside}]}}}"});
  ASSERT_EQ(explanation.profiles.size(), 3u);
  EXPECT_THAT(explanation.profiles[0].reasons,
              ElementsAre("namespaceSelector: takes every namespace",
                          "selector: app=web does not hold: the pod has app=spark"));
  EXPECT_THAT(explanation.profiles[1].reasons,
              ElementsAre("namespaceSelector: env does not hold: namespace jobs has no label env",
                          "selector: takes every pod"));
  EXPECT_THAT(explanation.profiles[2].reasons,
              ElementsAre(HasSubstr("matches nothing, its selector is wrong: spec.selector: ")));
  EXPECT_FALSE(explanation.any_matches());
  EXPECT_EQ(explanation.result, Yaml(kPod));
  EXPECT_EQ(explanation.resources, "stay as they are: no profile matches");
}

TEST(ProfileExplanation, ShowsWhatBecomesOfThePod) {
  const auto explanation =
      Explain({"{metadata: {name: b}, spec: {namespaceSelector: {matchLabels: {team: data}}, "
               "labels: {from: b}}}",
               "{metadata: {name: a}, spec: {labels: {from: a}, qosClass: BE, priorityClassName: "
               "koord-batch}}"});
  EXPECT_EQ(explanation.profiles[0].name, "a");
  EXPECT_TRUE(explanation.profiles[0].matches && explanation.profiles[1].matches);
  const Json& pod = explanation.result;
  EXPECT_EQ(kube::FindString(pod, {"metadata", "labels", "from"}), "b");  // the last by name
  EXPECT_EQ(kube::FindString(pod, {"metadata", "labels", "koordinator.sh/qosClass"}), "BE");
  EXPECT_EQ(kube::FindInt(pod, {"spec", "priority"}), 5000);
  const Json& container = pod.at("spec").at("containers").at(0);
  EXPECT_EQ(container.at("resources").at("requests"),
            Yaml("{kubernetes.io/batch-cpu: '1500', kubernetes.io/batch-memory: 2Gi}"));
  EXPECT_EQ(explanation.resources,
            "cpu and memory become batch-cpu and batch-memory: the class is koord-batch");
}

TEST(ProfileExplanation, ResourcesMayBeKept) {
  const auto explanation = Explain(
      {"{metadata: {name: a, annotations: {config.koordinator.sh/skip-update-resources: ''}}, "
       "spec: {qosClass: BE, priorityClassName: koord-batch}}"});
  EXPECT_THAT(explanation.resources, HasSubstr("profile a is annotated"));
  EXPECT_TRUE(explanation.result.at("spec")
                  .at("containers")
                  .at(0)
                  .at("resources")
                  .at("requests")
                  .get_object()
                  .contains("cpu"));
}

TEST(ProfileExplanation, SaysHowManyPodsAProfileAppliesTo) {
  const std::pair<const char*, int> cases[] = {{"50", 51},  {"'50%'", 51}, {"0", 0},    {"-1", 0},
                                               {"99", 100}, {"100", 100},  {"130", 100}};
  for (const auto& [probability, percent] : cases) {
    const auto explanation = Explain({fmt::format(
        "{{metadata: {{name: a}}, spec: {{probability: {}, labels: {{x: y}}}}}}", probability)});
    EXPECT_EQ(explanation.profiles[0].percent, percent) << probability;
    EXPECT_EQ(kube::FindString(explanation.result, {"metadata", "labels", "x"}),
              percent > 0 ? "y" : "");
  }
}

TEST(ProfileExplanation, ARefusedPodStaysAsItIs) {
  const auto missing =
      Explain({"{metadata: {name: a}, spec: {labels: {x: y}, priorityClassName: nope}}"});
  EXPECT_EQ(missing.rejection(), "priorityclasses.scheduling.k8s.io \"nope\" not found");
  EXPECT_EQ(missing.result, Yaml(kPod));
  const auto odd = Explain({"{metadata: {name: a}, spec: {probability: often}}"});
  EXPECT_THAT(std::string(odd.rejection()), HasSubstr("profile a: spec.probability: "));
  EXPECT_THAT(FormatVerdicts(odd), HasSubstr("a: matches"));
}

TEST(ProfileExplanation, FindsThePodsOfAManifest) {
  const auto names = [](std::string_view yaml) {
    std::vector<std::string> found;
    for (const PodOfManifest& each : PodsOf(Yaml(yaml), "default")) {
      found.push_back(each.what + ":" +
                      std::string(kube::FindString(each.pod, {"metadata", "labels", "a"})));
    }
    return found;
  };
  EXPECT_THAT(names("{kind: Pod, metadata: {name: p, namespace: n, labels: {a: x}}, spec: {}}"),
              ElementsAre("Pod n/p:x"));
  EXPECT_THAT(names("{kind: Job, metadata: {name: j}, spec: {template: {metadata: {labels: {a: "
                    "x}}, spec: {}}}}"),
              ElementsAre("pods of Job default/j:x"));
  EXPECT_THAT(names("{kind: CronJob, metadata: {name: j}, spec: {jobTemplate: {spec: {template: "
                    "{metadata: {labels: {a: x}}, spec: {}}}}}}"),
              ElementsAre("pods of CronJob default/j:x"));
  EXPECT_THAT(names("{kind: ConfigMap, metadata: {name: j}}"), IsEmpty());
  EXPECT_THAT(names("{kind: List, items: [{kind: Pod, metadata: {name: p}, spec: {}}]}"),
              ElementsAre("Pod default/p:"));
}

}  // namespace
}  // namespace koord::manager::profile_explanation_test
