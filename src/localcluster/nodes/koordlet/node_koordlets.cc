#include "localcluster/nodes/koordlet/node_koordlets.h"

#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "base/log.h"
#include "koordlet/agent/koordlet.h"
#include "koordlet/qos/eviction/api_evictor.h"
#include "koordlet/qos/eviction/eviction_record.h"
#include "localcluster/nodes/koordlet/simulated_host.h"
#include "localcluster/nodes/node_objects.h"

namespace koord::localcluster {
namespace {

using koordlet::Koordlet;
using koordlet::KoordletOptions;

// What changes together is looked at together.
constexpr Duration kSettle = std::chrono::milliseconds(200);
// Looks at nodes are spread over the interval in steps: what is due together costs one awakening.
constexpr Duration kSpreadStep = std::chrono::seconds(1);
constexpr char kGates[] = "BECPUEvict=true,BEMemoryEvict=true,CgroupReconcile=true";

KoordletOptions CommonOptions() {
  constexpr Duration kInterval = NodeKoordlets::kInterval;
  constexpr Duration kSeldom = std::chrono::hours(1);
  // As long as the longest window over which nodes report percentiles, unless users ask for more.
  constexpr Duration kResolution = std::chrono::minutes(30);
  KoordletOptions options;
  options.ask_kubelet_config = false;
  options.pods_from_api_server = true;
  options.only_evict_by_api = true;
  options.topology_interval = 4 * kInterval;
  options.reconcile_interval = kInterval;
  options.force_update_after = kSeldom;  // nobody else writes to these machines
  options.hooks.reconcile_interval = kInterval;
  options.hooks.force_update_after = kSeldom;
  options.collectors.usage_interval = kInterval;
  options.collectors.system_outdated = 3 * kInterval;
  options.collectors.cpu_info_interval = kSeldom;
  options.collectors.storage_interval = kSeldom;
  options.metrics.node_resolution = kResolution;
  options.qos.cpu_suppress_interval = kInterval;
  options.qos.cpu_evict_interval = kInterval;
  options.qos.memory_evict_interval = kInterval;
  const Status gates = options.gates.Set(kGates);
  if (!gates.ok()) LOG_ERROR("Simulated nodes evict nobody", {"err", gates});
  return options;
}

KoordletOptions OptionsOf(const std::string& node, uint64_t seed) {
  static const KoordletOptions common = CommonOptions();  // copies share the table of gates
  KoordletOptions options = common;
  options.node_name = node;
  options.seed = seed;
  return options;
}

// Nodes that others have made say only how large they are.
NodeShape ShapeOf(const kube::Node& node) {
  const std::string_view text = kube::ValueOf(node.metadata.annotations, kShapeAnnotation);
  if (!text.empty()) {
    if (auto shape = ParseNodeShape(text); shape.ok()) return *shape;
  }
  NodeShape shape;
  shape.cpus = std::clamp<int64_t>(
      kube::AmountOf(node.status.capacity, kube::kCpu).MilliValue() / 1000, 1, 1024);
  shape.memory = std::max<int64_t>(kube::AmountOf(node.status.capacity, kube::kMemory).Value(),
                                   int64_t{1} << 30);
  shape.smt = shape.cpus % 2 == 0 ? 2 : 1;
  shape.numa = 1;
  shape.sockets = 1;
  return shape;
}

bool IsLeftToOthers(const kube::Node& node) {
  return kube::ValueOf(node.metadata.annotations, kReportAnnotation) == "false";
}

}  // namespace

// One node's machine and its agent.
class NodeKoordlets::Running {
 public:
  Running(kube::Client& client, kube::EventRecorder& events, const kube::Node& node,
          const koordlet::MemoryMachine& model, uint64_t seed)
      : host_(client.loop().clock(), model, SeedOf(node.metadata.name, seed)),
        evictions_(client.loop(), registry_, nullptr, node.metadata.name),
        evictor_(client, events, evictions_),
        koordlet_(client.loop(), host_.host(), client,
                  OptionsOf(node.metadata.name, SeedOf(node.metadata.name, seed)),
                  {.evictor = &evictor_, .internal = &registry_, .external = &registry_}) {}

  void AddTo(Protection& sum) const {
    sum.suppressed_nodes += host_.suppressed() ? 1 : 0;
    sum.suppressions += host_.suppressions();
    sum.evictions += evictions_.total();
  }

  Koordlet& koordlet() { return koordlet_; }
  SimulatedHost& host() { return host_; }

 private:
  metrics::Registry registry_;
  SimulatedHost host_;
  koordlet::EvictionRecord evictions_;
  koordlet::ApiEvictor evictor_;
  Koordlet koordlet_;
};

NodeKoordlets::NodeKoordlets(kube::Client& client, ClusterInformers& informers,
                             kube::InformerSet* lender, LoadModels load, uint64_t seed)
    : client_(client),
      informers_(informers),
      load_(std::move(load)),
      seed_(seed),
      random_(seed),
      of_koordlets_(client, {.seed = seed, .lender = lender}),
      slos_(of_koordlets_.Use<api::NodeSlo>(api::kNodeSlos)),
      metrics_(of_koordlets_.Use<api::NodeMetric>(api::kNodeMetrics)),
      topologies_(of_koordlets_.Use<api::NodeResourceTopology>(api::kNodeResourceTopologies)),
      events_(
          kube::MakeCoreEventRecorder(client, {.component = "koordlet-qosManager", .seed = seed})),
      changed_(client.loop(), [this](const std::string& node, const auto& done) {
        Follow(node);
        done(true);
      }) {}

NodeKoordlets::~NodeKoordlets() = default;

void NodeKoordlets::Start() {
  slos_.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    if (Running* running = Find((after != nullptr ? after : before)->metadata.name)) {
      running->koordlet().OnNodeSlo(after);
    }
  }));
  metrics_.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    if (Running* running = Find((after != nullptr ? after : before)->metadata.name)) {
      running->koordlet().OnNodeMetric(after);
    }
  }));
  topologies_.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    if (Running* running = Find((after != nullptr ? after : before)->metadata.name)) {
      running->koordlet().OnTopology(after);
    }
  }));
  informers_.nodes.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    if (after == nullptr) return;
    const std::string& name = after->metadata.name;
    if (Running* running = Find(name)) running->koordlet().OnNode(after);
    if (before != nullptr && IsLeftToOthers(*before) != IsLeftToOthers(*after)) {
      changed_.AddAfter(name, kSettle);
    }
  }));
  informers_.pods.AddHandler(scope_.Wrap([this](const auto& before, const auto& after) {
    const std::string& node = (after != nullptr ? after : before)->spec.node_name;
    if (working_.contains(node)) changed_.AddAfter(node, kSettle);
  }));
  of_koordlets_.Start();
}

void NodeKoordlets::Begin(const std::string& node) {
  working_.insert(node);
  const SteadyTime now = client_.loop().clock().Steady();
  const auto steps = static_cast<int64_t>(random_.Below(kInterval / kSpreadStep));
  changed_.AddAfter(node, (now / kSpreadStep + 1 + steps) * kSpreadStep - now);
}

void NodeKoordlets::End(const std::string& node) {
  working_.erase(node);
  Remove(node);
}

void NodeKoordlets::Remove(const std::string& node) {
  const auto found = running_.find(node);
  if (found == running_.end()) return;
  found->second->AddTo(past_);
  past_.suppressed_nodes = 0;
  running_.erase(found);
}

Protection NodeKoordlets::protection() const {
  Protection sum = past_;
  for (const auto& [node, running] : running_) running->AddTo(sum);
  return sum;
}

NodeKoordlets::Running* NodeKoordlets::Find(const std::string& node) const {
  const auto found = running_.find(node);
  return found == running_.end() ? nullptr : found->second.get();
}

bool NodeKoordlets::synced() const { return of_koordlets_.synced() && informers_.synced(); }

std::vector<std::shared_ptr<const kube::Pod>> NodeKoordlets::PodsOf(const std::string& node) {
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  for (const auto& pod : informers_.pods.ByIndex(kube::kByNode, node)) {
    if (kube::IsTerminal(*pod) || !pod->status.start_time) continue;
    pods.push_back(WithinBudget(pod));
    if (pods.back() != pod &&
        known_problems_.IsNew({.object = pod->metadata.uid, .kind = "containers"}, "too many")) {
      LOG_WARNING("Of this pod only the first containers use anything", {"node", node},
                  {"namespace", pod->metadata.ns}, {"pod", pod->metadata.name},
                  {"containers", pods.back()->spec.containers.size()},
                  {"of", pod->spec.containers.size()});
    }
  }
  return pods;
}

const koordlet::MemoryMachine& NodeKoordlets::ModelOf(const NodeShape& shape) {
  auto& model = models_[{shape.cpus, shape.memory, shape.smt, shape.numa, shape.sockets}];
  if (model == nullptr) model = SimulatedHost::MakeModel(shape);
  return *model;
}

void NodeKoordlets::Follow(const std::string& node) {
  if (!working_.contains(node)) return;
  if (!synced()) return changed_.AddAfter(node, kSettle);
  const auto object = informers_.nodes.Get({"", node});
  if (object == nullptr || IsLeftToOthers(*object)) return Remove(node);
  Running* running = Find(node);
  const bool is_new = running == nullptr;
  if (is_new) {
    auto made =
        std::make_unique<Running>(client_, *events_, *object, ModelOf(ShapeOf(*object)), seed_);
    running = running_.emplace(node, std::move(made)).first->second.get();
  }
  const auto pods = PodsOf(node);
  running->host().SetPods(pods, load_);
  running->koordlet().OnPods(pods);
  if (!is_new) return;
  running->koordlet().OnNode(object);
  running->koordlet().OnNodeSlo(slos_.Get({"", node}));
  running->koordlet().OnNodeMetric(metrics_.Get({"", node}));
  running->koordlet().OnTopology(topologies_.Get({"", node}));
  running->koordlet().Start();
}

}  // namespace koord::localcluster
