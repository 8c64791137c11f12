#include "localcluster/scenario/live_environment.h"

#include <fmt/format.h>

#include "base/version.h"
#include "kube/client/kubeconfig.h"
#include "kube/resources.h"

namespace koord::scenario {

StatusOr<std::unique_ptr<LiveEnvironment>> LiveEnvironment::Connect(const std::string& kubeconfig) {
  std::unique_ptr<LiveEnvironment> environment(new LiveEnvironment());
  ASSIGN_OR_RETURN(const kube::ClientConfig config,
                   kube::LoadClientConfig({.kubeconfig = kubeconfig}));
  ASSIGN_OR_RETURN(auto transport, kube::MakeTransport(environment->loop_, config));
  environment->client_ = std::make_unique<kube::Client>(
      environment->loop_, std::move(transport),
      kube::Client::Options{.user_agent = fmt::format("koord-test/{}", kVersion)});
  RETURN_IF_ERROR(environment->CreateNamespace());
  return environment;
}

Status LiveEnvironment::CreateNamespace() {
  const kube::Json manifest{
      {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"generateName", "koord-test-"}}}};
  const StatusOr<kube::Json> made = Await(*this, [&](kube::Client::Done done) {
    client_->Create(kube::kNamespaces, "", manifest, {}, std::move(done));
  });
  RETURN_IF_ERROR(made.status());
  ns_ = kube::FindString(*made, {"metadata", "name"});
  return absl::OkStatus();
}

LiveEnvironment::~LiveEnvironment() {
  if (ns_.empty()) return;
  cluster_scoped_.emplace_back(kube::kNamespaces, kube::ObjectKey{"", ns_});
  for (auto it = cluster_scoped_.rbegin(); it != cluster_scoped_.rend(); ++it) {
    // Best effort: what cannot be deleted now is not the scenario's fault.
    (void)Await(*this, [&](kube::Client::Done done) {
      client_->Delete(it->first, it->second, {.propagation_policy = "Background"}, std::move(done));
    });
  }
}

void LiveEnvironment::Created(const kube::Resource& resource, const kube::ObjectKey& key) {
  if (!resource.namespaced) cluster_scoped_.emplace_back(resource, key);
}

bool LiveEnvironment::RunUntil(const std::function<bool()>& done) {
  const SteadyTime deadline = loop_.clock().Steady() + std::chrono::minutes(1);
  while (!done() && loop_.clock().Steady() < deadline) {
    loop_.RunOnce(std::chrono::milliseconds(100));
  }
  return done();
}

void LiveEnvironment::Advance(Duration span) {
  const SteadyTime end = loop_.clock().Steady() + span;
  while (loop_.clock().Steady() < end) loop_.RunOnce(end - loop_.clock().Steady());
}

}  // namespace koord::scenario
