#include "scheduler/plugins/default_binder/default_binder.h"

#include <gtest/gtest.h>

#include <optional>

#include "api/output_keys.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::default_binder_test {
namespace {

const std::string kCpus(api::kAnnotationResourceStatus);
const std::string kDevices(api::kAnnotationDeviceAllocated);

class DefaultBinderTest : public testing::Test {
 protected:
  DefaultBinderTest() {
    bed_.context.client = &client_;
    binder_.emplace(bed_.context);
    attempt_.pod = PodOf("{metadata: {name: p, namespace: ns, uid: u1}}");
    attempt_.node = "a";
  }

  kube::ScriptedHandler::Exchange Bind() {
    binder_->Bind(attempt_, [this](Verdict verdict) { verdict_ = std::move(verdict); });
    bed_.loop.RunReady();
    return server_.Take();
  }
  // The answer to the binding is lost; the pod looks like this.
  void BindAndFind(const kube::Json& pod) {
    Bind().Drop();
    bed_.loop.RunReady();
    auto asked = server_.Take();
    EXPECT_EQ(asked.request.method, "GET");
    asked.Answer(pod);
    bed_.loop.RunReady();
    ASSERT_TRUE(verdict_);
  }

  PluginBed bed_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      bed_.loop, std::make_shared<kube::InProcessTransport>(bed_.loop, server_), {.qps = 0}};
  std::optional<DefaultBinder> binder_;
  Attempt attempt_;
  std::optional<Verdict> verdict_;
};

TEST_F(DefaultBinderTest, NamesThePodAndTheNode) {
  auto exchange = Bind();
  EXPECT_EQ(exchange.request.method, "POST");
  EXPECT_EQ(exchange.request.target, "/api/v1/namespaces/ns/pods/p/binding");
  EXPECT_EQ(*kube::ParseJson(exchange.request.body),
            (kube::Json{{"apiVersion", "v1"},
                        {"kind", "Binding"},
                        {"metadata", {{"namespace", "ns"}, {"name", "p"}, {"uid", "u1"}}},
                        {"target", {{"kind", "Node"}, {"name", "a"}}}}));
  exchange.Answer(201, "{}");
  bed_.loop.RunReady();
  ASSERT_TRUE(verdict_);
  EXPECT_TRUE(verdict_->ok());
}

TEST_F(DefaultBinderTest, SendsWhatThePodWasGivenInTheSameWrite) {
  attempt_.annotations = {{kCpus, R"({"cpuset":"0-3"})"}, {"example.com/other", "1"}};
  const kube::Json binding = *kube::ParseJson(Bind().request.body);
  EXPECT_EQ(*kube::Find(binding, {"metadata", "annotations"}),
            (kube::Json{{kCpus, R"({"cpuset":"0-3"})"}, {"example.com/other", "1"}}));
}

TEST_F(DefaultBinderTest, ABindingWhoseAnswerIsLostIsFoundOnThePod) {
  attempt_.annotations = {{kCpus, "0-3"}};
  BindAndFind({{"metadata", {{"uid", "u1"}, {"annotations", {{kCpus, "0-3"}, {"other", "1"}}}}},
               {"spec", {{"nodeName", "a"}}}});
  EXPECT_TRUE(verdict_->ok());
}

TEST_F(DefaultBinderTest, ABindingThatDidNotHappenIsAnError) {
  BindAndFind({{"metadata", {{"uid", "u1"}}}, {"spec", kube::json::object()}});
  EXPECT_EQ(verdict_->code, Code::kError);
}

// An earlier attempt's binding has arrived late: the CPUs of this one are not the pod's.
TEST_F(DefaultBinderTest, ABindingToTheSameNodeWithOtherCpusIsNotThisOne) {
  attempt_.annotations = {{kCpus, "0-3"}};
  BindAndFind({{"metadata", {{"uid", "u1"}, {"annotations", {{kCpus, "4-7"}}}}},
               {"spec", {{"nodeName", "a"}}}});
  EXPECT_EQ(verdict_->code, Code::kError);
}

TEST_F(DefaultBinderTest, ABindingThatGaveMoreIsNotThisOne) {
  BindAndFind({{"metadata", {{"uid", "u1"}, {"annotations", {{kDevices, "{}"}}}}},
               {"spec", {{"nodeName", "a"}}}});
  EXPECT_EQ(verdict_->code, Code::kError);
}

}  // namespace
}  // namespace koord::scheduler::default_binder_test
