#include "koordlet/program/koordlet_component.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/log.h"
#include "base/metrics/process_metrics.h"
#include "base/trim_memory.h"
#include "koordlet/hooks/tc_network_qos/process_network_control.h"
#include "koordlet/host/directory_tree.h"
#include "koordlet/host/discovery.h"
#include "koordlet/metrics/gpu/nvml.h"
#include "koordlet/qos/eviction/api_evictor.h"
#include "koordlet/qos/eviction/runtime_evictor.h"
#include "koordlet/runtime/cri/cri_container_stopper.h"
#include "koordlet/runtime/runtime_sockets.h"
#include "kube/transport/http_transport.h"

namespace koord::koordlet {
namespace {

constexpr char kTerwayDirectory[] = "/host-var-lib/terway/qos/";
constexpr Duration kWatchRetry = std::chrono::minutes(1);
constexpr uint64_t kMaxKubeletAnswer = 64 << 20;

kube::HttpResponse TextOf(std::initializer_list<const metrics::Registry*> registries) {
  kube::HttpResponse response;
  response.headers.Set("Content-Type", std::string(metrics::kTextContentType));
  for (const metrics::Registry* registry : registries) response.body += registry->Text();
  return response;
}

// "unix:///run/x.sock" stays, "/run/x.sock" becomes that.
std::string GrpcAddress(const std::string& endpoint) {
  return endpoint.starts_with('/') ? "unix://" + endpoint : endpoint;
}

// For what a library in a container shares with the node; whoever runs there may be anybody.
Status RecreateDirectory(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) std::filesystem::create_directories(path, error);
  if (!error) std::filesystem::permissions(path, std::filesystem::perms::all, error);
  return error ? Internal("{}: {}", path, error.message()) : absl::OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<program::Component>> KoordletComponent::Make(
    program::Environment& environment, const KoordletFlags& flags,
    const kube::ClientConfig& api_server) {
  std::unique_ptr<KoordletComponent> component(new KoordletComponent());
  ASSIGN_OR_RETURN(component->host_, DiscoverAnyHost(flags.paths().host));
  component->xpu_files_ =
      std::make_unique<DirectoryTree>(flags.paths().xpu_device_infos, DirectoryTree::Options{});
  const KoordletOptions& options = flags.options();
  RETURN_IF_ERROR(component->OpenAuditLog(environment, options));
  component->FindGpus(options, environment.loop.clock());
  component->MakeEvictor(environment, flags);
  component->MakeHookTools(environment, options);
  component->MakeKubelet(environment, flags, api_server);
  component->MakeKoordlet(environment, flags);
  component->MakeWatches(environment, options);
  component->ServeHooks(environment.asio_loop, options);
  component->ServePodResources(environment.asio_loop, flags);
  component->watch_timer_ = std::make_unique<Timer>(environment.loop);
  component->WatchCgroups(environment.asio_loop, flags.paths().host.cgroup);
  component->Serve(environment.api, options.gates);
  return component;
}

Status KoordletComponent::OpenAuditLog(program::Environment& environment,
                                       const KoordletOptions& options) {
  if (!options.gates.Enabled("AuditEvents")) return absl::OkStatus();
  random_ = Random(environment.seed);
  AuditLog::Options audit;
  audit.directory = options.audit.directory;
  audit.verbose = options.audit.verbosity;
  audit.max_bytes = options.audit.max_megabytes << 20;
  audit.max_readers = static_cast<size_t>(std::max(options.audit.max_readers, 1));
  audit.max_events = static_cast<size_t>(std::max(options.audit.max_events, 1));
  ASSIGN_OR_RETURN(audit_, AuditLog::Open(environment.loop, random_, audit));
  return absl::OkStatus();
}

void KoordletComponent::FindGpus(const KoordletOptions& options, const Clock& clock) {
  if (!options.gates.Enabled("Accelerators") || options.only_xpu_files) return;
  StatusOr<std::unique_ptr<GpuDevices>> gpus = LoadNvml(host_->sys(), clock);
  if (gpus.ok()) {
    gpus_ = *std::move(gpus);
  } else {
    LOG_INFO("No GPUs are asked of a driver", {"reason", gpus.status()});
  }
}

void KoordletComponent::MakeEvictor(program::Environment& environment, const KoordletFlags& flags) {
  const KoordletOptions& options = flags.options();
  if (options.dry_run) return;  // nobody has to go
  evictions_ = std::make_unique<EvictionRecord>(environment.loop, internal_, audit_.get(),
                                                options.node_name);
  if (options.only_evict_by_api) {
    events_ = kube::MakeCoreEventRecorder(
        environment.client, {.component = "koordlet-qosManager", .host = options.node_name});
    evictor_ = std::make_unique<ApiEvictor>(environment.client, *events_, *evictions_);
    return;
  }
  const std::string var_run = flags.paths().host.var_run;
  stopper_ = std::make_unique<CriContainerStopper>(
      environment.loop,
      [this, var_run,
       endpoints = flags.paths().endpoints](std::string_view runtime) -> StatusOr<std::string> {
        const auto socket = FindRuntimeSocket(host_->var_run(), runtime);
        if (socket) return fmt::format("unix://{}/{}", var_run, *socket);
        const auto stated = endpoints.find(runtime);
        if (stated == endpoints.end() || stated->second.empty()) {
          return NotFound("there is no socket of {} in {}", runtime, var_run);
        }
        return GrpcAddress(stated->second);
      });
  evictor_ = std::make_unique<RuntimeEvictor>(*stopper_, *evictions_);
}

void KoordletComponent::MakeHookTools(program::Environment& environment,
                                      const KoordletOptions& options) {
  hook_events_ = kube::MakeCoreEventRecorder(environment.client,
                                             {.component = "koordlet", .host = options.node_name});
  if (options.gates.Enabled("BlkIOReconcile")) {
    claims_ = std::make_unique<VolumeClaims>(environment.loop, environment.client);
  }
  if (options.dry_run) return;  // neither goes through the writer of kernel files
  // Also where the gates are off now: what they did before may have to be put back.
  network_ = hooks::MakeProcessNetworkControl(environment.asio_loop);
  terway_ = hooks::MakeTerwayFiles(kTerwayDirectory);
}

void KoordletComponent::TellOfPod(const hooks::HookPod& pod, std::string_view reason,
                                  std::string_view message) {
  kube::EventRecorder::Note note;
  note.regarding.api_version = "v1";
  note.regarding.kind = "Pod";
  note.regarding.ns = pod.ns;
  note.regarding.name = pod.name;
  note.regarding.uid = pod.uid;
  note.reason = reason;
  note.message = message;
  hook_events_->Record(note);
}

void KoordletComponent::MakeKubelet(program::Environment& environment, const KoordletFlags& flags,
                                    const kube::ClientConfig& api_server) {
  const KoordletOptions& options = flags.options();
  const auto connect = [&loop = environment.asio_loop, api_server, kubelet = options.kubelet](
                           const kube::Node& node) -> StatusOr<std::shared_ptr<kube::Transport>> {
    ASSIGN_OR_RETURN(const kube::ClientConfig config,
                     KubeletClientConfig(node, api_server, kubelet));
    LOG_INFO("Asking the kubelet", {"url", config.server},
             {"verified", !config.insecure_skip_tls_verify});
    kube::HttpTransport::Options transport;
    transport.max_answer = kMaxKubeletAnswer;
    transport.max_connections = 2;
    return kube::HttpTransport::Make(loop, config, transport);
  };
  kubelet_ = std::make_unique<KubeletClient>(environment.loop, connect, options.kubelet_timeout,
                                             &internal_);
}

void KoordletComponent::MakeKoordlet(program::Environment& environment,
                                     const KoordletFlags& flags) {
  KoordletOptions options = flags.options();
  options.seed = environment.seed;
  Koordlet::Parts parts{.evictor = evictor_.get(),
                        .auditor = audit_.get(),
                        .gpus = gpus_.get(),
                        .xpu_files = xpu_files_.get(),
                        .kubelet = kubelet_.get(),
                        .hook_tools = {.network = network_.get(), .terway = terway_.get()},
                        .recreate_directory = options.dry_run ? nullptr : RecreateDirectory,
                        .internal = &internal_,
                        .external = &external_};
  parts.record_event = [this](const hooks::HookPod& pod, std::string_view reason,
                              std::string_view message) { TellOfPod(pod, reason, message); };
  if (claims_ != nullptr) {
    parts.volume_of_claim = [this](std::string_view ns, std::string_view claim) {
      return claims_->VolumeOf(ns, claim);
    };
  }
  koordlet_ = std::make_unique<Koordlet>(environment.loop, *host_, environment.client,
                                         std::move(options), std::move(parts));
}

void KoordletComponent::MakeWatches(program::Environment& environment,
                                    const KoordletOptions& options) {
  NodeWatches::Listeners listeners;
  listeners.node = [this](const auto& node) { koordlet_->OnNode(node); };
  listeners.slo = [this](const auto& slo) { koordlet_->OnNodeSlo(slo); };
  if (options.report_node_metric) {
    listeners.metric = [this](const auto& metric) { koordlet_->OnNodeMetric(metric); };
  }
  if (options.gates.Enabled("NodeTopologyReport")) {
    listeners.topology = [this](const auto& topology) { koordlet_->OnTopology(topology); };
  }
  // Hooks give devices to pods only if the node has them.
  const auto has_devices = {"Accelerators", "RDMADevices", "GPUEnvInject", "RDMADeviceInject",
                            "PodResourcesProxy"};
  if (std::ranges::any_of(has_devices,
                          [&](const char* gate) { return options.gates.Enabled(gate); })) {
    listeners.device = [this](const auto& device) { koordlet_->OnDevice(device); };
  }
  if (options.pods_from_api_server) {
    listeners.pods = [this](const auto& pods) { koordlet_->OnPods(pods); };
  }
  watches_ = std::make_unique<NodeWatches>(environment.client, options.node_name,
                                           std::move(listeners), environment.seed);
}

// Without it the reconciler does the same a little later, so that it is no reason not to start.
void KoordletComponent::ServeHooks(AsioLoop& loop, const KoordletOptions& options) {
  auto server = hooks::HookServer::Start(loop, koordlet_->hook_runner(), options.hook_server);
  if (server.ok()) {
    hook_server_ = *std::move(server);
  } else {
    LOG_WARNING("The runtime proxy is not answered", {"err", server.status()});
  }
}

void KoordletComponent::ServePodResources(AsioLoop& loop, const KoordletFlags& flags) {
  if (!flags.options().gates.Enabled("PodResourcesProxy")) return;
  auto proxy = PodResourcesProxy::Start(
      loop, {.socket = flags.paths().pod_resources_proxy + "/kubelet.sock",
             .kubelet_socket = flags.paths().host.kubelet + "/pod-resources/kubelet.sock"});
  if (!proxy.ok()) {
    LOG_WARNING("Nobody is told which pods have which devices", {"err", proxy.status()});
    return;
  }
  pod_resources_ = *std::move(proxy);
  NodeState& state = koordlet_->state();
  state.Subscribe(NodeState::Part::kPods, [this, &state] {
    if (pod_resources_ == nullptr) return;
    pod_resources_->SetDevices(ReadGivenDevices(*state.pods(), state.device().get()));
  });
}

// The kubelet may not have made its directories yet: until then pods are found by polling.
void KoordletComponent::WatchCgroups(AsioLoop& loop, const std::string& cgroup_root) {
  const CgroupLayout& layout = host_->cgroups().layout();
  const bool is_v1 = layout.version == CgroupVersion::kV1;
  auto watch = CgroupWatch::Start(loop, is_v1 ? cgroup_root + "/cpu" : cgroup_root, layout,
                                  [this](const std::string&, bool appeared) {
                                    if (appeared) koordlet_->OnPodCgroup();
                                  });
  if (watch.ok()) {
    cgroup_watch_ = *std::move(watch);
    return;
  }
  LOG_V(1, "New pods are found by polling only", {"err", watch.status()});
  watch_timer_->Set(kWatchRetry, [this, &loop, cgroup_root] { WatchCgroups(loop, cgroup_root); });
}

void KoordletComponent::Serve(program::ComponentApi& api, const FeatureGates& gates) {
  metrics::AddProcessMetrics(internal_);
  api.AddRoute("GET", "/internal-metrics",
               [this](const program::RouteRequest&) { return TextOf({&internal_}); });
  api.AddRoute("GET", "/external-metrics",
               [this](const program::RouteRequest&) { return TextOf({&external_}); });
  api.AddRoute("GET", "/metrics", [this](const program::RouteRequest&) {
    return TextOf({&internal_, &external_});
  });
  if (gates.Enabled("AuditEventsHTTPHandler")) {
    api.AddRoute("GET", "/events", [this](const program::RouteRequest& request) {
      return AnswerEvents(audit_.get(), request.http);
    });
  }
  api.readyz().Add("koordlet", [this] { return koordlet_->Healthy(); });
}

void KoordletComponent::Start(Task ready) {
  watches_->Start();
  koordlet_->Start([ready = std::move(ready)]() mutable {
    TrimMemory();  // the budget is for a node that runs, not for one that starts
    ready();
  });
}

void KoordletComponent::Stop(Task done) {
  watch_timer_->Cancel();
  cgroup_watch_.reset();
  hook_server_.reset();
  pod_resources_.reset();
  watches_->Stop();
  koordlet_->Stop();
  done();
}

}  // namespace koord::koordlet
