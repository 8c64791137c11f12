#include "koordlet/hooks/server/hook_server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/asio_loop.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "koordlet/hooks/hook_fixture_testing.h"
#include "koordlet/hooks/server/hook_config.h"
#include "koordlet/hooks/server/unix_listener.h"
#include "runtime_hook.grpc.pb.h"

namespace koord::koordlet::hooks::hook_server_test {
namespace {

using ::runtime::v1alpha1::ContainerResourceHookRequest;
using ::runtime::v1alpha1::ContainerResourceHookResponse;
using ::runtime::v1alpha1::PodSandboxHookRequest;
using ::runtime::v1alpha1::PodSandboxHookResponse;
using ::runtime::v1alpha1::RuntimeHookService;
using ::testing::HasSubstr;

TEST(HookConfig, Vector13OfTheProxy) {
  HookNode node;
  EXPECT_EQ(HookConfigText("/var/run/koordlet/koordlet.sock", FailurePolicy::kIgnore,
                           node.hooks->runner().stages()),
            "{\n\t\"remote-endpoint\": \"/var/run/koordlet/koordlet.sock\",\n"
            "\t\"failure-policy\": \"Ignore\",\n"
            "\t\"runtime-hooks\": [\n\t\t\"PreRunPodSandbox\",\n\t\t\"PreCreateContainer\",\n"
            "\t\t\"PreUpdateContainerResources\"\n\t]\n}");
}

TEST(UnixListener, OnlyRootAndOurselves) {
  EXPECT_TRUE(MayConnect(0, 1000));
  EXPECT_TRUE(MayConnect(1000, 1000));
  EXPECT_FALSE(MayConnect(1001, 1000));
  EXPECT_FALSE(MayConnect(1001, 0));
}

class HookServerTest : public ::testing::Test {
 protected:
  Status Start(int max_message_bytes = 4 << 20) {
    auto server = HookServer::Start(loop_, node_.hooks->runner(),
                                    {.address = socket_,
                                     .host_endpoint = "/host.sock",
                                     .config_directory = dir_.path(),
                                     .max_message_bytes = max_message_bytes});
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    return absl::OkStatus();
  }

  // A BE pod whose author claims 64 CPUs.
  static PodSandboxHookRequest BatchPod(const std::string& uid) {
    PodSandboxHookRequest request;
    request.mutable_pod_meta()->set_name("p");
    request.mutable_pod_meta()->set_uid(uid);
    (*request.mutable_labels())["koordinator.sh/qosClass"] = "BE";
    (*request.mutable_annotations())["node.koordinator.sh/extended-resource-spec"] =
        R"({"containers":{"a":{"limits":{"kubernetes.io/batch-cpu":"64000"}}}})";
    request.set_cgroup_parent("/kubepods/besteffort/pod" + uid);
    return request;
  }

  // Calls from another thread, as the proxy would, while the loop runs here.
  grpc::Status Call(
      std::function<grpc::Status(RuntimeHookService::Stub&, grpc::ClientContext&)> call) {
    std::atomic<bool> done = false;
    grpc::Status status;
    std::thread client([&] {
      const auto channel =
          grpc::CreateChannel("unix:" + socket_, grpc::InsecureChannelCredentials());
      const auto stub = RuntimeHookService::NewStub(channel);
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
      status = call(*stub, context);
      done = true;
    });
    while (!done) loop_.RunOnce(std::chrono::milliseconds(5));
    client.join();
    return status;
  }

  TempDir dir_;
  const std::string socket_ = dir_.path() + "/run/koordlet.sock";
  AsioLoop loop_;
  HookNode node_{{.host = {.version = CgroupVersion::kV1, .driver = CgroupDriver::kCgroupfs}}};
  std::unique_ptr<HookServer> server_;
};

TEST_F(HookServerTest, PodsAreAnsweredAndWrittenAtOnce) {
  ASSERT_TRUE(Start().ok());
  const auto pod = TestPod(R"(
metadata: {name: p, uid: u}
spec: {containers: [{name: a, resources: {limits: {kubernetes.io/batch-cpu: 1000}}}]}
)");
  node_.AddPod(pod);
  node_.Sync();
  const PodSandboxHookRequest request = BatchPod("u");
  PodSandboxHookResponse response;
  const grpc::Status status = Call([&](auto& stub, auto& context) {
    return stub.PreRunPodSandboxHook(&context, request, &response);
  });
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.cgroup_parent(), "/kubepods/besteffort/podu");
  EXPECT_EQ(response.labels().at("koordinator.sh/qosClass"), "BE");
  EXPECT_EQ(response.resources().cpu_quota(), 100000);
  EXPECT_EQ(response.resources().cpu_shares(), 2);
  EXPECT_EQ(response.resources().memory_limit_in_bytes(), -1);
  EXPECT_EQ(node_.machine.Get(CgroupFile::kCpuQuota, "kubepods/besteffort/podu"), "100000");
}

TEST_F(HookServerTest, BatchAmountsAreThoseOfTheListedSpecAlone) {
  ASSERT_TRUE(Start().ok());
  node_.AddPod(R"(
metadata: {name: p, uid: u}
spec:
  initContainers: [{name: i, resources: {limits: {kubernetes.io/batch-cpu: 500}}}]
  containers: [{name: a, resources: {limits: {kubernetes.io/batch-cpu: 1000}}}]
)");
  node_.Sync();
  const struct {
    std::string uid, container;
    int64_t quota;
  } kCases[] = {{"u", "a", 100000}, {"u", "i", 50000}, {"u", "unheard-of", 0}, {"new", "a", 0}};
  for (const auto& test : kCases) {
    ContainerResourceHookRequest request;
    const PodSandboxHookRequest pod = BatchPod(test.uid);
    *request.mutable_pod_meta() = pod.pod_meta();
    *request.mutable_pod_labels() = pod.labels();
    *request.mutable_pod_annotations() = pod.annotations();
    request.set_pod_cgroup_parent(pod.cgroup_parent());
    request.mutable_container_meta()->set_name(test.container);
    ContainerResourceHookResponse response;
    ASSERT_TRUE(Call([&](auto& stub, auto& context) {
                  return stub.PreCreateContainerHook(&context, request, &response);
                }).ok());
    EXPECT_EQ(response.container_resources().cpu_quota(), test.quota)
        << test.uid << ' ' << test.container;
  }
}

TEST_F(HookServerTest, Vector19BestEffortContainersLoseTheirCpuset) {
  ASSERT_TRUE(Start().ok());
  TopologyView topology;
  topology.ls_pools = {{.socket = 0, .node = 0, .cpuset = "0-7"},
                       {.socket = 0, .node = 1, .cpuset = "8-15"}};
  node_.SetTopology(topology);
  ContainerResourceHookRequest request;
  request.set_pod_cgroup_parent("/kubepods/besteffort/podu");
  request.mutable_container_resources()->set_cpuset_cpus("0-63");
  request.mutable_container_resources()->set_oom_score_adj(1000);
  (*request.mutable_container_envs())["A"] = "1";
  ContainerResourceHookResponse response;
  const auto create = [&](auto& stub, auto& context) {
    return stub.PreCreateContainerHook(&context, request, &response);
  };
  ASSERT_TRUE(Call(create).ok());
  EXPECT_EQ(response.container_resources().cpuset_cpus(), "");
  EXPECT_EQ(response.container_resources().oom_score_adj(), 1000);
  EXPECT_EQ(response.container_envs().at("A"), "1");
  (*request.mutable_pod_labels())["koordinator.sh/qosClass"] = "LS";
  ASSERT_TRUE(Call(create).ok());
  EXPECT_EQ(response.container_resources().cpuset_cpus(), "0-7,8-15");
}

TEST_F(HookServerTest, StagesWithoutHooksEcho) {
  ASSERT_TRUE(Start().ok());
  ContainerResourceHookRequest request;
  (*request.mutable_container_annotations())["k"] = "v";
  ContainerResourceHookResponse response;
  ASSERT_TRUE(Call([&](auto& stub, auto& context) {
                return stub.PostStopContainerHook(&context, request, &response);
              }).ok());
  EXPECT_EQ(response.container_annotations().at("k"), "v");
  EXPECT_FALSE(response.has_container_resources());
}

TEST_F(HookServerTest, MessagesBeyondTheCapAreRefused) {
  ASSERT_TRUE(Start(1 << 16).ok());
  PodSandboxHookRequest request;
  (*request.mutable_annotations())["k"] = std::string(1 << 17, 'x');
  PodSandboxHookResponse response;
  const grpc::Status status = Call([&](auto& stub, auto& context) {
    return stub.PreRunPodSandboxHook(&context, request, &response);
  });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

// The name of each slice is in those of all below it.
TEST_F(HookServerTest, ASliceOfVeryManyPartsIsNotSpelledOut) {
  ASSERT_TRUE(Start().ok());
  PodSandboxHookRequest request = BatchPod("u");
  std::string parent;
  for (int i = 0; i < 100'000; ++i) parent += "a-";
  request.set_cgroup_parent(parent + "a.slice");
  PodSandboxHookResponse response;
  const grpc::Status status = Call([&](auto& stub, auto& context) {
    return stub.PreRunPodSandboxHook(&context, request, &response);
  });
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.cgroup_parent(), request.cgroup_parent());
}

TEST_F(HookServerTest, SocketIsPrivateAndAStaleOneIsReplaced) {
  ASSERT_TRUE(Start().ok());
  struct stat info {};
  ASSERT_EQ(stat(socket_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((dir_.path() + "/run").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_THAT(ReadFile(dir_.path() + "/koordlet.json").value(), HasSubstr("/host.sock"));
  server_.reset();
  EXPECT_NE(stat(socket_.c_str(), &info), 0);
  ASSERT_TRUE(Start().ok());
  server_.reset();
  std::ofstream(socket_) << "not a socket";
  EXPECT_THAT(std::string(Message(Start())), HasSubstr("is no socket"));
}

TEST_F(HookServerTest, NeverListensOnTheNetwork) {
  EXPECT_FALSE(
      HookServer::Start(loop_, node_.hooks->runner(), {.network = "tcp", .address = ":9999"}).ok());
}

}  // namespace
}  // namespace koord::koordlet::hooks::hook_server_test
