#include "manager/webhook/unsupported/unsupported_webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/unsupported.h"

namespace koord::manager::webhook::unsupported_webhook_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Request RequestFor(std::string_view group, std::string_view kind) {
  Request request;
  request.group = group;
  request.object = {{"kind", kind}};
  return request;
}

// Whatever the table says: these kinds are those that the webhook is registered for.
TEST(UnsupportedWebhookTest, TellsWhoeverCreatesWhatHasNoEffect) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"scheduling.sigs.k8s.io", "PodGroup"},
      {"scheduling.koordinator.sh", "PodMigrationJob"},
      {"scheduling.koordinator.sh", "ClusterNetworkTopology"}};
  for (const auto& [group, kind] : kKinds) {
    Request request = RequestFor(group, kind);
    const Response created = WarnOfUnsupported(request);
    EXPECT_TRUE(created.allowed);
    if (const auto why = api::UnsupportedKind(group, kind)) {
      EXPECT_THAT(created.warnings, ElementsAre(*why));
    } else {
      EXPECT_THAT(created.warnings, IsEmpty()) << kind;
    }
    request.operation = Operation::kUpdate;
    EXPECT_THAT(WarnOfUnsupported(request).warnings, IsEmpty());
  }
}

TEST(UnsupportedWebhookTest, WhatWorksAndWhatIsStrangeIsLetPass) {
  for (const Request& request :
       {RequestFor("scheduling.koordinator.sh", "Device"), RequestFor("", "Pod"), Request()}) {
    const Response response = WarnOfUnsupported(request);
    EXPECT_TRUE(response.allowed);
    EXPECT_THAT(response.warnings, IsEmpty());
  }
}

}  // namespace
}  // namespace koord::manager::webhook::unsupported_webhook_test
