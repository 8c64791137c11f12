#include "manager/webhook/certificates/registration.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "kube/yaml.h"

namespace koord::manager::webhook::registration_test {
namespace {

using kube::Json;

Json Yaml(std::string_view text) {
  auto parsed = kube::ParseYaml(text);
  EXPECT_TRUE(parsed.ok()) << Message(parsed.status());
  return *parsed;
}

constexpr char kInstalled[] = R"(
metadata: {name: c, resourceVersion: "7"}
webhooks:
- name: mpod-create.koordinator.sh
  clientConfig: {service: {namespace: elsewhere, name: s, path: /mutate-pod}}
  namespaceSelector: {matchExpressions: [{key: control-plane, operator: DoesNotExist}]}
  rules: [{operations: [CREATE], resources: [pods]}]
- name: mreservation-create.koordinator.sh
  clientConfig: {service: {namespace: elsewhere, name: s, path: /mutate-reservation}}
  rules: [{operations: [CREATE], resources: [reservations]}]
)";

class RegistrationTest : public testing::Test {
 protected:
  Registration registration_{.service_ns = "koordinator-system",
                             .service_name = "svc",
                             .ca_bundle = "CA",
                             .paths = {"/mutate-pod"}};
};

TEST_F(RegistrationTest, PutsInForceWhatIsAnswered) {
  const auto changed = Registered(Yaml(kInstalled), registration_);
  ASSERT_TRUE(changed.ok() && changed->has_value());
  EXPECT_TRUE(kube::Equal(*kube::Find(**changed, {"webhooks"}), Yaml(R"(
- name: mpod-create.koordinator.sh
  clientConfig: {caBundle: Q0E=, service: {namespace: koordinator-system, name: svc, path: /mutate-pod}}
  namespaceSelector:
    matchExpressions:
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, koordinator-system]}
  rules: [{operations: [CREATE], resources: [pods]}]
)"))) << kube::Serialize(**changed);
  EXPECT_EQ(kube::FindString(**changed, {"metadata", "resourceVersion"}), "7");

  const Json kept =
      *kube::ParseJson(kube::FindString(**changed, {"metadata", "annotations", "template"}));
  EXPECT_TRUE(kube::Equal(kept, *kube::Find(Yaml(kInstalled), {"webhooks"})));
  EXPECT_FALSE(Registered(**changed, registration_)->has_value()) << "never in step";

  // A feature is switched on: its webhook comes back from the template.
  registration_.paths.insert("/mutate-reservation");
  const auto more = Registered(**changed, registration_);
  ASSERT_TRUE(more->has_value());
  EXPECT_EQ(kube::FindArray(**more, {"webhooks"})->size(), 2u);
}

TEST_F(RegistrationTest, DefaultsThatTheServerFillsInAreNoDifference) {
  Json stored = **Registered(Yaml(kInstalled), registration_);
  Json& webhook = kube::Find(stored, {"webhooks"})->as_array()[0];
  kube::At(webhook, {"timeoutSeconds"}) = 10;
  kube::At(webhook, {"clientConfig", "service", "port"}) = 443;
  EXPECT_FALSE(Registered(stored, registration_)->has_value());
  kube::At(webhook, {"clientConfig", "caBundle"}) = "T1RIRVI=";
  EXPECT_TRUE(Registered(stored, registration_)->has_value());
}

TEST_F(RegistrationTest, AHostIsCalledByItsAddress) {
  registration_.host = "10.0.0.1";
  const auto changed = Registered(Yaml(kInstalled), registration_);
  const Json& config = kube::FindArray(**changed, {"webhooks"})->at(0).at("clientConfig");
  EXPECT_EQ(kube::Serialize(config),
            R"({"caBundle":"Q0E=","url":"https://10.0.0.1:9876/mutate-pod"})");
  EXPECT_FALSE(Registered(**changed, registration_)->has_value());
  registration_.host = "";
  EXPECT_TRUE(Registered(**changed, registration_)->has_value());
}

// Owners of namespaces label them as they like: that exempts nobody.
TEST_F(RegistrationTest, ALabelOfTheNamespaceExemptsNobody) {
  const auto changed = Registered(Yaml(R"(
webhooks:
- clientConfig: {service: {path: /mutate-pod}}
  namespaceSelector:
    matchExpressions:
    - {key: control-plane, operator: DoesNotExist}
    - {key: mine, operator: DoesNotExist}
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [a]}
  rules: [{resources: [pods]}]
)"),
                                  registration_);
  ASSERT_TRUE(changed.ok() && changed->has_value());
  const Json& webhook = kube::FindArray(**changed, {"webhooks"})->at(0);
  EXPECT_TRUE(kube::Equal(*kube::Find(webhook, {"namespaceSelector", "matchExpressions"}), Yaml(R"(
- {key: mine, operator: DoesNotExist}
- {key: kubernetes.io/metadata.name, operator: NotIn, values: [a]}
)"))) << kube::Serialize(webhook);
}

TEST_F(RegistrationTest, ListsPathsOfTheTemplateAnsweredOrNot) {
  const auto paths = ListedPaths(Yaml(kInstalled));
  ASSERT_TRUE(paths.ok());
  EXPECT_EQ(*paths, (std::set<std::string, std::less<>>{"/mutate-pod", "/mutate-reservation"}));
}

TEST_F(RegistrationTest, ATemplateThatIsNoneIsNamed) {
  const auto changed =
      Registered(Yaml("{metadata: {annotations: {template: '{}'}}, webhooks: []}"), registration_);
  EXPECT_EQ(Message(changed.status()),
            "metadata.annotations.template: expected a list of webhooks");
}

}  // namespace
}  // namespace koord::manager::webhook::registration_test
