#include "manager/webhook/server/webhook_options.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/file.h"
#include "base/source_dir/source_dir.h"
#include "kube/yaml.h"
#include "manager/config/manager_gates.h"
#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::webhook_options_test {
namespace {

TEST(WebhookOptionsTest, DefaultsOfFeaturesAreThoseOfTheGates) {
  const Features built_in;
  const Features read = FeaturesOf(ManagerFeatureGates());
  EXPECT_EQ(std::memcmp(&built_in, &read, sizeof(Features)), 0);
  FeatureGates gates = ManagerFeatureGates();
  ASSERT_TRUE(gates.Set("NodeMutatingWebhook=true,PodMutatingWebhook=false").ok());
  EXPECT_TRUE(FeaturesOf(gates).node_mutating);
  EXPECT_FALSE(FeaturesOf(gates).pod_mutating);
}

TEST(WebhookOptionsTest, ReadsTheEnvironment) {
  std::map<std::string, const char*> variables{{"POD_NAMESPACE", "ns"}, {"SERVICE_NAME", "svc"}};
  const auto variable = [&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second;
  };
  WebhookServer::Options options;
  ASSERT_TRUE(ReadEnvironment(variable, options).ok());
  EXPECT_EQ(options.certificates.server_name(), "svc.ns.svc");
  EXPECT_EQ(options.certificates.secret_name, "koordinator-webhook-certs");
  EXPECT_EQ(options.certificates.directory, "");
  EXPECT_EQ(options.port, 9876);

  variables["WEBHOOK_HOST"] = "10.0.0.1";
  variables["WEBHOOK_PORT"] = "443";
  ASSERT_TRUE(ReadEnvironment(variable, options).ok());
  EXPECT_EQ(options.certificates.server_name(), "10.0.0.1");
  EXPECT_EQ(options.certificates.directory, "/tmp/koordinator-webhook-certs");
  EXPECT_EQ(options.certificates.port, 443);
  variables["WEBHOOK_PORT"] = "x";
  EXPECT_EQ(Message(ReadEnvironment(variable, options)), "WEBHOOK_PORT \"x\" must be a port");
}

TEST(WebhookOptionsTest, ReadsFlags) {
  program::Flags flags("koord-manager", "");
  WebhookServer::Options options;
  ColocationProfileController::Options profiles;
  AddWebhookFlags(flags, options);
  AddColocationProfileFlags(flags, profiles);
  const auto outcome = flags.Read(std::vector<std::string>{
      "--trust-pod-annotations", "--node-strategy-name-need-check=true",
      "--binding-admission-user-name=a,b", "--binding-admission-namespaces=*",
      "--quota-update-max-retries=7", "--quota-update-retry-jitter=50ms",
      "--colocation-profile-update-pod-qps=5", "--webhook-request-bytes=1000000",
      "--webhook-max-connections=7"});
  ASSERT_TRUE(outcome.run) << outcome.err;
  EXPECT_EQ(options.session.body_budget, 1000000u);
  EXPECT_EQ(options.session.max_connections, 7u);
  EXPECT_TRUE(options.handler.trust.trust_everyone);
  EXPECT_TRUE(options.handler.check_strategy_names);
  EXPECT_EQ(options.handler.binding.user_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.evaluation.max_retries, 7);
  EXPECT_EQ(options.evaluation.retry_jitter, std::chrono::milliseconds(50));
  EXPECT_EQ(profiles.qps, 5);
}

// What is installed and what is answered are the same webhooks, and those about pods spare the
// namespaces without which no manager would ever come back.
TEST(WebhookOptionsTest, TheManifestRegistersWhatIsAnswered) {
  const auto text = ReadFile(SourcePath("deploy/manager/webhooks.yaml"));
  ASSERT_TRUE(text.ok()) << Message(text.status());
  const auto documents = kube::ParseYamlDocuments(*text);
  ASSERT_TRUE(documents.ok()) << Message(documents.status());
  std::set<std::string, std::less<>> registered;
  for (const auto& document : *documents) {
    const auto* webhooks = kube::FindArray(document.value, {"webhooks"});
    if (webhooks == nullptr) continue;
    for (const kube::Json& webhook : *webhooks) {
      registered.emplace(kube::FindString(webhook, {"clientConfig", "service", "path"}));
      if (kube::Serialize(webhook).find("\"pods\"") == std::string::npos) continue;
      EXPECT_NE(kube::Serialize(*kube::Find(webhook, {"namespaceSelector"})).find("kube-system"),
                std::string::npos)
          << kube::FindString(webhook, {"name"});
    }
  }
  FeatureGates gates = ManagerFeatureGates();
  ASSERT_TRUE(gates.Set("AllAlpha=true").ok());
  HandlerOptions options;
  options.features = FeaturesOf(gates);
  FakeView view;
  metrics::Registry registry;
  const WebhookHandler handler({.view = view, .clock = view.loop.clock(), .metrics = registry},
                               options);
  EXPECT_EQ(handler.paths(), registered);
}

}  // namespace
}  // namespace koord::manager::webhook::webhook_options_test
