#include "manager/program/manager_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/log.h"

namespace koord::manager::manager_options_test {
namespace {

using program::Program;
using testing::ElementsAre;
using testing::HasSubstr;

class ManagerOptionsTest : public testing::Test {
 protected:
  ManagerOptionsTest() {
    log::SetSink([](std::string_view) {});
  }
  ~ManagerOptionsTest() override { log::SetSink(nullptr); }

  int Run(std::vector<std::string> arguments) {
    std::vector<const char*> argv{"koord-manager", "--master=http://127.0.0.1:1"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return program_.Run(static_cast<int>(argv.size()), argv.data(), [&](program::Environment&) {
      made_ = true;
      return nullptr;
    });
  }
  std::string ErrorOf(std::vector<std::string> arguments) {
    testing::internal::CaptureStderr();
    EXPECT_NE(Run(std::move(arguments)), 0);
    return testing::internal::GetCapturedStderr();
  }

  Program program_{"koord-manager", "Manages.", ManagerFeatureGates()};
  ManagerOptions options_{program_};
  bool made_ = false;
};

TEST_F(ManagerOptionsTest, Defaults) {
  EXPECT_EQ(Run({}), 0);
  EXPECT_TRUE(made_);
  const Program::Options& options = program_.options();
  EXPECT_TRUE(options.leader_election.enabled);
  EXPECT_EQ(options.leader_election.election.lease.ToString(),
            "koordinator-system/koordinator-manager");
  EXPECT_EQ(options.leader_election.election.lease_duration, 15s);
  EXPECT_EQ(options.leader_election.election.renew_deadline, 10s);
  EXPECT_EQ(options.leader_election.election.retry_period, 2s);
  EXPECT_EQ(options.plain.port, 8080);
  EXPECT_EQ(options.plain.address, "0.0.0.0");
  ASSERT_EQ(options.further_plain.size(), 1u);
  EXPECT_EQ(options.further_plain[0].port, 8000);
  EXPECT_EQ(options.secure.port, 8443);
  EXPECT_FALSE(options.metrics_without_login);
  EXPECT_EQ(options.client.qps, 30);
  EXPECT_EQ(options.client.burst, 50);
  EXPECT_THAT(options_.app().controllers, ElementsAre("*"));
  EXPECT_EQ(options_.app().slo_config.ToString(), "koordinator-system/slo-controller-config");
  EXPECT_EQ(options_.app().resync, 0s);
}

TEST_F(ManagerOptionsTest, EveryFlagIsUnderstood) {
  EXPECT_EQ(Run({"--metrics-addr=127.0.0.1:9080", "--health-probe-addr=0",
                 "--enable-leader-election=false", "--leader-election-namespace=ns",
                 "--leader-elect-resource-lock=leases", "--namespace=one", "--enable-pprof=false",
                 "--pprof-addr=:8090", "--sync-period=10m", "--rest-config-qps=100",
                 "--rest-config-burst=0", "--controllers=-noderesource,*",
                 "--noderesource-plugins=BatchResource", "--slo-config-name=slo",
                 "--config-namespace=config", "--feature-gates=EnableSyncGPUSharedResource=true",
                 "--disable-no-deepcopy=true", "-v=4", "--logtostderr=true"}),
            0);
  const Program::Options& options = program_.options();
  EXPECT_FALSE(options.leader_election.enabled);
  EXPECT_EQ(options.leader_election.election.lease.ToString(), "ns/koordinator-manager");
  EXPECT_EQ(options.plain.address, "127.0.0.1");
  EXPECT_EQ(options.plain.port, 9080);
  EXPECT_EQ(options.further_plain[0].port, 0);
  EXPECT_EQ(options.client.qps, 100);
  EXPECT_EQ(options.client.burst, 50) << "nothing sensible was said";
  EXPECT_THAT(options_.app().controllers, ElementsAre("-noderesource", "*"));
  EXPECT_EQ(options_.app().slo_config.ToString(), "config/slo");
  EXPECT_EQ(options_.app().only_namespace, "one");
  EXPECT_EQ(options_.app().resync, 10min);
  EXPECT_TRUE(program_.gates().Enabled("EnableSyncGPUSharedResource"));
  log::SetVerbosity(0);
}

TEST_F(ManagerOptionsTest, AnUnreadableSyncPeriodIsIgnored) {
  EXPECT_EQ(Run({"--sync-period=often"}), 0);
  EXPECT_EQ(options_.app().resync, 0s);
}

TEST_F(ManagerOptionsTest, MistakesAreNamed) {
  EXPECT_THAT(ErrorOf({"--metrics-addr=8080"}), HasSubstr("--metrics-addr"));
  EXPECT_THAT(ErrorOf({"--metrics-addr=:99999"}), HasSubstr("--metrics-addr"));
  EXPECT_THAT(ErrorOf({"--controlers=x"}), HasSubstr("--controllers"));
  EXPECT_THAT(ErrorOf({"--feature-gates=Nonsense=true"}),
              HasSubstr("unrecognized feature gate: Nonsense"));
}

TEST_F(ManagerOptionsTest, WhatIsSwitchedOnOrOffMustBeThere) {
  EXPECT_THAT(ErrorOf({"--controllers=nodeslo,foo"}),
              HasSubstr("--controllers: there is no \"foo\"; there are nodemetric, noderesource, "
                        "nodeslo, quotaprofile, colocationprofile, * for all"));
  EXPECT_THAT(ErrorOf({"--controllers=*,-foo"}), HasSubstr("there is no \"foo\""));
  EXPECT_THAT(ErrorOf({"--controllers=*", "--noderesource-plugins=batchresource"}),
              HasSubstr("--noderesource-plugins: there is no \"batchresource\"; there are "
                        "MidResource, BatchResource"));
  EXPECT_THAT(std::string(Message(PlanManager({"--controllers=foo"}).status())),
              HasSubstr("there is no \"foo\""));
  EXPECT_FALSE(made_);
}

TEST_F(ManagerOptionsTest, WhatHasNoEffectIsKnown) {
  const auto plan = PlanManager({"--enable-pprof=false",
                                 "--feature-gates=PriorityTransformer=true,"
                                 "NodeMutatingWebhook=true"});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->without_effect,
              ElementsAre("feature gate PriorityTransformer=true has no effect in this version",
                          "flag --enable-pprof has no effect"));
}

TEST(ManagerGates, Defaults) {
  const FeatureGates gates = ManagerFeatureGates();
  for (const char* on : {"WebhookFramework", "PodMutatingWebhook", "PodValidatingWebhook",
                         "ElasticMutatingWebhook", "ElasticValidatingWebhook"}) {
    EXPECT_TRUE(gates.Enabled(on)) << on;
  }
  for (const char* off : {"NodeMutatingWebhook", "ConfigMapValidatingWebhook", "MultiQuotaTree",
                          "EnableQuotaAdmission", "EnableSyncGPUSharedResource",
                          "ColocationProfileController", "BindingAdmissionWebhook"}) {
    EXPECT_FALSE(gates.Enabled(off)) << off;
  }
}

TEST_F(ManagerOptionsTest, WebhooksFollowFlagsAndGates) {
  const std::string ca = testing::TempDir() + "/webhook_clients.pem";
  std::ofstream(ca) << "a certificate";
  EXPECT_EQ(Run({"--trust-pod-annotations", "--scheduler-user-names=a,b", "--slo-config-name=mine",
                 "--webhook-client-ca-file=" + ca, "--webhook-client-names=kube-apiserver",
                 "--feature-gates=EnableQuotaAdmission=true,PodMutatingWebhook=false",
                 "--colocation-profile-update-pod-qps=3"}),
            0);
  const auto webhooks = options_.webhooks(program_.gates());
  EXPECT_TRUE(webhooks.handler.trust.trust_everyone);
  EXPECT_THAT(webhooks.handler.trust.schedulers, ElementsAre("a", "b"));
  EXPECT_EQ(webhooks.handler.slo_config.name, "mine");
  EXPECT_TRUE(webhooks.handler.features.enable_quota_admission);
  EXPECT_FALSE(webhooks.handler.features.pod_mutating);
  EXPECT_EQ(webhooks.port, 9876);
  EXPECT_EQ(webhooks.client_ca, "a certificate");
  EXPECT_THAT(webhooks.handler.client_names, ElementsAre("kube-apiserver"));
  EXPECT_EQ(options_.app().colocation_profile.qps, 3);
}

TEST_F(ManagerOptionsTest, QuotasAreChargedOnlyByCallersThatAreKnown) {
  EXPECT_THAT(ErrorOf({"--feature-gates=EnableQuotaAdmission=true"}),
              HasSubstr("EnableQuotaAdmission needs --webhook-client-ca-file"));
  EXPECT_THAT(ErrorOf({"--webhook-client-names=kube-apiserver"}),
              HasSubstr("needs --webhook-client-ca-file"));
  EXPECT_FALSE(made_);
}

TEST_F(ManagerOptionsTest, WithoutWebhooksNobodyCharges) {
  EXPECT_EQ(Run({"--feature-gates=EnableQuotaAdmission=true,WebhookFramework=false"}), 0);
}

TEST_F(ManagerOptionsTest, APlanIsMadeFromTheSameFlags) {
  const auto plan =
      PlanManager({"--controllers=nodeslo", "--feature-gates=WebhookFramework=false"});
  ASSERT_TRUE(plan.ok()) << Message(plan.status());
  EXPECT_THAT(plan->app.controllers, ElementsAre("nodeslo"));
  EXPECT_FALSE(plan->app.webhooks);
  EXPECT_TRUE(PlanManager({})->app.webhooks);
  EXPECT_THAT(std::string(Message(PlanManager({"--controlers=x"}).status())),
              HasSubstr("--controllers"));
}

}  // namespace
}  // namespace koord::manager::manager_options_test
