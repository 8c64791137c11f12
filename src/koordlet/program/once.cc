#include "koordlet/program/once.h"

#include <fmt/format.h>

#include "api/node_metric.h"
#include "base/asio_loop.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/virtual_loop.h"
#include "koordlet/agent/koordlet.h"
#include "koordlet/hooks/tc_network_qos/network_control.h"
#include "koordlet/host/discovery.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"

namespace koord::koordlet {
namespace {

using kube::Json;

// Far enough that nothing measured before counts any more.
constexpr Duration kLongAgo = std::chrono::hours(2);

// There is no cluster to report to.
class NoCluster final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest, std::shared_ptr<kube::ResponseWriter> response) override {
    response->Finish({404, {}, ""});
  }
};

Status InFile(const std::string& file, const Status& status) {
  return InvalidArgument("{}: {}", file, Message(status));
}

// Objects of a file: of one document or several, and of lists in them.
StatusOr<std::vector<Json>> ReadObjects(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  auto documents = kube::ParseYamlDocuments(text);
  if (!documents.ok()) return InFile(file, documents.status());
  std::vector<Json> objects;
  for (kube::YamlDocument& document : *documents) {
    if (document.value.is_null()) continue;
    const kube::json::array* items = kube::FindArray(document.value, {"items"});
    if (document.value.is_array()) items = &document.value.as_array();
    if (items == nullptr) {
      objects.push_back(std::move(document.value));
      continue;
    }
    for (const Json& item : *items) objects.push_back(item);
  }
  return objects;
}

template <class T>
StatusOr<std::vector<std::shared_ptr<const T>>> ReadAll(const std::string& file) {
  ASSIGN_OR_RETURN(const std::vector<Json> objects, ReadObjects(file));
  std::vector<std::shared_ptr<const T>> result;
  for (const Json& object : objects) {
    StatusOr<T> decoded = kube::Decode<T>(object);
    if (!decoded.ok()) return InFile(file, decoded.status());
    result.push_back(std::make_shared<const T>(*std::move(decoded)));
  }
  return result;
}

template <class T>
StatusOr<std::shared_ptr<const T>> ReadOne(const std::string& file) {
  ASSIGN_OR_RETURN(auto objects, ReadAll<T>(file));
  if (objects.size() != 1) {
    return InvalidArgument("{}: expected one object, found {}", file, objects.size());
  }
  return objects.front();
}

int64_t MemTotal(const Host& host) {
  const auto text = host.proc().Read("meminfo");
  if (!text.ok()) return 0;
  for (std::string_view line : Split(*text, '\n')) {
    constexpr std::string_view kName = "MemTotal:";
    if (!line.starts_with(kName)) continue;
    std::string_view number = Trim(line.substr(kName.size()));
    return ParseInt(number.substr(0, number.find(' '))).value_or(0) * 1024;
  }
  return 0;
}

// A Node that has all that the machine has.
std::shared_ptr<const kube::Node> NodeOf(const Host& host, const std::string& name) {
  auto node = std::make_shared<kube::Node>();
  node->metadata.name = name;
  const auto cpu = host.ReadCpuInfo();
  const int64_t processors = cpu.ok() ? static_cast<int64_t>(cpu->topology.processors().size()) : 0;
  node->status.capacity.Mutable().emplace(kube::kCpu, kube::Quantity(processors));
  node->status.capacity.Mutable().emplace(
      kube::kMemory, kube::Quantity(MemTotal(host), kube::Quantity::Format::kBinarySi));
  node->status.allocatable = node->status.capacity;
  return node;
}

double CoresOf(const api::ResourceMap& usage) {
  return kube::AmountOf(usage.resources, kube::kCpu).ToDouble();
}
double BytesOf(const api::ResourceMap& usage) {
  return kube::AmountOf(usage.resources, kube::kMemory).ToDouble();
}

// Puts usage that was measured elsewhere into the store, as of now.
void Believe(const api::NodeMetricStatus& status, const NodePods& pods, MetricStore& store) {
  if (status.node_metric) {
    const api::NodeUsage& node = *status.node_metric;
    store.Append({Metric::kNodeCpu}, CoresOf(node.node_usage));
    store.Append({Metric::kNodeMemory}, BytesOf(node.node_usage));
    store.Append({Metric::kSystemCpu}, CoresOf(node.system_usage));
    store.Append({Metric::kSystemMemory}, BytesOf(node.system_usage));
  }
  double best_effort = 0;
  for (const api::PodUsage& usage : status.pods_metric) {
    for (const NodePod& pod : pods) {
      const kube::ObjectMeta& meta = pod.pod->metadata;
      if (meta.ns != usage.ns || meta.name != usage.name) continue;
      store.Append({Metric::kPodCpu, pod.uid()}, CoresOf(usage.pod_usage));
      store.Append({Metric::kPodMemory, pod.uid()}, BytesOf(usage.pod_usage));
      if (pod.kube_qos == kube::PodQos::kBestEffort) best_effort += CoresOf(usage.pod_usage);
    }
  }
  store.Append({Metric::kBeCpuUsage}, best_effort * 1000);
  for (const api::HostApplicationUsage& usage : status.host_application_metric) {
    store.Append({Metric::kHostAppCpu, usage.name}, CoresOf(usage.usage));
    store.Append({Metric::kHostAppMemory, usage.name}, BytesOf(usage.usage));
  }
}

// What best-effort pods have asked for and may use follows from pods and files, not from usage.
void KeepBestEffortLimits(MetricStore& store, const std::function<void(Duration)>& pass) {
  const auto request = store.Last({Metric::kBeCpuRequest}, kLongAgo);
  const auto limit = store.Last({Metric::kBeCpuLimit}, kLongAgo);
  pass(kLongAgo);
  if (request) store.Append({Metric::kBeCpuRequest}, *request);
  if (limit) store.Append({Metric::kBeCpuLimit}, *limit);
}

// "cgroup/cpu/x" is "/sys/fs/cgroup/cpu/x" of the machine.
std::string PathOnMachine(std::string_view path) {
  const struct {
    std::string_view tree, directory;
  } trees[] = {{"cgroup/", "/sys/fs/cgroup/"},
               {"resctrl/", "/sys/fs/resctrl/"},
               {"proc/", "/proc/"},
               {"sys/", "/sys/"},
               {"kubelet/", "/var/lib/kubelet/"},
               {"var_run/", "/var/run/"}};
  for (const auto& [tree, directory] : trees) {
    if (path.starts_with(tree)) return fmt::format("{}{}", directory, path.substr(tree.size()));
  }
  return std::string(path);
}

struct Inputs {
  std::shared_ptr<const kube::Node> node;
  PodList::Pods pods;
  std::shared_ptr<const api::NodeSlo> slo;
  std::shared_ptr<const api::NodeMetric> metric;
};

StatusOr<Inputs> ReadInputs(const OnceOptions& once, const Host& host) {
  Inputs inputs;
  ASSIGN_OR_RETURN(inputs.pods, ReadAll<kube::Pod>(once.pods_file));
  if (!once.node_slo_file.empty()) {
    ASSIGN_OR_RETURN(inputs.slo, ReadOne<api::NodeSlo>(once.node_slo_file));
  }
  if (!once.node_metric_file.empty()) {
    ASSIGN_OR_RETURN(inputs.metric, ReadOne<api::NodeMetric>(once.node_metric_file));
  }
  if (!once.node_file.empty()) {
    ASSIGN_OR_RETURN(inputs.node, ReadOne<kube::Node>(once.node_file));
  } else {
    // Pods that somebody has got from a cluster are bound to the node that he looks at.
    const bool is_bound = !inputs.pods.empty() && kube::IsAssigned(*inputs.pods.front());
    inputs.node = NodeOf(host, is_bound ? inputs.pods.front()->spec.node_name : "node");
  }
  return inputs;
}

// Nobody has to go because somebody looks on.
class NotingEvictor final : public PodEvictor {
 public:
  explicit NotingEvictor(OnceReport& report) : report_(report) {}
  Result Evict(const NodePod& pod, std::string_view, std::string_view message) override {
    const kube::ObjectMeta& meta = pod.pod->metadata;
    report_.evictions.push_back({meta.ns + "/" + meta.name, std::string(message)});
    return {.ok = true, .is_new = true};
  }
  bool WasRefused(std::string_view) const override { return false; }

 private:
  OnceReport& report_;
};

class NotingNetwork final : public hooks::NetworkControl {
 public:
  NotingNetwork(OnceReport& report, EventLoop& loop) : report_(report), loop_(loop) {}
  void Run(std::vector<hooks::NetCommand> commands, Done done) override {
    for (const hooks::NetCommand& command : commands) {
      report_.commands.push_back(Join(command.run, " "));
    }
    loop_.Post([done = std::move(done)] { done(absl::OkStatus()); });
  }

 private:
  OnceReport& report_;
  EventLoop& loop_;
};

std::string Trimmed(const std::string& text) { return std::string(Trim(text)); }

std::string PrintAsJson(const OnceReport& report) {
  kube::json::array writes, decisions, evictions, commands;
  for (const WriteRecord& write : report.writes) {
    writes.push_back({{"file", write.path},
                      {"old", Trimmed(write.old_value)},
                      {"new", Trimmed(write.new_value)}});
  }
  for (const auto& [strategy, object, text] : report.decisions) {
    decisions.push_back({{"strategy", strategy}, {"object", object}, {"decision", text}});
  }
  for (const auto& [pod, message] : report.evictions) {
    evictions.push_back({{"pod", pod}, {"message", message}});
  }
  for (const std::string& command : report.commands) commands.emplace_back(command);
  return kube::Serialize(kube::Json{{"writes", std::move(writes)},
                                    {"decisions", std::move(decisions)},
                                    {"evictions", std::move(evictions)},
                                    {"commands", std::move(commands)}}) +
         "\n";
}

std::string PrintAsText(const OnceReport& report) {
  std::string text;
  for (const WriteRecord& write : report.writes) {
    text += fmt::format("{}: {} -> {}\n", write.path, Trimmed(write.old_value),
                        Trimmed(write.new_value));
  }
  for (const auto& [strategy, object, decision] : report.decisions) {
    text += fmt::format("decision of {} on {}: {}\n", strategy, object, decision);
  }
  for (const auto& [pod, message] : report.evictions) {
    text += fmt::format("would evict {}: {}\n", pod, message);
  }
  for (const std::string& command : report.commands) text += fmt::format("would run {}\n", command);
  return text;
}

// `pass` lets time pass: really on a machine that runs, at once on the image of one.
void Pass(Koordlet& koordlet, const Inputs& inputs, const std::function<void(Duration)>& pass) {
  koordlet.OnNode(inputs.node);
  koordlet.OnNodeSlo(inputs.slo);
  koordlet.OnPods(inputs.pods);
  koordlet.CollectOnce();
  pass(koordlet.options().collectors.usage_interval);
  koordlet.CollectOnce();
  if (inputs.metric != nullptr) {
    KeepBestEffortLimits(koordlet.metrics(), pass);
    Believe(inputs.metric->status, *koordlet.state().pods(), koordlet.metrics());
  }
  koordlet.EnforceOnce();
}

}  // namespace

StatusOr<OnceReport> RunOnce(const OnceOptions& once, KoordletOptions options) {
  const HostPaths paths = once.host_root == "/" ? HostPaths() : HostPaths::Below(once.host_root);
  ASSIGN_OR_RETURN(const std::unique_ptr<Host> host, DiscoverHost(paths));
  ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(once, *host));
  // What the kubelet of the image was told, as far as its usual file says.
  const auto kubelet = ReadKubeletConfigFile(host->kubelet());
  options.node_name = inputs.node->metadata.name;
  options.ask_kubelet_config = kubelet.ok();
  options.metric_directory.clear();
  options.undo_file.clear();
  options.prediction.checkpoint_directory.clear();
  options.qos.cpu_evict_cool_time = options.qos.memory_evict_cool_time = Duration(0);

  // A machine that runs must be watched for a while; the image of one stands still.
  const bool is_alive = once.host_root == "/" && inputs.metric == nullptr;
  AsioLoop real;
  VirtualLoop instant;
  EventLoop& loop = is_alive ? static_cast<EventLoop&>(real) : instant;
  const auto pass = [&](Duration time) {
    if (!is_alive) return instant.Advance(time);
    real.Schedule(time, [&] { real.Stop(); });
    real.Run();
  };
  NoCluster no_cluster;
  kube::Client client(loop, std::make_shared<kube::InProcessTransport>(loop, no_cluster), {});
  OnceReport report;
  NotingEvictor evictor(report);
  NotingNetwork network(report, loop);
  Koordlet::Parts parts{.evictor = &evictor, .hook_tools = {.network = &network}};
  parts.on_decision = [&](const QosDecision& decision) {
    report.decisions.push_back({std::string(decision.strategy), decision.object, decision.text});
  };
  Koordlet koordlet(loop, *host, client, std::move(options), std::move(parts));
  if (kubelet.ok()) koordlet.topology_reporter().SetKubeletConfig(*kubelet);
  koordlet.executor().set_observer([&](const WriteRecord& record) {
    report.writes.push_back({PathOnMachine(record.path), record.old_value, record.new_value});
  });
  Pass(koordlet, inputs, pass);
  return report;
}

std::string PrintReport(const OnceReport& report, std::string_view format) {
  return format == "json" ? PrintAsJson(report) : PrintAsText(report);
}

}  // namespace koord::koordlet
