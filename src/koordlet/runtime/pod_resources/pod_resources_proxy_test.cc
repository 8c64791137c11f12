#include "koordlet/runtime/pod_resources/pod_resources_proxy.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/asio_loop.h"
#include "base/temp_dir.h"
#include "koordlet/informers/pod_book.h"
#include "koordlet/testing/test_pod.h"
#include "kube/yaml.h"
#include "pod_resources.grpc.pb.h"

namespace koord::koordlet::pod_resources_proxy_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kDevice[] = R"(
metadata: {name: n}
spec:
  devices:
  - {type: gpu, id: GPU-a, minor: 0, health: true}
  - {type: gpu, id: GPU-b, minor: 1, health: true}
  - {type: rdma, id: "0000:1f:00.0", minor: 0, health: true}
)";

DevicesOfPods Read(const std::string& allocated) {
  auto pod = std::make_shared<kube::Pod>(
      *TestPod("metadata: {name: p}\nspec: {containers: [{name: a}]}\n"));
  pod->metadata.annotations["scheduling.koordinator.sh/device-allocated"] = allocated;
  const NodePods pods{MakeNodePod(pod, {CgroupVersion::kV2, CgroupDriver::kSystemd})};
  const auto device = kube::Decode<api::Device>(*kube::ParseYaml(kDevice));
  return ReadGivenDevices(pods, &*device);
}

TEST(ReadGivenDevices, GpusByUuidAndRdmaByBusId) {
  const DevicesOfPods devices =
      Read(R"({"gpu":[{"minor":0},{"minor":1}],"rdma":[{"minor":0,"extension":
              {"vfs":[{"busID":"0000:1f:00.2"},{"busID":"0000:1f:00.3"}]}}]})");
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_THAT(devices.at("default/p"),
              ElementsAre(GivenDevices{"nvidia.com/gpu", {"GPU-a", "GPU-b"}},
                          GivenDevices{"koordinator.sh/rdma", {"0000:1f:00.2", "0000:1f:00.3"}}));
  EXPECT_EQ(Read(R"({"rdma":[{"minor":0}]})").at("default/p")[0].ids,
            std::vector<std::string>{"0000:1f:00.0"});
}

TEST(ReadGivenDevices, NothingThatTheNodeDoesNotHave) {
  EXPECT_THAT(Read(R"({"gpu":[{"minor":9}]})"), IsEmpty());
  EXPECT_THAT(Read("{"), IsEmpty());
}

class FakeKubelet final : public v1::PodResourcesLister::Service {
 public:
  explicit FakeKubelet(const std::string& socket) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix://" + socket, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeKubelet() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status List(grpc::ServerContext*, const v1::ListPodResourcesRequest*,
                    v1::ListPodResourcesResponse* response) override {
    for (const char* name : {"p", "other"}) {
      v1::PodResources* pod = response->add_pod_resources();
      pod->set_name(name);
      pod->set_namespace_("default");
      pod->add_containers()->set_name("a");
      pod->add_containers()->set_name("b");
    }
    return grpc::Status::OK;
  }

 private:
  std::unique_ptr<grpc::Server> server_;
};

TEST(PodResourcesProxy, AddsDevicesToTheKubeletsAnswer) {
  TempDir dir;
  const std::string kubelet_socket = dir.File("kubelet.sock");
  const std::string socket = dir.File("proxy/kubelet.sock");
  auto kubelet = std::make_unique<FakeKubelet>(kubelet_socket);
  AsioLoop loop;
  auto proxy = PodResourcesProxy::Start(loop, {socket, kubelet_socket});
  ASSERT_TRUE(proxy.ok()) << Message(proxy.status());
  (*proxy)->SetDevices({{"default/p", {{"nvidia.com/gpu", {"GPU-a"}}}}});

  v1::ListPodResourcesResponse answer;
  grpc::Status status, without_kubelet;
  std::thread client([&] {
    const auto stub = v1::PodResourcesLister::NewStub(
        grpc::CreateChannel("unix://" + socket, grpc::InsecureChannelCredentials()));
    const auto list = [&] {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
      return stub->List(&context, {}, &answer);
    };
    status = list();
    kubelet.reset();
    v1::ListPodResourcesResponse kept = answer;
    without_kubelet = list();
    answer = kept;
    loop.Post([&] { loop.Stop(); });
  });
  loop.Run();
  client.join();
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(answer.pod_resources_size(), 2);
  const v1::PodResources& pod = answer.pod_resources(0);
  ASSERT_EQ(pod.containers(0).devices_size(), 1);
  EXPECT_EQ(pod.containers(0).devices(0).resource_name(), "nvidia.com/gpu");
  EXPECT_THAT(pod.containers(0).devices(0).device_ids(), ElementsAre("GPU-a"));
  EXPECT_EQ(pod.containers(1).devices_size(), 0) << "only the first container";
  EXPECT_EQ(answer.pod_resources(1).containers(0).devices_size(), 0);
  EXPECT_FALSE(without_kubelet.ok()) << "what the kubelet does not say, nobody makes up";
}

}  // namespace
}  // namespace koord::koordlet::pod_resources_proxy_test
