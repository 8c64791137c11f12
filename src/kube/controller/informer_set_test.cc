#include "kube/controller/informer_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/virtual_loop.h"
#include "kube/controller/indexes.h"
#include "kube/controller/object_server_testing.h"
#include "kube/objects/metadata_only.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"

namespace koord::kube::informer_set_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InformerSetTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.Put("/api/v1/pods", {{"metadata", {{"name", "p"}, {"namespace", "ns"}}},
                                 {"spec", {{"nodeName", "n"}}}});
    server_.Put("/api/v1/nodes", {{"metadata", {{"name", "n"}}}});
  }

  VirtualLoop loop_;
  ObjectServer server_;
  Client client_{loop_, std::make_shared<InProcessTransport>(loop_, server_), {.qps = 0}};
};

TEST_F(InformerSetTest, AsksForAKindOnceHoweverManyUseIt) {
  InformerSet set(client_);
  Informer<Pod>& pods = set.Use<Pod>(kPods);
  EXPECT_EQ(&set.Use<Pod>(kPods), &pods);
  set.Start();
  loop_.RunReady();
  EXPECT_THAT(server_.requests, ElementsAre("GET /api/v1/pods"));
  EXPECT_EQ(pods.size(), 1u);
}

TEST_F(InformerSetTest, KeepsApartWhatIsReadOrSelectedDifferently) {
  InformerSet set(client_);
  const void* pods = &set.Use<Pod>(kPods);
  EXPECT_NE(static_cast<void*>(&set.Use<MetadataOnly>(kPods)), pods);
  EXPECT_NE(&set.Use<Pod>(kPods, {.ns = "ns"}), pods);
  EXPECT_EQ(&set.Use<Pod>(kPods, {.ns = "ns"}), &set.Use<Pod>(kPods, {.ns = "ns"}));
}

TEST_F(InformerSetTest, BorrowsWhatALenderOrItsLenderHas) {
  InformerSet process(client_);
  InformerSet first(client_, {.lender = &process});
  InformerSet second(client_, {.lender = &first});
  Informer<Pod>& pods = process.Use<Pod>(kPods);
  Informer<Node>& nodes = first.Use<Node>(kNodes);
  EXPECT_EQ(&second.Use<Pod>(kPods), &pods);
  EXPECT_EQ(&second.Use<Node>(kNodes), &nodes);
  EXPECT_EQ(&second.Use<Node>(kNodes), &nodes);

  second.Start();
  loop_.RunReady();
  EXPECT_THAT(server_.requests, IsEmpty()) << "lenders start their own";
  EXPECT_FALSE(second.synced());
  EXPECT_THAT(second.Unsynced(), ElementsAre("pods", "nodes"));

  process.Start();
  first.Start();
  loop_.RunReady();
  EXPECT_TRUE(second.synced());
  EXPECT_THAT(server_.requests, ElementsAre("GET /api/v1/pods", "GET /api/v1/nodes"));

  second.Stop();
  server_.Put("/api/v1/nodes", {{"metadata", {{"name", "m"}}}});
  loop_.RunReady();
  EXPECT_EQ(nodes.size(), 2u) << "a borrower does not stop what is not its own";
}

TEST_F(InformerSetTest, TakesACopyOfAllOnlyWhereThatWillDo) {
  InformerSet lender(client_);
  InformerSet set(client_, {.lender = &lender});
  Informer<Pod>& all = lender.Use<Pod>(kPods);
  const InformerOptions running{.field_selector = "status.phase=Running"};
  EXPECT_EQ(&set.Use<Pod>(kPods, running, InformerSet::Lent::kOrAll), &all);
  EXPECT_NE(&set.Use<Pod>(kPods, running), &all);
}

TEST_F(InformerSetTest, DoesNotBorrowWhatIsToldAgainAndAgainUnlessItAsksForThat) {
  InformerSet lender(client_);
  Informer<Pod>& told_again = lender.Use<Pod>(kPods, {.resync = 1min});
  Informer<Node>& told_once = lender.Use<Node>(kNodes);
  InformerSet once(client_, {.lender = &lender});
  EXPECT_NE(&once.Use<Pod>(kPods), &told_again);
  InformerSet again(client_, {.lender = &lender});
  EXPECT_EQ(&again.Use<Pod>(kPods, {.resync = 1min}), &told_again);
  EXPECT_EQ(&again.Use<Node>(kNodes, {.resync = 1min}), &told_once);
}

TEST_F(InformerSetTest, IsNotSyncedBeforeItIsStarted) {
  InformerSet lender(client_);
  lender.Use<Pod>(kPods);
  lender.Start();
  loop_.RunReady();
  InformerSet set(client_, {.lender = &lender});
  set.Use<Pod>(kPods);
  bool told = false;
  set.WhenSynced([&] { told = true; });
  EXPECT_FALSE(set.synced()) << "more kinds may be wanted";
  set.Use<Node>(kNodes);
  set.Start();
  EXPECT_FALSE(told);
  loop_.RunReady();
  EXPECT_TRUE(told && set.synced());
  told = false;
  set.WhenSynced([&] { told = true; });
  EXPECT_TRUE(told) << "at once";
}

TEST_F(InformerSetTest, StartsWhatIsWantedLate) {
  InformerSet set(client_);
  set.Use<Pod>(kPods);
  set.Start();
  loop_.RunReady();
  ASSERT_TRUE(set.synced());
  set.Use<Node>(kNodes);
  EXPECT_THAT(set.Unsynced(), ElementsAre("nodes"));
  EXPECT_FALSE(set.synced());
  loop_.RunReady();
  EXPECT_TRUE(set.synced());
}

TEST_F(InformerSetTest, KindsThatCannotBeListedAreNamedOnce) {
  std::vector<std::string> lines;
  log::SetSink([&](std::string_view line) {
    if (line.find("cannot be listed") != line.npos) lines.emplace_back(line);
  });
  server_.refuse = [](const std::string& request) -> std::optional<ApiError> {
    if (request.find("/nodes") == request.npos) return std::nullopt;
    return ApiError::Of(404, "the server could not find the requested resource");
  };
  InformerSet lender(client_);
  InformerSet set(client_, {.lender = &lender});
  lender.Use<Node>(kNodes);
  set.Use<Node>(kNodes);
  set.Use<Pod>(kPods);
  lender.Start();
  set.Start();
  loop_.Advance(10min);
  EXPECT_THAT(lines, ElementsAre(testing::AllOf(HasSubstr("nodes"), HasSubstr("deploy/crds"),
                                                testing::Not(HasSubstr("pods")))));
  EXPECT_FALSE(set.synced());
  server_.refuse = nullptr;
  loop_.Advance(10min);
  EXPECT_TRUE(set.synced()) << "it was installed";
  EXPECT_EQ(lines.size(), 1u);
  log::SetSink(nullptr);
}

TEST_F(InformerSetTest, ABorrowerMayEndFirst) {
  InformerSet lender(client_);
  lender.Use<Pod>(kPods);
  {
    InformerSet set(client_, {.lender = &lender});
    set.Use<Pod>(kPods);
    set.Start();
  }
  lender.Start();
  loop_.RunReady();
  EXPECT_TRUE(lender.synced());
}

TEST_F(InformerSetTest, ShowsWhatAllObjectsHaveInCommon) {
  InformerSet set(client_);
  set.Use<Pod>(kPods);
  EXPECT_EQ(set.Find(kNodes), nullptr);
  const InformerSet::Source* pods = set.Find(kPods);
  ASSERT_NE(pods, nullptr);
  std::vector<std::string> seen;
  pods->Watch([&](const InformerSet::MetaPtr& before, const InformerSet::MetaPtr& after) {
    seen.push_back((before ? before->resource_version : "-") + " -> " +
                   (after ? after->name : "-"));
  });
  set.Start();
  loop_.RunReady();
  EXPECT_THAT(seen, ElementsAre("- -> p"));
  EXPECT_EQ(pods->Find({"ns", "p"})->ns, "ns");
  EXPECT_EQ(pods->Find({"ns", "q"}), nullptr);
}

TEST_F(InformerSetTest, WhoSharesACopySharesItsIndexes) {
  InformerSet set(client_);
  Informer<Pod>& pods = set.Use<Pod>(kPods);
  set.Start();
  loop_.RunReady();
  IndexByNode(pods);
  IndexByNode(pods);
  EXPECT_EQ(pods.ByIndex(kByNode, "n").size(), 1u) << "one that is added late has what is there";
  server_.Put("/api/v1/pods",
              {{"metadata", {{"name", "q"}, {"namespace", "ns"}}}, {"spec", {{"nodeName", "n"}}}});
  loop_.RunReady();
  EXPECT_EQ(pods.ByIndex(kByNode, "n").size(), 2u);
}

}  // namespace
}  // namespace koord::kube::informer_set_test
