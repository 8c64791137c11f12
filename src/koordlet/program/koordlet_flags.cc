#include "koordlet/program/koordlet_flags.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "program/feature_gates.h"

namespace koord::koordlet {
namespace {

using program::Flags;

constexpr int kUsageExitCode = 2;
constexpr int kSecurePort = 9317;

Duration Seconds(int seconds) { return std::chrono::seconds(seconds); }

Status ParsePolicy(std::string_view text, hooks::FailurePolicy& policy) {
  ASSIGN_OR_RETURN(policy, hooks::ParseFailurePolicy(text));
  return absl::OkStatus();
}

// "SYSTEM=kube-system,LSE=a": entries of a class add up.
Status ParseClassNamespaces(std::string_view text, TrustPolicy& trust) {
  for (std::string_view entry : Split(text, ',')) {
    if (entry.empty()) continue;
    const size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    if (equals == std::string_view::npos || api::ParseQosClass(name) == api::QosClass::kNone) {
      return InvalidArgument("{} is not CLASS=NAMESPACE, with LSE, LSR, LS, BE or SYSTEM",
                             Quote(entry));
    }
    trust.class_namespaces[std::string(name)].emplace_back(entry.substr(equals + 1));
  }
  return absl::OkStatus();
}

}  // namespace

KoordletFlags::KoordletFlags(program::Program& program) : program_(program) {
  program::Program::Options& options = program.options();
  options.client.qps = 20;
  options.client.burst = 30;
  options.leader_election.enabled = false;
  options.secure.port = kSecurePort;
  options.profiling = false;
  paths_ =
      kube::ProcessEnvironment("agent_mode") == "hostMode" ? PathsOnHost() : PathsInContainer();
  options_.metric_directory = "/metric-data/";
  options_.prediction.checkpoint_directory = "/prediction-checkpoints";
  options_.undo_file = "/var/run/koordlet/undo.json";
  options_.hook_server.address = "/host-var-run-koordlet/koordlet.sock";
  options_.hook_server.host_endpoint = "/var/run/koordlet/koordlet.sock";
  program.flags().SetUsageExitCode(kUsageExitCode);
  program::AddClientFlags(program.flags(), options.client);
  program::AddLoggingFlags(program.flags(), options.logging);
  program.flags().Accept({}, {"--legacy-stderr-threshold-behavior"});
  program::AddFeatureGatesFlag(program.flags().AddGroup("Features"), program.gates());
  AddPathFlags();
  AddKubeletFlags();
  AddCollectorFlags();
  AddStrategyFlags();
  AddPredictionFlags();
  AddHookFlags();
  AddAuditFlags();
  AddTrustFlags();
  AddOnceFlags();
  program.flags().AddCheck([this] { return Check(); });
}

void KoordletFlags::AddPathFlags() {
  Flags& flags = program_.flags();
  flags.AddGroup("Serving").Text("--addr", address_,
                                 "Where to serve health over plain HTTP, and metrics with "
                                 "--metrics-without-login: host:port.");
  program::AddSecureServingFlags(flags, program_.options().secure);
  program::AddOpenMetricsFlag(flags, program_.options().metrics_without_login);
  flags.Accept({"--pprof-addr"}, {"--enable-pprof"});
  flags.AddGroup("Paths of the host")
      .Text("--cgroup-root-dir", paths_.host.cgroup, "Where control groups are mounted.")
      .Text("--proc-root-dir", paths_.host.proc, "Where proc is mounted.")
      .Text("--sys-root-dir", paths_.host.sys, "Where sysfs is mounted.")
      .Text("--sys-fs-root-dir", paths_.host.sys_fs, "Directory that resctrl is mounted in.")
      .Text("--var-run-root-dir", paths_.host.var_run, "The host's /var/run.")
      .Text("--run-root-dir", paths_.run, "The host's /run.")
      .Text("--var-lib-kubelet-dir", paths_.host.kubelet, "Where the kubelet keeps its state.")
      .Text("--runtime-hooks-config-path", paths_.hook_config,
            "Where the runtime proxy looks for the hook servers that it calls.")
      .Text("--xpu-device-infos-dir", paths_.xpu_device_infos,
            "Where vendors' programs list their devices.")
      .Text("--pod-resources-proxy-path", paths_.pod_resources_proxy,
            "Directory of the socket on which the kubelet's pod resources are served with the "
            "devices that the scheduler has given out (gate PodResourcesProxy).");
  flags.AddGroup("Container runtimes")
      .Text("--containerd-endpoint", paths_.endpoints["containerd"],
            "Where containerd listens, unless at one of the usual places.")
      .Text("--docker-endpoint", paths_.endpoints["docker"], "The same of Docker.")
      .Text("--pouch-endpoint", paths_.endpoints["pouch"], "The same of Pouch.");
  flags.Accept({"--configmap-name", "--configmap-namespace", "--report-interval",
                "--qos-extension-plugins"});
}

void KoordletFlags::AddKubeletFlags() {
  program_.flags()
      .AddGroup("Kubelet")
      .Text("--kubelet-preferred-address-type", options_.kubelet.address_type,
            "Which of the node's addresses to ask the kubelet at.")
      .Time("--kubelet-sync-interval", options_.kubelet_sync_interval,
            "How often to ask the kubelet for its pods.")
      .Time("--kubelet-sync-timeout", options_.kubelet_timeout,
            "How long to wait for the kubelet's answer.")
      .Bool("--kubelet-insecure-tls", options_.kubelet.plain_http,
            "Ask over plain HTTP at the read-only port.")
      .Int("--kubelet-read-only-port", options_.kubelet.read_only_port,
           "Port for --kubelet-insecure-tls.")
      .Bool("--kubelet-skip-tls-verify", options_.kubelet.skip_verify,
            "Do not check the kubelet's certificate. For kubelets that sign their own.")
      .Text("--kubelet-certificate-authority", options_.kubelet.ca_file,
            "CA that signs the kubelet's certificate. Without it: the cluster's.")
      .Bool("--disable-query-kubelet-config", disable_kubelet_config_,
            "Do not ask the kubelet for its configuration.")
      .Bool("--pods-from-api-server", options_.pods_from_api_server,
            "Watch the node's pods at the API server instead of asking the kubelet.");
}

void KoordletFlags::AddCollectorFlags() {
  CollectorOptions& collectors = options_.collectors;
  Flags& flags = program_.flags();
  flags.AddGroup("Measuring and reporting")
      .Time("--node-topology-sync-interval", options_.topology_interval,
            "How often to look at the node's topology and devices.")
      .Bool("--enable-node-metric-report", options_.report_node_metric,
            "Report usage in NodeMetric.")
      .Bool("--enable-pod-taskids", options_.hooks.enable_pod_task_ids,
            "Know the threads of every container, for resctrl groups of pods.")
      .Bool("--xpu-enforce-collect-from-device-infos", options_.only_xpu_files,
            "Report only devices that vendors' programs list.")
      .Time("--collect-res-used-interval", collectors.usage_interval,
            "How often to measure usage. Less than 1s switches collectors and QoS strategies off.")
      .Time("--collect-sys-metric-outdated-interval", collectors.system_outdated,
            "Older measurements do not count for the system's usage.")
      .Time("--collect-node-cpu-info-interval", collectors.cpu_info_interval,
            "How often to look at the processors.")
      .Time("--collect-node-storage-info-interval", collectors.storage_interval,
            "How often to look at the disks.")
      .Time("--cpi-collector-interval", collectors.cpi_interval, "How often to count cycles.")
      .Time("--collect-cpi-timewindow", collectors.cpi_window, "For how long to count cycles.")
      .Time("--psi-collector-interval", collectors.psi_interval, "How often to read pressure.")
      .Time("--coldpage-collector-interval", collectors.cold_page_interval,
            "How often to look for cold memory.")
      .Bool("--enable-pagecache-collector", collectors.page_cache,
            "Measure memory with page cache too.")
      .Bool("--enable-resctrl-collector", collectors.resctrl,
            "Measure caches and memory bandwidth (also needs the gate ResctrlCollector).")
      .Time("--resctrl-collector-interval", collectors.resctrl_interval,
            "How often to measure caches and memory bandwidth.");
  flags.AddGroup("Storage of measurements")
      .Int("--metric-gc-interval-seconds", metric_gc_seconds_, "How often to drop what is old.")
      .Int("--metric-expire-seconds", metric_expire_seconds_,
           "When to drop what is no longer measured.")
      .Text("--tsdb-path", options_.metric_directory, "Where to keep measurements over restarts.")
      .Time("--tsdb-retention-duration", options_.metrics.retention, "How long to keep them.")
      .Custom("--tsdb-max-bytes", "bytes", "104857600", "How much of them to keep.",
              [this](std::string_view text) {
                const auto bytes = ParseInt(text);
                if (!bytes || *bytes <= 0) return InvalidArgument("must be a positive number");
                options_.metrics.max_bytes = static_cast<size_t>(*bytes);
                return absl::OkStatus();
              });
  flags.Accept({"--tsdb-min-block-duration", "--tsdb-max-block-duration", "--tsdb-stripe-size",
                "--tsdb-wal-segment-size", "--tsdb-max-block-chunk-segment-size",
                "--tsdb-head-chunks-write-buffer-size"},
               {"--tsdb-enable-prometheus-metric"});
}

void KoordletFlags::AddStrategyFlags() {
  program_.flags()
      .AddGroup("QoS strategies")
      .Int("--resource-force-update-seconds", force_update_seconds_,
           "How long to believe that a file still holds what was written.")
      .Int("--reconcile-interval-seconds", reconcile_seconds_,
           "How often CPU burst, memory QoS and the others run.")
      .Int("--cpu-suppress-interval-seconds", cpu_suppress_seconds_,
           "How often CPU of best-effort pods is adjusted.")
      .Int("--cpu-evict-interval-seconds", cpu_evict_seconds_,
           "How often to look whether CPU must be freed by eviction.")
      .Int("--cpu-evict-cool-time-seconds", cpu_evict_cool_seconds_,
           "How long to wait after an eviction for CPU.")
      .Int("--memory-evict-interval-seconds", memory_evict_seconds_,
           "How often to look whether memory must be freed by eviction.")
      .Int("--memory-evict-cool-time-seconds", memory_evict_cool_seconds_,
           "How long to wait after an eviction for memory.")
      .Bool("--only-evict-by-api", options_.only_evict_by_api,
            "Evict by the API server, instead of stopping containers.")
      .Bool("--dry-run", options_.dry_run,
            "Change nothing on the node and evict nobody; log what would change.")
      .Text("--undo-file", options_.undo_file,
            "Where to note what was changed, so that it can be put back after a restart. Goes when "
            "the machine restarts.");
}

void KoordletFlags::AddPredictionFlags() {
  Predictor::Options& prediction = options_.prediction;
  program_.flags()
      .AddGroup("Prediction")
      .Text("--prediction-checkpoint-filepath", prediction.checkpoint_directory,
            "Directory of what was learned, for after a restart.")
      .Time("--prediction-cold-start-duration", prediction.cold_start,
            "How long a pod runs before it is judged by what it uses.")
      .Int("--prediction-safety-margin-percent", safety_margin_percent_, "What is added to peaks.")
      .Time("--prediction-memory-histogram-decay-halflife", prediction.memory_half_life,
            "After this time a sample of memory counts half.")
      .Time("--prediction-cpu-histogram-decay-halflife", prediction.cpu_half_life,
            "After this time a sample of CPU counts half.")
      .Time("--prediction-training-interval", prediction.training_interval, "How often to learn.")
      .Time("--prediction-model-expiration-duration", prediction.model_expiration,
            "When to forget what no longer runs.")
      .Time("--prediction-model-checkpoint-interval", prediction.checkpoint_interval,
            "How often to write what was learned about one thing.")
      .Int("--prediction-model-checkpoint-max-per-step", prediction.max_checkpoints_per_step,
           "How many files to write at once.");
}

void KoordletFlags::AddHookFlags() {
  hooks::HookOptions& hooks = options_.hooks;
  hooks::HookServerOptions& server = options_.hook_server;
  Flags& flags = program_.flags();
  flags.AddGroup("Runtime hooks")
      .Custom("--runtime-hooks-network", "string", "unix", "Only unix.",
              [](std::string_view text) {
                return text == "unix" ? absl::OkStatus() : InvalidArgument("must be unix");
              })
      .Text("--runtime-hooks-addr", server.address, "Socket of the hook server.")
      .Text("--runtime-hooks-host-endpoint", server.host_endpoint,
            "The same socket, as the runtime proxy sees it.")
      .Custom("--runtime-hooks-failure-policy", "string", "Ignore",
              "What the runtime proxy does when the hook server fails: Ignore or Fail.",
              [&server](std::string_view text) { return ParsePolicy(text, server.failure_policy); })
      .Custom("--runtime-hooks-plugin-failure-policy", "string", "Ignore",
              "What happens to a call when one hook fails: Ignore or Fail.",
              [&hooks](std::string_view text) {
                return ParsePolicy(text, hooks.plugin_failure_policy);
              })
      .Custom("--runtime-hooks-disable-stages", "list", "", "Stages at which no hooks run.",
              [&hooks](std::string_view text) -> Status {
                ASSIGN_OR_RETURN(hooks.disabled_stages, hooks::HookStages::Parse(text));
                return absl::OkStatus();
              })
      .Bool("--disable-unset-cpu-quota", hooks.disable_unset_cpu_quota,
            "Keep the CPU limit of pods with CPUs of their own.")
      .Time("--runtime-hooks-reconcile-interval", hooks.reconcile_interval,
            "How often the directories of whole classes are put right.")
      .Text("--default-runtime-type", hooks.default_runtime, "The container runtime.")
      .Text("--hami-core-library-directory-path", hooks.hami_library,
            "Library that isolates pods that share a GPU.");
  flags.Accept({"--runtime-hooks-nri-socket-path", "--runtime-hooks-nri-connect-timeout",
                "--runtime-hooks-nri-backoff-duration", "--runtime-hooks-nri-backoff-cap",
                "--runtime-hooks-nri-backoff-steps", "--runtime-hooks-nri-backoff-factor",
                "--runtime-hooks-nri-plugin-name", "--runtime-hooks-nri-plugin-index"},
               {"--enable-nri-runtime-hook"});
}

void KoordletFlags::AddAuditFlags() {
  AuditOptions& audit = options_.audit;
  program_.flags()
      .AddGroup("Audit")
      .Text("--audit-log-dir", audit.directory, "Where to keep audit events.")
      .Int("--audit-verbose", audit.verbosity, "Events of a higher level are left out.")
      .Custom("--audit-max-disk-space-mb", "int", "16", "How much of them to keep.",
              [&audit](std::string_view text) {
                const auto megabytes = ParseInt(text);
                if (!megabytes || *megabytes <= 0) return InvalidArgument("must be positive");
                audit.max_megabytes = *megabytes;
                return absl::OkStatus();
              })
      .Int("--audit-max-concurrent-readers", audit.max_readers,
           "How many readers may page through them at the same time.")
      .Int("--audit-max-events-limit", audit.max_events, "How many to give to one request.");
}

void KoordletFlags::AddTrustFlags() {
  TrustPolicy& trust = options_.trust;
  program_.flags()
      .AddGroup("Trust")
      .Bool("--trust-pod-authors", trust.trust_pod_authors,
            "Act on what pods say of themselves without checking it against the node, as upstream "
            "does.")
      .Custom("--qos-class-namespaces", "CLASS=NAMESPACE,...", "",
              "QoS classes that only pods of these namespaces may have.",
              [&trust](std::string_view text) { return ParseClassNamespaces(text, trust); })
      .Int("--max-resctrl-pods", trust.max_resctrl_pods,
           "How many pods of the node may have cache classes of their own.")
      .Bool("--allow-lower-oom-score", trust.allow_lower_oom_score,
            "Let pods protect themselves from the OOM killer.");
}

void KoordletFlags::AddOnceFlags() {
  program_.flags()
      .AddGroup("One pass")
      .Bool("--once", once_.enabled,
            "Perform one pass of collectors, strategies and hooks on --host-root, print what was "
            "written, and exit.")
      .Text("--host-root", once_.host_root, "Directory that holds the image of a machine.")
      .Text("--pods-file", once_.pods_file, "Pods of the node: a list, or several documents.")
      .Text("--nodeslo-file", once_.node_slo_file, "The NodeSLO.")
      .Text("--nodemetric-file", once_.node_metric_file,
            "Usage to go by, as a NodeMetric, instead of what the directory shows.")
      .Text("--node-file", once_.node_file,
            "The Node. Without it: one with the capacity of --host-root.")
      .Text("-o,--output", once_.output, "text or json.");
}

Status KoordletFlags::Check() const {
  const struct {
    std::string_view name;
    Duration value;
  } positive[] = {{"--kubelet-sync-interval", options_.kubelet_sync_interval},
                  {"--kubelet-sync-timeout", options_.kubelet_timeout},
                  {"--node-topology-sync-interval", options_.topology_interval},
                  {"--runtime-hooks-reconcile-interval", options_.hooks.reconcile_interval},
                  {"--prediction-training-interval", options_.prediction.training_interval}};
  for (const auto& each : positive) {
    if (each.value <= Duration::zero()) return InvalidArgument("{} must be positive", each.name);
  }
  if (once_.output != "text" && once_.output != "json") {
    return InvalidArgument("--output {} is unknown: text or json", Quote(once_.output));
  }
  if (once_.enabled && once_.pods_file.empty()) {
    return InvalidArgument("--once needs --pods-file");
  }
  return absl::OkStatus();
}

Status KoordletFlags::ParseAddress() {
  const size_t colon = address_.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : ParseInt(address_.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    return InvalidArgument("--addr {} is not host:port", Quote(address_));
  }
  std::string host = address_.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  program_.options().plain.address = host.empty() ? "0.0.0.0" : host;
  program_.options().plain.port = static_cast<int>(*port);
  return absl::OkStatus();
}

StatusOr<bool> KoordletFlags::Load(const kube::Environment& environment) {
  RETURN_IF_ERROR(ParseAddress());
  std::string& kubeconfig = program_.options().client.kubeconfig;
  const std::string from_environment = environment("KUBECONFIG");
  const bool is_one_file = from_environment.find(':') == std::string::npos;
  if (kubeconfig.empty() && is_one_file) kubeconfig = from_environment;
  options_.node_name = environment("NODE_NAME");
  if (options_.node_name.empty() && !once_.enabled) {
    return FailedPrecondition("NODE_NAME env is empty");
  }
  options_.gates = program_.gates();
  options_.ask_kubelet_config = !disable_kubelet_config_;
  options_.force_update_after = Seconds(force_update_seconds_);
  options_.hooks.force_update_after = options_.force_update_after;
  options_.metric_gc_interval = Seconds(std::max(metric_gc_seconds_, 1));
  options_.metrics.expire = Seconds(std::max(metric_expire_seconds_, 1));
  options_.reconcile_interval = Seconds(reconcile_seconds_);
  options_.qos = {.cpu_suppress_interval = Seconds(cpu_suppress_seconds_),
                  .cpu_evict_interval = Seconds(cpu_evict_seconds_),
                  .cpu_evict_cool_time = Seconds(cpu_evict_cool_seconds_),
                  .memory_evict_interval = Seconds(memory_evict_seconds_),
                  .memory_evict_cool_time = Seconds(memory_evict_cool_seconds_)};
  options_.qos.kubelet_dir = paths_.host.kubelet;
  while (options_.qos.kubelet_dir.ends_with('/')) options_.qos.kubelet_dir.pop_back();
  options_.prediction.safety_margin_percent = safety_margin_percent_;
  options_.hooks.trust = options_.trust;
  options_.hook_server.config_directory = paths_.hook_config;
  return true;
}

}  // namespace koord::koordlet
