// What a cluster is like from its first request until everything works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/virtual_loop.h"
#include "kube/resources.h"
#include "localcluster/assembly/local_cluster.h"
#include "program/ask_testing.h"

namespace koord::localcluster::start_test {
namespace {

using kube::Json;
using testing::HasSubstr;

class StartTest : public testing::Test {
 protected:
  StartTest() {
    log::SetSink([](std::string_view) {});
    options_.nodes = 3;
    options_.without = {"koordlet"};
  }
  ~StartTest() override { log::SetSink(nullptr); }

  void Start() { cluster_ = *LocalCluster::Start(loop_, options_); }
  void RunUntilReady() {
    ASSERT_TRUE(loop_.RunUntil([&] { return cluster_->ready(); }, 1min));
  }
  kube::HttpResponse Ask(const std::string& path) {
    return program::Ask(cluster_->handler(), "GET", path);
  }
  StatusOr<Json> Await(const std::function<void(kube::Client::Done)>& call) {
    std::optional<StatusOr<Json>> result;
    call([&](StatusOr<Json> answer) { result = std::move(answer); });
    EXPECT_TRUE(loop_.RunUntil([&] { return result.has_value(); }, 10s));
    return *result;
  }
  StatusOr<Json> Get(const kube::Resource& resource, const kube::ObjectKey& key) {
    return Await(
        [&](kube::Client::Done done) { cluster_->client().Get(resource, key, std::move(done)); });
  }

  void Patch(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view patch,
             const std::string& subresource = "") {
    const auto patched = Await([&](kube::Client::Done done) {
      cluster_->client().Patch(resource, key, kube::PatchType::kMerge, *kube::ParseJson(patch),
                               {.subresource = subresource}, std::move(done));
    });
    EXPECT_TRUE(patched.ok()) << patched.status();
  }
  std::string AllocatableCpu(const std::string& node) {
    return std::string(
        kube::FindString(*Get(kube::kNodes, {"", node}), {"status", "allocatable", "cpu"}));
  }

  VirtualLoop loop_;
  LocalClusterOptions options_;
  std::unique_ptr<LocalCluster> cluster_;
};

const kube::ObjectKey kConfig{"koordinator-system", "slo-controller-config"};

TEST_F(StartTest, IsReadyOnceItsNodesAre) {
  Start();
  const kube::HttpResponse early = Ask("/readyz");
  EXPECT_EQ(early.status, 500);
  EXPECT_THAT(early.body, HasSubstr("[-]nodes failed: not all are registered and Ready\n"));
  EXPECT_THAT(early.body, HasSubstr("readyz check failed"));
  EXPECT_EQ(Ask("/livez").status, 200);
  // Whenever it says so, pods can be placed.
  ASSERT_TRUE(loop_.RunUntil([&] { return Ask("/readyz").status == 200; }, 1min));
  const auto nodes = Await([&](kube::Client::Done done) {
    cluster_->client().List(kube::kNodes, "", {}, std::move(done));
  });
  const auto& items = *kube::FindArray(*nodes, {"items"});
  ASSERT_EQ(items.size(), 3u);
  for (const Json& node : items) {
    EXPECT_THAT(kube::Serialize(node), HasSubstr(R"("type":"Ready","status":"True")"));
  }
  EXPECT_TRUE(Get(kube::kServiceAccounts, {"default", "default"}).ok());
  EXPECT_EQ(Ask("/readyz").body, "ok");
  EXPECT_THAT(Ask("/readyz?verbose").body, HasSubstr("[+]manager ok\n"));
}

TEST_F(StartTest, BringsTheDefaultsOfAnInstallation) {
  options_.defaults = true;
  Start();
  RunUntilReady();
  for (const auto& [name, value] : {std::pair{"koord-prod", 9000},
                                    {"koord-mid", 7000},
                                    {"koord-batch", 5000},
                                    {"koord-free", 3000}}) {
    const auto found = Get(kube::kPriorityClasses, {"", name});
    ASSERT_TRUE(found.ok()) << name;
    EXPECT_EQ(kube::FindInt(*found, {"value"}), value);
  }
  EXPECT_THAT(std::string(kube::FindString(*Get(kube::kConfigMaps, kConfig),
                                           {"data", "colocation-config"})),
              HasSubstr(R"("enable": true)"));
}

// As real ones do: what others write into a Node's status does not change the machine.
TEST_F(StartTest, KubeletsReportAgainWhatTheirMachinesHave) {
  options_.shapes = {*ParseNodeShape("cpu=8,memory=16Gi")};
  Start();
  RunUntilReady();
  ASSERT_EQ(AllocatableCpu("node-0"), "8");
  Patch(kube::kNodes, {"", "node-0"}, R"({"status":{"allocatable":{"cpu":"3"}}})", "status");
  EXPECT_EQ(AllocatableCpu("node-0"), "3");
  loop_.Advance(6min);
  EXPECT_EQ(AllocatableCpu("node-0"), "8");
}

TEST_F(StartTest, WhatKubeletsReportIsAmplifiedEachTime) {
  options_.shapes = {*ParseNodeShape("cpu=8,memory=16Gi")};
  options_.defaults = true;
  options_.manager_flags = {"--feature-gates=NodeMutatingWebhook=true"};
  Start();
  RunUntilReady();
  Patch(kube::kConfigMaps, kConfig,
        R"({"data":{"resource-amplification-config":
            "{\"enable\":true,\"resourceAmplificationRatio\":{\"cpu\":1.5}}"}})");
  for (int minute = 0; minute < 12; ++minute) {
    loop_.Advance(1min);
    EXPECT_EQ(AllocatableCpu("node-0"), "12") << minute;
  }
  Patch(kube::kConfigMaps, kConfig,
        R"({"data":{"resource-amplification-config":"{\"enable\":false}"}})");
  loop_.Advance(6min);
  EXPECT_EQ(AllocatableCpu("node-0"), "8");
}

TEST_F(StartTest, ScenariosStartWithoutThem) {
  Start();
  RunUntilReady();
  EXPECT_FALSE(Get(kube::kPriorityClasses, {"", "koord-prod"}).ok());
  EXPECT_FALSE(Get(kube::kConfigMaps, kConfig).ok());
}

}  // namespace
}  // namespace koord::localcluster::start_test
