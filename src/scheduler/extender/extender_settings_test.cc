#include "scheduler/extender/extender_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::scheduler::extender_settings_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ExtenderSettings, WarnsOfWhatIsNotHonoured) {
  const std::vector<Extender> extenders = {
      {.url_prefix = "http://a", .filter_verb = "f", .prioritize_verb = "p", .bind_verb = "b"},
      {.url_prefix = "http://b", .filter_verb = "f", .preempt_verb = "x"}};
  EXPECT_THAT(WarningsAbout(extenders, true), IsEmpty());
  EXPECT_THAT(
      WarningsAbout(extenders, false),
      ElementsAre("extenders[0]: the extender at http://a is not asked as filterVerb, "
                  "prioritizeVerb, bindVerb says",
                  "extenders[1]: the extender at http://b is not asked as filterVerb, preemptVerb "
                  "says"));
  EXPECT_THAT(WarningsAbout({}, false), IsEmpty());
}

TEST(ExtenderSettings, TrustsAsConfigured) {
  Extender extender{.url_prefix = "https://a/x", .enable_https = true};
  EXPECT_EQ(ConnectionOf(extender).server, "https://a/x");
  EXPECT_TRUE(ConnectionOf(extender).insecure_skip_tls_verify);
  extender.tls_config = {
      .server_name = "b", .cert_file = "c", .key_data = "aw==", .ca_data = "Y2E="};
  const kube::ClientConfig config = ConnectionOf(extender);
  EXPECT_FALSE(config.insecure_skip_tls_verify);
  EXPECT_EQ(config.tls_server_name, "b");
  EXPECT_EQ(config.client_certificate_file, "c");
  EXPECT_EQ(config.client_key_data, "k");
  EXPECT_EQ(config.ca_data, "ca");
}

TEST(ExtenderSettings, TheFitPluginPassesOverWhatExtendersLookAfter) {
  SchedulerConfiguration configuration;
  configuration.extenders = {{.managed_resources = {{"a.io/x", true}, {"a.io/y", false}}}};
  configuration.profiles.resize(2);
  configuration.profiles[1].plugin_config = {
      {"NodeResourcesFit", NodeResourcesFitArgs{.ignored_resources = {"b.io/z"}}}};
  LeaveToExtenders(configuration);
  EXPECT_THAT(ArgsFor<NodeResourcesFitArgs>(configuration.profiles[0]).ignored_resources,
              ElementsAre("a.io/x"));
  EXPECT_THAT(ArgsFor<NodeResourcesFitArgs>(configuration.profiles[1]).ignored_resources,
              ElementsAre("b.io/z", "a.io/x"));
}

}  // namespace
}  // namespace koord::scheduler::extender_settings_test
