#include "koordlet/runtime/pod_resources/pod_resources_proxy.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "koordlet/hooks/server/unix_listener.h"
#include "pod_resources.grpc.pb.h"

namespace koord::koordlet {
namespace {

using Context = grpc::CallbackServerContext;
using Reactor = grpc::ServerUnaryReactor;

constexpr std::chrono::seconds kAnswerTime{5};
constexpr int kMaxAnswerBytes = 16 << 20;  // the kubelet's own limit

void AddDevices(const DevicesOfPods& devices, v1::PodResources& pod) {
  const auto given = devices.find(pod.namespace_() + "/" + pod.name());
  if (given == devices.end() || pod.containers().empty()) return;
  for (const GivenDevices& each : given->second) {
    v1::ContainerDevices* added = pod.mutable_containers(0)->add_devices();
    added->set_resource_name(each.resource);
    for (const std::string& id : each.ids) added->add_device_ids(id);
  }
}

// Passes each call on to the kubelet. On gRPC's threads: nothing of koordlet is touched but a copy
// of the devices.
class Service final : public v1::PodResourcesLister::CallbackService {
 public:
  explicit Service(const std::string& kubelet_socket) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMaxAnswerBytes);
    kubelet_ = v1::PodResourcesLister::NewStub(grpc::CreateCustomChannel(
        "unix://" + kubelet_socket, grpc::InsecureChannelCredentials(), arguments));
  }

  ~Service() override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return calls_ == 0; });
  }

  void SetDevices(DevicesOfPods devices) {
    const std::lock_guard lock(mutex_);
    devices_ = std::make_shared<const DevicesOfPods>(std::move(devices));
  }

  Reactor* List(Context* context, const v1::ListPodResourcesRequest* request,
                v1::ListPodResourcesResponse* response) override {
    const auto ask = [this, request, response](grpc::ClientContext* call, Done done) {
      kubelet_->async()->List(call, request, response, std::move(done));
    };
    return PassOn(context, ask, [response](const DevicesOfPods& devices) {
      for (v1::PodResources& pod : *response->mutable_pod_resources()) AddDevices(devices, pod);
    });
  }

  Reactor* Get(Context* context, const v1::GetPodResourcesRequest* request,
               v1::GetPodResourcesResponse* response) override {
    const auto ask = [this, request, response](grpc::ClientContext* call, Done done) {
      kubelet_->async()->Get(call, request, response, std::move(done));
    };
    return PassOn(context, ask, [response](const DevicesOfPods& devices) {
      if (response->has_pod_resources()) AddDevices(devices, *response->mutable_pod_resources());
    });
  }

  Reactor* GetAllocatableResources(Context* context, const v1::AllocatableResourcesRequest* request,
                                   v1::AllocatableResourcesResponse* response) override {
    const auto ask = [this, request, response](grpc::ClientContext* call, Done done) {
      kubelet_->async()->GetAllocatableResources(call, request, response, std::move(done));
    };
    return PassOn(context, ask, [](const DevicesOfPods&) {});
  }

 private:
  using Done = std::function<void(grpc::Status)>;

  std::shared_ptr<grpc::ClientContext> NewCall() {
    auto context = std::make_shared<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + kAnswerTime);
    const std::lock_guard lock(mutex_);
    ++calls_;
    return context;
  }

  // `ask` asks the kubelet, `add` puts the devices into its answer.
  template <class Ask, class Add>
  Reactor* PassOn(Context* context, const Ask& ask, Add add) {
    Reactor* const reactor = context->DefaultReactor();
    const auto call = NewCall();
    ask(call.get(), [this, call, reactor, add](const grpc::Status& status) {
      add(*Devices());
      End(reactor, status);
    });
    return reactor;
  }

  void End(Reactor* reactor, const grpc::Status& status) {
    reactor->Finish(status);
    const std::lock_guard lock(mutex_);
    --calls_;
    ended_.notify_all();
  }

  std::shared_ptr<const DevicesOfPods> Devices() {
    const std::lock_guard lock(mutex_);
    return devices_;
  }

  std::unique_ptr<v1::PodResourcesLister::Stub> kubelet_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int calls_ = 0;
  std::shared_ptr<const DevicesOfPods> devices_ = std::make_shared<const DevicesOfPods>();
};

}  // namespace

class PodResourcesProxy::Impl {
 public:
  explicit Impl(const std::string& kubelet_socket) : service_(kubelet_socket) {
    grpc::ServerBuilder builder;
    builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
  }

  ~Impl() {
    listener_.reset();
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }

  Status Listen(AsioLoop& loop, const std::string& socket) {
    if (server_ == nullptr) return Internal("cannot start the server of pod resources");
    ASSIGN_OR_RETURN(listener_, hooks::UnixListener::Listen(loop, socket, [this](int fd) {
                       grpc::AddInsecureChannelFromFd(server_.get(), fd);
                     }));
    return absl::OkStatus();
  }

  void SetDevices(DevicesOfPods devices) { service_.SetDevices(std::move(devices)); }

 private:
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<hooks::UnixListener> listener_;
};

PodResourcesProxy::PodResourcesProxy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PodResourcesProxy::~PodResourcesProxy() = default;

StatusOr<std::unique_ptr<PodResourcesProxy>> PodResourcesProxy::Start(AsioLoop& loop,
                                                                      const Options& options) {
  auto impl = std::make_unique<Impl>(options.kubelet_socket);
  RETURN_IF_ERROR(impl->Listen(loop, options.socket));
  return std::unique_ptr<PodResourcesProxy>(new PodResourcesProxy(std::move(impl)));
}

void PodResourcesProxy::SetDevices(DevicesOfPods devices) { impl_->SetDevices(std::move(devices)); }

}  // namespace koord::koordlet
