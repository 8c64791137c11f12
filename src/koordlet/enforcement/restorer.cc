#include "koordlet/enforcement/restorer.h"

#include <utility>

#include "api/keys.h"
#include "base/log.h"
#include "koordlet/config/koordlet_gates.h"
#include "koordlet/informers/node_slo_merge.h"
#include "koordlet/informers/pod_book.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kEnforcing[] = {
    "BECPUSuppress", "CPUBurst",      "CgroupReconcile", "BlkIOReconcile", "RdtResctrl",
    "SystemConfig",  "GroupIdentity", "CPUSetAllocator", "BatchResource",  "CPUNormalization",
    "CoreSched",     "TCNetworkQoS",  "TerwayQoS",       "Resctrl",        "OOMScoreAdj"};

constexpr int kPasses = 3;
constexpr Duration kBetweenPasses = std::chrono::seconds(6);

// What users write to pods and nodes to ask for something, apart from what they are.
constexpr std::string_view kWishes[] = {api::kAnnotationResourceStatus, api::kAnnotationCpuBurst,
                                        api::kAnnotationCpuQos,         api::kAnnotationMemoryQos,
                                        api::kAnnotationResctrl,        api::kAnnotationNetworkQos};

FeatureGates Only(const UndoFile::Features& features) {
  FeatureGates gates = KoordletFeatureGates();
  for (const FeatureGate& gate : gates.List()) {
    (void)gates.Set(fmt::format("{}={}", gate.name, features.contains(gate.name)));
  }
  return gates;
}

std::shared_ptr<const kube::Pod> WithoutWishes(const kube::Pod& pod) {
  auto quiet = std::make_shared<kube::Pod>(pod);
  auto& annotations = quiet->metadata.annotations;
  for (const std::string_view key : kWishes) {
    if (const auto it = annotations.find(key); it != annotations.end()) annotations.erase(it);
  }
  // An empty text takes all limits off.
  if (const auto it = annotations.find(api::kAnnotationBlkioQos); it != annotations.end()) {
    it->second.clear();
  }
  return quiet;
}

}  // namespace

UndoFile::Features EnforcingFeatures(const FeatureGates& gates) {
  UndoFile::Features features;
  for (const std::string_view gate : kEnforcing) {
    if (gates.Enabled(gate)) features.emplace(gate);
  }
  return features;
}

Restorer::Restorer(EventLoop& loop, const NodeState& state, const UndoFile::Features& features,
                   QosContext context, hooks::RuntimeHooks::Surroundings hooks,
                   hooks::HookOptions hook_options)
    : loop_(loop),
      real_(state),
      layout_(context.host.cgroups().layout()),
      gates_(Only(features)),
      timer_(loop) {
  quiet_.SetSlo(std::make_shared<const api::NodeSloSpec>(MergeNodeSlo(api::NodeSloSpec())));
  strategies_ = std::make_unique<QosManager>(loop_, QosContext{.host = context.host,
                                                               .executor = context.executor,
                                                               .state = quiet_,
                                                               .metrics = context.metrics,
                                                               .info = context.info,
                                                               .clock = context.clock,
                                                               .gates = gates_,
                                                               .evictor = context.evictor,
                                                               .auditor = context.auditor,
                                                               .registry = context.registry,
                                                               .random = context.random,
                                                               .options = context.options,
                                                               .node_name = context.node_name,
                                                               .undo = context.undo,
                                                               .is_restoring = true});
  hook_options.is_restoring = true;
  hooks_ = std::make_unique<hooks::RuntimeHooks>(
      hooks::RuntimeHooks::Surroundings{.host = hooks.host,
                                        .executor = hooks.executor,
                                        .state = quiet_,
                                        .loop = hooks.loop,
                                        .gates = gates_,
                                        .registry = hooks.registry,
                                        .tools = hooks.tools,
                                        .undo = hooks.undo},
      std::move(hook_options));
}

void Restorer::Start(Task done) {
  done_ = std::move(done);
  Pass();
}

void Restorer::Pass() {
  LookAtNode();
  if (quiet_.node() == nullptr || quiet_.topology() == nullptr) {
    return timer_.Set(kBetweenPasses, [this] { Pass(); });
  }
  strategies_->RunOnce();
  hooks_->RunOnce();
  if (++passes_ < kPasses) {
    timer_.Set(kBetweenPasses, [this] { Pass(); });
    return;
  }
  timer_.Set(Duration::zero(), [this] {
    Task done = std::exchange(done_, [] {});
    done();
  });
}

void Restorer::LookAtNode() {
  if (real_.node() != nullptr) {
    auto node = std::make_shared<kube::Node>(*real_.node());
    auto& annotations = node->metadata.annotations;
    if (const auto it = annotations.find(api::kAnnotationCpuNormalizationRatio);
        it != annotations.end()) {
      annotations.erase(it);
    }
    quiet_.SetNode(std::move(node));
  }
  if (real_.topology() != nullptr) quiet_.SetTopology(real_.topology());
  auto pods = std::make_shared<NodePods>();
  for (const NodePod& pod : *real_.pods()) {
    pods->push_back(MakeNodePod(WithoutWishes(*pod.pod), layout_));
  }
  quiet_.SetPods(std::move(pods));
}

}  // namespace koord::koordlet
