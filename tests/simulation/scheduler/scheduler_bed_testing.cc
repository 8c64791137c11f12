#include "simulation/scheduler/scheduler_bed_testing.h"

#include <fmt/format.h>

#include "localcluster/scheduler/local_scheduler.h"
#include "scheduler/config/scheduler_gates.h"
#include "simulation/scheduler/simulation_world_testing.h"

namespace koord::localcluster {

using kube::Json;
using kube::json::array;

std::shared_ptr<kube::Transport::Call> HoldingTransport::Send(kube::HttpRequest request,
                                                              Duration timeout, Done done) {
  if (!holds_ || !request.target.ends_with("/binding")) {
    return inner_->Send(std::move(request), timeout, std::move(done));
  }
  return inner_->Send(std::move(request), timeout,
                      [this, done = std::move(done)](StatusOr<kube::HttpResponse> answer) mutable {
                        held_.emplace_back(std::move(done), std::move(answer));
                      });
}

std::unique_ptr<kube::Transport::Stream> HoldingTransport::Open(kube::HttpRequest request,
                                                                StreamEvents events) {
  return inner_->Open(std::move(request), std::move(events));
}

void HoldingTransport::LetGo() {
  holds_ = false;
  for (auto& [done, answer] : std::exchange(held_, {})) done(std::move(answer));
}

void HoldingTransport::Lose() {
  holds_ = false;
  for (auto& [done, answer] : std::exchange(held_, {})) done(Unavailable("connection reset"));
}

SchedulerBed::SchedulerBed(Options options) {
  if (options.node_metrics) simulation::InstallNodeMetrics(server);
  if (options.reservations) simulation::InstallReservations(server);
  scheduler::SchedulerApp::Options app_options{.configuration = LocalSchedulerConfiguration(),
                                               .gates = scheduler::SchedulerFeatureGates(),
                                               .api = &api};
  if (options.settings) {
    app_options.configuration.extenders.push_back(*std::move(options.settings));
  }
  if (options.extender != nullptr) {
    app_options.connect = [this, extender = options.extender](const kube::ClientConfig&) {
      return std::make_shared<kube::InProcessTransport>(server.loop, *extender);
    };
  }
  auto made = scheduler::SchedulerApp::Make(server.loop, client, std::move(app_options));
  EXPECT_TRUE(made.ok()) << Message(made.status());
  app = std::move(*made);
  app->Watch();
  app->Lead();
}

void SchedulerBed::Create(const std::string& target, const Json& object) {
  const auto answer = server.Post(target, object);
  EXPECT_EQ(answer.code, 201) << answer.body;
}

void SchedulerBed::AddPriorityClass(std::string_view name, int64_t value) {
  Create("/apis/scheduling.k8s.io/v1/priorityclasses",
         {{"metadata", {{"name", name}}}, {"value", value}});
}

void SchedulerBed::AddNode(const std::string& name) {
  const Json resources{{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "10"}};
  Create("/api/v1/nodes",
         {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
          {"status",
           {{"capacity", resources},
            {"allocatable", resources},
            {"conditions", array{{{"type", "Ready"}, {"status", "True"}}}}}}});
}

void SchedulerBed::PatchPod(const std::string& name, const Json& patch) {
  const auto answer = server.MergePatch(fmt::format("{}/{}", kPods, name), patch);
  EXPECT_EQ(answer.code, 200) << answer.body;
}

Json SchedulerBed::Pod(std::string_view name, std::string_view cpu) {
  return {
      {"metadata", {{"name", name}}},
      {"spec",
       {{"containers",
         array{{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}}};
}

Json SchedulerBed::Reservation(std::string_view name, std::string_view cpu) {
  return {{"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
          {"kind", "Reservation"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"template", Pod("", cpu)},
            {"owners", array{{{"labelSelector", {{"matchLabels", {{"app", "owner"}}}}}}}},
            {"ttl", "24h"}}}};
}

std::string SchedulerBed::NodeOf(const std::string& pod) {
  return std::string(server.Get(fmt::format("{}/{}", kPods, pod)).String({"spec", "nodeName"}));
}

}  // namespace koord::localcluster
