#include "koordlet/runtime/cri/cri_container_stopper.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <mutex>

#include "base/asio_loop.h"
#include "base/temp_dir.h"
#include "cri.grpc.pb.h"

namespace koord::koordlet::cri_container_stopper_test {
namespace {

// Plays containerd.
class FakeRuntime final : public runtime::v1::RuntimeService::Service {
 public:
  explicit FakeRuntime(const std::string& socket) : address_("unix://" + socket) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeRuntime() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status StopContainer(grpc::ServerContext*, const runtime::v1::StopContainerRequest* request,
                             runtime::v1::StopContainerResponse*) override {
    const std::lock_guard lock(mutex_);
    stopped_ += request->container_id() + "/" + std::to_string(request->timeout());
    if (request->container_id() == "gone") return {grpc::StatusCode::NOT_FOUND, "no container"};
    return grpc::Status::OK;
  }

  const std::string& address() const { return address_; }
  std::string stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  const std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::string stopped_;
};

class CriContainerStopperTest : public ::testing::Test {
 protected:
  Status StopAndWait(std::string_view id, Duration grace = 0s) {
    std::optional<Status> result;
    stopper_.Stop(id, grace, [&](Status status) { result = std::move(status); });
    EXPECT_FALSE(result) << "answers never come inside the call";
    const SteadyTime deadline = loop_.clock().Steady() + 20s;
    while (!result && loop_.clock().Steady() < deadline) loop_.RunOnce(100ms);
    return result.value_or(Unavailable("no answer"));
  }

  TempDir dir_;
  AsioLoop loop_;
  FakeRuntime runtime_{dir_.File("cri.sock")};
  CriContainerStopper stopper_{loop_, [this](std::string_view runtime) -> StatusOr<std::string> {
                                 if (runtime != "containerd") return NotFound("no such runtime");
                                 return runtime_.address();
                               }};
};

TEST_F(CriContainerStopperTest, AsksTheRuntimeOfTheContainer) {
  EXPECT_EQ(StopAndWait("containerd://1a2b"), absl::OkStatus());
  EXPECT_EQ(runtime_.stopped(), "1a2b/0");
  EXPECT_EQ(StopAndWait("containerd://c3", 1500ms), absl::OkStatus());
  EXPECT_EQ(runtime_.stopped(), "1a2b/0c3/2");
}

TEST_F(CriContainerStopperTest, TellsWhatWentWrong) {
  EXPECT_EQ(Message(StopAndWait("containerd://gone")), "container runtime: no container (code 5)");
  EXPECT_FALSE(StopAndWait("cri-o://1a2b").ok());
  EXPECT_FALSE(StopAndWait("garbage").ok());
}

TEST_F(CriContainerStopperTest, EndsWhileSomethingIsUnderWay) {
  bool answered = false;
  {
    CriContainerStopper stopper(loop_, [](std::string_view) { return "unix:///nowhere.sock"; });
    stopper.Stop("containerd://1a2b", 0s, [&](Status) { answered = true; });
  }
  loop_.RunOnce(0s);
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace koord::koordlet::cri_container_stopper_test
