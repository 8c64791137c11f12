#include "koordlet/hooks/server/hook_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "base/asio_loop.h"
#include "base/log.h"
#include "koordlet/hooks/server/hook_config.h"
#include "koordlet/hooks/server/hook_messages.h"
#include "koordlet/hooks/server/unix_listener.h"
#include "runtime_hook.grpc.pb.h"

namespace koord::koordlet::hooks {
namespace {

using ::runtime::v1alpha1::ContainerResourceHookRequest;
using ::runtime::v1alpha1::ContainerResourceHookResponse;
using ::runtime::v1alpha1::PodSandboxHookRequest;
using ::runtime::v1alpha1::PodSandboxHookResponse;
using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

grpc::Status ToGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {grpc::StatusCode::UNKNOWN, std::string(Message(status))};
}

// Hands calls from gRPC's threads over to the loop. Each is answered exactly once: by its task on
// the loop, or by Stop if that comes first.
class CallQueue {
 public:
  using Answer = std::function<grpc::Status()>;

  explicit CallQueue(EventLoop& loop) : loop_(loop) {}

  Reactor* Add(Context& context, Answer answer) {
    Reactor* reactor = context.DefaultReactor();
    const std::lock_guard lock(state_->mutex);
    if (state_->is_stopped) {
      reactor->Finish(Stopping());
      return reactor;
    }
    const uint64_t id = state_->next_id++;
    state_->calls.emplace(id, reactor);
    loop_.Post([state = state_, id, answer = std::move(answer)] {
      if (Reactor* waiting = Take(*state, id)) waiting->Finish(answer());
    });
    return reactor;
  }

  void Stop() {
    std::map<uint64_t, Reactor*> calls;
    {
      const std::lock_guard lock(state_->mutex);
      state_->is_stopped = true;
      calls.swap(state_->calls);
    }
    for (const auto& [id, reactor] : calls) reactor->Finish(Stopping());
  }

 private:
  struct State {
    std::mutex mutex;
    bool is_stopped = false;
    uint64_t next_id = 1;
    std::map<uint64_t, Reactor*> calls;  // not answered yet
  };

  static grpc::Status Stopping() {
    return {grpc::StatusCode::UNAVAILABLE, "the hook server is stopping"};
  }
  static Reactor* Take(State& state, uint64_t id) {
    const std::lock_guard lock(state.mutex);
    const auto found = state.calls.find(id);
    if (found == state.calls.end()) return nullptr;
    Reactor* reactor = found->second;
    state.calls.erase(found);
    return reactor;
  }

  EventLoop& loop_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class Service final : public ::runtime::v1alpha1::RuntimeHookService::CallbackService {
 public:
  Service(EventLoop& loop, HookRunner& runner) : queue_(loop), runner_(runner) {}

  void Stop() { queue_.Stop(); }

  Reactor* PreRunPodSandboxHook(Context* context, const PodSandboxHookRequest* request,
                                PodSandboxHookResponse* response) override {
    return OnPod(HookStage::kPreRunPodSandbox, *context, *request, *response);
  }
  Reactor* PostStopPodSandboxHook(Context* context, const PodSandboxHookRequest* request,
                                  PodSandboxHookResponse* response) override {
    return OnPod(HookStage::kPostStopPodSandbox, *context, *request, *response);
  }
  Reactor* PreCreateContainerHook(Context* context, const ContainerResourceHookRequest* request,
                                  ContainerResourceHookResponse* response) override {
    return OnContainer(HookStage::kPreCreateContainer, *context, *request, *response);
  }
  Reactor* PreStartContainerHook(Context* context, const ContainerResourceHookRequest* request,
                                 ContainerResourceHookResponse* response) override {
    return OnContainer(HookStage::kPreStartContainer, *context, *request, *response);
  }
  Reactor* PostStartContainerHook(Context* context, const ContainerResourceHookRequest* request,
                                  ContainerResourceHookResponse* response) override {
    return OnContainer(HookStage::kPostStartContainer, *context, *request, *response);
  }
  Reactor* PostStopContainerHook(Context* context, const ContainerResourceHookRequest* request,
                                 ContainerResourceHookResponse* response) override {
    return OnContainer(HookStage::kPostStopContainer, *context, *request, *response);
  }
  Reactor* PreUpdateContainerResourcesHook(Context* context,
                                           const ContainerResourceHookRequest* request,
                                           ContainerResourceHookResponse* response) override {
    return OnContainer(HookStage::kPreUpdateContainerResources, *context, *request, *response);
  }

 private:
  Reactor* OnPod(HookStage stage, Context& context, const PodSandboxHookRequest& request,
                 PodSandboxHookResponse& response) {
    return queue_.Add(context, [this, stage, &request, &response] {
      const HookPod pod = runner_.MakePod(DescriptionOf(request));
      PodResult result;
      const Status status = runner_.RunPod(stage, pod, result);
      const Status written = runner_.writer().WritePod(pod, result);
      if (!written.ok()) {
        LOG_WARNING("Could not write what hooks set for a pod", {"pod", pod.key()},
                    {"error", written});
      }
      Fill(request, result, response);
      return ToGrpc(status);
    });
  }

  Reactor* OnContainer(HookStage stage, Context& context,
                       const ContainerResourceHookRequest& request,
                       ContainerResourceHookResponse& response) {
    return queue_.Add(context, [this, stage, &request, &response] {
      const HookPod pod = runner_.MakePod(PodDescriptionOf(request));
      const HookContainer container = runner_.MakeContainer(pod, DescriptionOf(request));
      ContainerResult result;
      const Status status = runner_.RunContainer(stage, container, result);
      Fill(request, result, response);
      return ToGrpc(status);
    });
  }

  CallQueue queue_;
  HookRunner& runner_;
};

}  // namespace

class HookServer::Impl {
 public:
  Impl(AsioLoop& loop, HookRunner& runner, int max_message_bytes) : service_(loop, runner) {
    static std::once_flag reflection;
    std::call_once(reflection, [] { grpc::reflection::InitProtoReflectionServerBuilderPlugin(); });
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(max_message_bytes);
    builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
  }

  ~Impl() {
    listener_.reset();
    service_.Stop();
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }

  bool is_running() const { return server_ != nullptr; }

  Status Listen(AsioLoop& loop, const std::string& path) {
    ASSIGN_OR_RETURN(listener_, UnixListener::Listen(loop, path, [this](int fd) {
                       grpc::AddInsecureChannelFromFd(server_.get(), fd);
                     }));
    return absl::OkStatus();
  }

 private:
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<UnixListener> listener_;
};

HookServer::HookServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HookServer::~HookServer() = default;

StatusOr<std::unique_ptr<HookServer>> HookServer::Start(AsioLoop& loop, HookRunner& runner,
                                                        HookServerOptions options) {
  if (options.network != "unix") {
    return InvalidArgument(
        "runtime-hooks-network is {}, expected unix: nothing else keeps others "
        "from changing pods",
        Quote(options.network));
  }
  auto impl = std::make_unique<Impl>(loop, runner, options.max_message_bytes);
  if (!impl->is_running()) return Internal("cannot start the hook server");
  RETURN_IF_ERROR(impl->Listen(loop, options.address));
  if (!options.config_directory.empty()) {
    const auto stages = runner.stages();
    RETURN_IF_ERROR(
        WriteHookConfig(options.config_directory,
                        HookConfigText(options.host_endpoint, options.failure_policy, stages)));
  }
  return std::unique_ptr<HookServer>(new HookServer(std::move(impl)));
}

}  // namespace koord::koordlet::hooks
