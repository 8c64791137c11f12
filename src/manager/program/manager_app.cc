#include "manager/program/manager_app.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "manager/nodemetric/node_metric_controller.h"
#include "manager/nodeslo/node_slo_controller.h"
#include "manager/quota/quota_profile_controller.h"
#include "manager/quota/quota_usage_controller.h"

namespace koord::manager {
namespace {

// How often to look whether what is under way is finished.
constexpr Duration kStopCheck = 10ms;

constexpr std::string_view kNodeMetric = "nodemetric";
constexpr std::string_view kNodeResource = "noderesource";
constexpr std::string_view kNodeSlo = "nodeslo";

NodeResourceOptions PluginsOf(const ManagerApp::Options& options) {
  const auto on = [&](std::string_view plugin) {
    return IsSwitchedOn(options.noderesource_plugins, plugin);
  };
  return {.mid = on(kMidResource),
          .batch = on(kBatchResource),
          .cpu_normalization = on(kCpuNormalization),
          .amplification = on(kResourceAmplification),
          .gpu = on(kGpuDeviceResource),
          .rdma = on(kRdmaDeviceResource),
          .share_gpus = options.gates.Enabled(kEnableSyncGpuSharedResource)};
}

}  // namespace

bool IsSwitchedOn(const std::vector<std::string>& list, std::string_view name) {
  for (const std::string& entry : list) {
    if (entry == name) return true;
    if (entry.starts_with('-') && std::string_view(entry).substr(1) == name) return false;
  }
  return std::find(list.begin(), list.end(), "*") != list.end();
}

Status CheckSwitches(std::string_view flag, const std::vector<std::string>& list,
                     std::span<const std::string_view> known) {
  for (const std::string& entry : list) {
    std::string_view name = entry;
    if (name == "*") continue;
    if (name.starts_with('-')) name.remove_prefix(1);
    if (std::ranges::find(known, name) != known.end()) continue;
    return InvalidArgument("{}: there is no {}; there are {}, * for all and -name for all but one",
                           flag, Quote(name), Join(known, ", "));
  }
  return absl::OkStatus();
}

std::span<const std::string_view> KnownControllers() {
  static constexpr std::string_view kNames[] = {kNodeMetric, kNodeResource, kNodeSlo,
                                                QuotaProfileController::kName,
                                                ColocationProfileController::kName};
  return kNames;
}

std::span<const std::string_view> KnownNodeResourcePlugins() {
  static constexpr std::string_view kNames[] = {kMidResource,       kBatchResource,
                                                kCpuNormalization,  kResourceAmplification,
                                                kGpuDeviceResource, kRdmaDeviceResource};
  return kNames;
}

ManagerApp::ManagerApp(kube::Client& client, Options options)
    : client_(client),
      options_(std::move(options)),
      recorders_(client, options_.seed),
      informers_(client, {.seed = options_.seed,
                          .resync = options_.resync,
                          .slo_config = options_.slo_config,
                          .only_namespace = options_.only_namespace,
                          .lender = options_.lender}),
      config_(informers_.config_maps, options_.slo_config,
              [this](std::string_view component) -> kube::EventRecorder& {
                return recorders_.For(component);
              }),
      context_{client_, informers_, config_, recorders_},
      is_leader_(metrics_.AddGauge("koordinator_manager_is_leader", "1 while this instance leads")),
      stopping_(client.loop()) {
  MakeControllers();
  if (options_.api != nullptr) Serve(*options_.api);
}

ManagerApp::~ManagerApp() = default;

bool ManagerApp::Runs(std::string_view controller) const {
  if (controller == ColocationProfileController::kName &&
      !options_.gates.Enabled(kColocationProfileController)) {
    return false;
  }
  return IsSwitchedOn(options_.controllers, controller);
}

kube::ControllerParts ManagerApp::PartsOf(std::string_view component) {
  return {client_, informers_, recorders_.For(component)};
}

void ManagerApp::MakeControllers() {
  if (Runs(kNodeMetric)) {
    controllers_.push_back(std::make_unique<NodeMetricController>(context_, metrics_));
  }
  if (Runs(kNodeResource)) {
    auto made = std::make_unique<NodeResourceController>(context_, PluginsOf(options_), metrics_);
    node_resources_ = made.get();
    controllers_.push_back(std::move(made));
  }
  if (Runs(kNodeSlo)) {
    controllers_.push_back(std::make_unique<NodeSloController>(context_, metrics_));
  }
  MakeProfileControllers();
  MakeQuotaUsageController();
}

void ManagerApp::MakeProfileControllers() {
  if (Runs(QuotaProfileController::kName)) {
    controllers_.push_back(std::make_unique<QuotaProfileController>(
        QuotaProfileController::Inputs{PartsOf("quotaprofile-controller"), informers_.nodes,
                                       informers_.QuotaProfiles(), informers_.Quotas()}));
  }
  if (Runs(ColocationProfileController::kName)) {
    ColocationProfileController::Options options = options_.colocation_profile;
    options.seed = options_.seed;
    controllers_.push_back(std::make_unique<ColocationProfileController>(
        ColocationProfileController::Inputs{PartsOf("colocationprofile-controller"),
                                            informers_.Profiles(), informers_.Namespaces(),
                                            informers_.pods},
        options));
  }
}

// Wherever pods are charged at admission: otherwise nothing would ever be given back.
void ManagerApp::MakeQuotaUsageController() {
  const FeatureGates& gates = options_.gates;
  if (!options_.webhooks || !gates.Enabled("EnableQuotaAdmission")) return;
  controllers_.push_back(std::make_unique<QuotaUsageController>(
      QuotaUsageController::Inputs{PartsOf("quotausage-controller"), informers_.pods,
                                   informers_.Quotas()},
      QuotaUsageController::Options{
          .no_default = gates.Enabled("DisableDefaultQuota"),
          .replace_resources = gates.Enabled("ElasticQuotaEvaluationTransformPod") &&
                               gates.Enabled("ReplaceResourcesTransformer")}));
}

void ManagerApp::Serve(program::ComponentApi& api) {
  using program::RouteRequest;
  const auto text = [](std::string body) {
    kube::HttpResponse response = program::MetricsResponse(metrics::Registry());
    response.body = std::move(body);
    return response;
  };
  api.AddRoute("GET", "/internal-metrics",
               [this, text](const RouteRequest&) { return text(metrics_.Text()); });
  api.AddRoute("GET", "/external-metrics", [text](const RouteRequest&) { return text(""); });
  api.AddRoute("GET", "/all-metrics", [this, text, &api](const RouteRequest&) {
    return text(api.metrics().Text() + metrics_.Text());
  });
  if (node_resources_ == nullptr) return;
  api.AddRoute("GET", "/apis/v1/explain/nodes/{node}", [this](const RouteRequest& request) {
    return ExplainNode(std::string(request.Param("node")), request.Query("resource"));
  });
}

kube::HttpResponse ManagerApp::ExplainNode(const std::string& node, std::string_view resource) {
  const auto refuse = [](int code, std::string_view why) {
    return program::JsonResponse(code, {{"message", why}});
  };
  if (!leads_) return refuse(503, "the instance is not leader");
  if (!synced()) return refuse(503, "the instance is still learning about the cluster");
  const auto explanation = node_resources_->Explain(node, resource);
  if (explanation.ok()) return program::JsonResponse(200, kube::Encode(*explanation));
  const bool unknown = explanation.status().code() == absl::StatusCode::kNotFound;
  return refuse(unknown ? 404 : 400, Message(explanation.status()));
}

void ManagerApp::Watch() { informers_.Start(); }

void ManagerApp::Lead() {
  leads_ = true;
  is_leader_.Set(1);
  informers_.WhenSynced(scope_.Wrap([this] { Begin(); }));
}

void ManagerApp::Begin() {
  if (!leads_) return;
  config_.Tell();
  for (const auto& controller : controllers_) controller->Start();
}

void ManagerApp::Stop(Task done) {
  leads_ = false;
  is_leader_.Set(0);
  for (const auto& controller : controllers_) controller->Stop();
  stopped_ = std::move(done);
  FinishWhenIdle();
}

void ManagerApp::FinishWhenIdle() {
  const bool idle = std::all_of(controllers_.begin(), controllers_.end(),
                                [](const auto& each) { return each->idle(); });
  if (!idle) return stopping_.Set(kStopCheck, [this] { FinishWhenIdle(); });
  Task stopped = std::move(stopped_);
  stopped();
}

bool ManagerApp::quiet() const {
  return synced() && std::all_of(controllers_.begin(), controllers_.end(),
                                 [](const auto& each) { return each->idle(); });
}

}  // namespace koord::manager
