#include "program/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/program.h"

namespace koord::program::options_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OptionsTest, TheFlagsOfTheShippedChartAreUnderstood) {
  constexpr FeatureGate kGates[] = {{"ResizePod"}};
  Program program("koord-scheduler", "", FeatureGates({kGates}));
  program.AddStandardFlags();
  const auto outcome = program.flags().Read(
      {"--port=10251", "--authentication-skip-lookup=true", "--v=4",
       "--feature-gates=ResizePod=true", "--leader-elect=false", "--logtostderr=true",
       "--leader-elect-lease-duration=20s", "--tls-min-version=VersionTLS13",
       "--authorization-always-allow-paths=/healthz,/metrics", "--kube-api-qps=200",
       "--requestheader-allowed-names=x", "--profiling=false"});
  ASSERT_TRUE(outcome.run) << outcome.err;
  const Program::Options& options = program.options();
  EXPECT_EQ(options.plain.port, 10251);
  EXPECT_TRUE(options.secure.skip_lookup);
  EXPECT_EQ(options.logging.verbosity, 4);
  EXPECT_FALSE(options.leader_election.enabled);
  EXPECT_EQ(options.leader_election.election.lease_duration, 20s);
  EXPECT_THAT(options.secure.auth.open_paths, ElementsAre("/healthz", "/metrics"));
  EXPECT_EQ(options.client.qps, 200);
  EXPECT_FALSE(options.profiling);
  EXPECT_TRUE(program.gates().Enabled("ResizePod"));
}

TEST(OptionsTest, EveryFlagOfKubeSchedulerIsKnown) {
  Program program("koord-scheduler", "");
  program.AddStandardFlags();
  const std::string help = program.flags().Help();
  for (const char* flag : {"--allow-metric-labels",
                           "--authentication-kubeconfig",
                           "--authentication-skip-lookup",
                           "--authentication-token-webhook-cache-ttl",
                           "--authentication-tolerate-lookup-failure",
                           "--authorization-always-allow-paths",
                           "--authorization-kubeconfig",
                           "--authorization-webhook-cache-authorized-ttl",
                           "--authorization-webhook-cache-unauthorized-ttl",
                           "--bind-address",
                           "--cert-dir",
                           "--client-ca-file",
                           "--contention-profiling",
                           "--disable-http2-serving",
                           "--disabled-metrics",
                           "--emulated-version",
                           "--feature-gates",
                           "--help",
                           "--http2-max-streams-per-connection",
                           "--kube-api-burst",
                           "--kube-api-content-type",
                           "--kube-api-qps",
                           "--kubeconfig",
                           "--leader-elect",
                           "--leader-elect-lease-duration",
                           "--leader-elect-renew-deadline",
                           "--leader-elect-resource-lock",
                           "--leader-elect-resource-name",
                           "--leader-elect-resource-namespace",
                           "--leader-elect-retry-period",
                           "--log-flush-frequency",
                           "--log-json-info-buffer-size",
                           "--log-json-split-stream",
                           "--log-text-info-buffer-size",
                           "--log-text-split-stream",
                           "--logging-format",
                           "--master",
                           "--permit-address-sharing",
                           "--permit-port-sharing",
                           "--profiling",
                           "--requestheader-allowed-names",
                           "--requestheader-client-ca-file",
                           "--requestheader-extra-headers-prefix",
                           "--requestheader-group-headers",
                           "--requestheader-uid-headers",
                           "--requestheader-username-headers",
                           "--secure-port",
                           "--show-hidden-metrics-for-version",
                           "--tls-cert-file",
                           "--tls-cipher-suites",
                           "--tls-min-version",
                           "--tls-private-key-file",
                           "--tls-sni-cert-key",
                           "--v",
                           "--version",
                           "--vmodule"}) {
    EXPECT_THAT(help, HasSubstr(flag));
  }
}

TEST(OptionsTest, WrongValuesAreNamed) {
  EXPECT_EQ(Message(Validate(PlainServingOptions{.port = 70000})),
            "--port 70000 must be between 0 and 65535, inclusive");
  EXPECT_EQ(Message(Validate(PlainServingOptions{.address = "x"})),
            "--address x is an invalid IP address");
  EXPECT_EQ(Message(Validate(SecureServingOptions{.address = "localhost"})),
            "--bind-address localhost is an invalid IP address");
  EXPECT_EQ(Message(Validate(SecureServingOptions{.certificate_file = "x"})),
            "--tls-cert-file and --tls-private-key-file need each other");
  EXPECT_EQ(Message(Validate(SecureServingOptions{.min_tls_version = "TLS"})),
            "--tls-min-version \"TLS\" is unknown: VersionTLS12 or VersionTLS13");
  EXPECT_TRUE(Validate(SecureServingOptions{}).ok());

  LeaderElectionConfig election;
  election.election.lease = {"ns", "name"};
  EXPECT_TRUE(Validate(election).ok());
  election.election.renew_deadline = 20s;
  EXPECT_THAT(std::string(Message(Validate(election))), HasSubstr("leaseDuration"));
  election.enabled = false;
  EXPECT_TRUE(Validate(election).ok());
  EXPECT_THAT(std::string(Message(Apply(LoggingOptions{.format = "xml"}))), HasSubstr("xml"));
}

TEST(OptionsTest, OnlyLeasesAreLocks) {
  Flags flags("p", "");
  LeaderElectionConfig options;
  AddLeaderElectionFlags(flags, options);
  EXPECT_TRUE(flags.Read({"--leader-elect-resource-lock=leases"}).run);
  EXPECT_THAT(flags.Read({"--leader-elect-resource-lock=endpoints"}).err,
              HasSubstr("must be leases"));
}

}  // namespace
}  // namespace koord::program::options_test
