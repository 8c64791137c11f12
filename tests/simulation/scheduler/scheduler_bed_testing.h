#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/client/client.h"
#include "kube/json.h"
#include "kube/transport/in_process_transport.h"
#include "localcluster/apiserver/server_testing.h"
#include "scheduler/program/scheduler_app.h"

namespace koord::localcluster {

// The network of a test: what the API server answers to a binding can be held back, to arrive late
// or never.
class HoldingTransport final : public kube::Transport {
 public:
  explicit HoldingTransport(std::shared_ptr<kube::Transport> inner) : inner_(std::move(inner)) {}

  void Hold() { holds_ = true; }
  size_t held() const { return held_.size(); }
  void LetGo();
  void Lose();

  std::shared_ptr<Call> Send(kube::HttpRequest request, Duration timeout, Done done) override;
  std::unique_ptr<Stream> Open(kube::HttpRequest request, StreamEvents events) override;

 private:
  std::shared_ptr<kube::Transport> inner_;
  bool holds_ = false;
  std::vector<std::pair<Done, StatusOr<kube::HttpResponse>>> held_;
};

// For tests: one scheduler that leads, as the local cluster configures it, and an API server.
struct SchedulerBed {
  static constexpr char kPods[] = "/api/v1/namespaces/default/pods";

  struct Options {
    // It is reached through `extender` whatever its address.
    std::optional<scheduler::Extender> settings = {};
    kube::HttpHandler* extender = nullptr;
    bool node_metrics = true;   // their definition is installed
    bool reservations = false;  // theirs, too
  };

  SchedulerBed() : SchedulerBed(Options{}) {}
  explicit SchedulerBed(Options options);

  void Create(const std::string& target, const kube::Json& object);
  void AddPriorityClass(std::string_view name, int64_t value);
  void AddNode(const std::string& name);  // 4 CPUs
  void PatchPod(const std::string& name, const kube::Json& patch);
  static kube::Json Pod(std::string_view name, std::string_view cpu);
  // For pods with the label app=owner.
  static kube::Json Reservation(std::string_view name, std::string_view cpu);
  std::string NodeOf(const std::string& pod);  // "": none

  apiserver::TestServer server;
  std::shared_ptr<HoldingTransport> network = std::make_shared<HoldingTransport>(
      std::make_shared<kube::InProcessTransport>(server.loop, *server.server));
  kube::Client client{server.loop, network, {.user_agent = "test", .qps = 0}};
  program::ComponentApi api;
  std::unique_ptr<scheduler::SchedulerApp> app;
};

}  // namespace koord::localcluster
