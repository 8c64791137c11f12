#include "koordlet/runtime/cri/cri_container_stopper.h"

#include <absl/container/flat_hash_set.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/scope.h"
#include "base/string_map.h"
#include "cri.grpc.pb.h"
#include "koordlet/host/cgroup_layout.h"

namespace koord::koordlet {
namespace {

using runtime::v1::RuntimeService;
using runtime::v1::StopContainerRequest;
using runtime::v1::StopContainerResponse;

constexpr std::chrono::seconds kAnswerTime{10};  // beyond the grace

Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return Unavailable("container runtime: {} (code {})", status.error_message(),
                     static_cast<int>(status.error_code()));
}

struct Call {
  grpc::ClientContext context;
  StopContainerRequest request;
  StopContainerResponse response;
  ContainerStopper::Done done;
};

}  // namespace

class CriContainerStopper::Impl {
 public:
  Impl(EventLoop& loop, AddressOf address_of) : loop_(loop), address_of_(std::move(address_of)) {}

  ~Impl() {
    std::unique_lock lock(mutex_);
    for (Call* call : calls_) call->context.TryCancel();
    ended_.wait(lock, [this] { return calls_.empty(); });
  }

  void Stop(std::string_view container_id, Duration grace, Done done) {
    auto stub = StubFor(container_id);
    if (!stub.ok()) {
      Answer(std::move(done), stub.status());
      return;
    }
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(grace);
    auto call = std::make_unique<Call>();
    call->context.set_deadline(std::chrono::system_clock::now() + seconds + kAnswerTime);
    call->request.set_container_id(ParseContainerId(container_id)->id);
    call->request.set_timeout(seconds.count());
    call->done = std::move(done);
    Call* const started = call.release();
    {
      const std::lock_guard lock(mutex_);
      calls_.insert(started);
    }
    (*stub)->async()->StopContainer(
        &started->context, &started->request, &started->response,
        [this, started](const grpc::Status& status) { End(started, ToStatus(status)); });
  }

 private:
  StatusOr<RuntimeService::Stub*> StubFor(std::string_view container_id) {
    ASSIGN_OR_RETURN(const ContainerId parsed, ParseContainerId(container_id));
    auto& stub = stubs_[parsed.runtime];
    if (stub == nullptr) {
      ASSIGN_OR_RETURN(const std::string address, address_of_(parsed.runtime));
      stub =
          RuntimeService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    }
    return stub.get();
  }

  // On a thread of the library.
  void End(Call* raw, Status status) {
    const std::lock_guard lock(mutex_);
    Answer(std::move(raw->done), std::move(status));
    calls_.erase(raw);
    // A call holds its channel, and a channel must not end on a thread that serves it: so it goes
    // before the destructor, which has the last hold, may go on.
    delete raw;
    ended_.notify_all();
  }

  void Answer(Done done, Status status) {
    loop_.Post(scope_.Wrap(
        [done = std::move(done), status = std::move(status)]() mutable { done(status); }));
  }

  EventLoop& loop_;
  const AddressOf address_of_;
  StringMap<std::unique_ptr<RuntimeService::Stub>> stubs_;
  std::mutex mutex_;
  std::condition_variable ended_;
  absl::flat_hash_set<Call*> calls_;
  Scope scope_;
};

CriContainerStopper::CriContainerStopper(EventLoop& loop, AddressOf address_of)
    : impl_(std::make_unique<Impl>(loop, std::move(address_of))) {}

CriContainerStopper::~CriContainerStopper() = default;

void CriContainerStopper::Stop(std::string_view container_id, Duration grace, Done done) {
  impl_->Stop(container_id, grace, std::move(done));
}

}  // namespace koord::koordlet
