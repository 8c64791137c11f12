#include "localcluster/assembly/local_cluster.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "api/resources.h"
#include "base/log.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"
#include "localcluster/apiserver/storage/store.h"
#include "localcluster/assembly/default_objects.h"
#include "localcluster/assembly/definitions.h"
#include "localcluster/assembly/local_manager.h"
#include "localcluster/assembly/manager_manifests.h"
#include "localcluster/assembly/service_proxy.h"
#include "localcluster/controllers/controller_manager.h"
#include "localcluster/controllers/volumes/default_class.h"
#include "localcluster/demo/demo.h"
#include "localcluster/informers/cluster_informers.h"
#include "localcluster/nodes/koordlet/node_koordlets.h"
#include "localcluster/nodes/simulated_nodes.h"
#include "localcluster/scheduler/local_scheduler.h"

namespace koord::localcluster {
namespace {

constexpr char kControllers[] = "controllers";
constexpr char kKoordlet[] = "koordlet";
constexpr char kManager[] = "manager";
constexpr char kScheduler[] = "scheduler";
constexpr char kNodes[] = "nodes";
constexpr char kWebhooks[] = "webhooks";

constexpr Duration kDemoCheck = std::chrono::milliseconds(100);

// The scheduler as others see it: some annotations are refused from anyone else.
kube::UserInfo SchedulerUser() {
  return {.name = "system:serviceaccount:koordinator-system:koord-scheduler",
          .groups = {"system:serviceaccounts", "system:serviceaccounts:koordinator-system",
                     "system:authenticated"}};
}

class LocalClusterImpl final : public LocalCluster {
 public:
  LocalClusterImpl(EventLoop& loop, LocalClusterOptions options,
                   std::unique_ptr<apiserver::Store> store)
      : options_(std::move(options)),
        store_(std::move(store)),
        random_(options_.seed),
        server_(loop, *store_, ServerOptions()),
        proxy_(server_),
        transport_(std::make_shared<kube::InProcessTransport>(loop, server_)),
        client_(loop, transport_, ClientOptions("koord-controllers")),
        reports_(loop, transport_, ClientOptions("koord-nodes")),
        placements_(loop,
                    std::make_shared<kube::InProcessTransport>(loop, server_, SchedulerUser()),
                    ClientOptions("koord-scheduler")),
        policies_(loop, transport_, ClientOptions("koordinator-manager")),
        informers_(client_, options_.seed),
        recorders_(client_, options_.seed),
        context_{client_, informers_, random_, recorders_},
        demo_timer_(loop) {}

  Status Start() {
    if (Runs(kControllers)) controllers_.emplace(context_, options_.seed);
    if (Runs(kManager)) RETURN_IF_ERROR(MakeManager());
    if (Runs(kScheduler)) RETURN_IF_ERROR(MakeScheduler());
    if (Runs(kNodes)) RETURN_IF_ERROR(MakeNodes());
    if (options_.demo) RETURN_IF_ERROR(MakeDemo());
    InstallDefinitions(client_, scope_.Wrap([this](Status status) { OnDefined(status); }));
    return absl::OkStatus();
  }

  kube::HttpHandler& handler() override { return proxy_; }
  const apiserver::ApiServer& api_server() const override { return server_; }
  kube::Client& client() override { return client_; }

  bool ready() override {
    return std::ranges::all_of(Readiness(),
                               [](const ReadinessCheck& check) { return check.missing.empty(); });
  }

  bool quiet() override {
    return ready() && (!controllers_ || controllers_->idle()) &&
           (!scheduler_ || scheduler_->quiet()) && (!manager_ || manager_->quiet()) &&
           (!nodes_ || nodes_->idle());
  }

  Summary Summarize() const override {
    SummaryBuilder builder;
    for (const auto& node : informers_.nodes.List()) builder.AddNode(*node);
    for (const auto& pod : informers_.pods.List()) builder.AddPod(*pod);
    AddNodeMetrics(builder);
    if (koordlets_) builder.SetProtection(koordlets_->protection());
    return std::move(builder).Build();
  }

  void Shutdown() override {
    if (manager_) manager_->Stop();
    server_.Shutdown();
  }

 private:
  using ReadinessCheck = apiserver::ReadinessCheck;

  // Koordlets know them already. Without these the few that there may be are read.
  void AddNodeMetrics(SummaryBuilder& builder) const {
    if (koordlets_) {
      for (const auto& metric : koordlets_->reports()) builder.AddNodeMetric(*metric);
      return;
    }
    const Status status = store_->Range(
        api::kNodeMetrics.qualified(), "", "", 0, [&](const apiserver::EntryPtr& entry) {
          if (const auto metric = kube::ParseShortLivedJson(entry->value); metric.ok()) {
            builder.AddNodeMetric(*metric);
          }
          return true;
        });
    if (!status.ok()) LOG_ERROR("Could not read node metrics", {"err", status});
  }

  std::vector<ReadinessCheck> Readiness() {
    std::vector<ReadinessCheck> checks;
    const auto add = [&](std::string name, bool ready, std::string missing) {
      checks.push_back({std::move(name), ready ? "" : std::move(missing)});
    };
    add("bootstrap", HasDefaults(), "default namespaces and service accounts are being made");
    add("start", started_, "custom resources and webhooks are being installed");
    add("informers", informers_.synced(), "the first lists are not there");
    if (controllers_) add("controllers", controllers_->ready(), "the kinds are not known");
    if (scheduler_) add("scheduler", scheduler_->synced(), "it does not know the cluster");
    if (manager_)
      add("manager", manager_->ready(), "it does not know the cluster, or has no webhooks");
    if (nodes_) add("nodes", nodes_->ready(), "not all are registered and Ready");
    return checks;
  }

  // What the server makes by itself: pods need it.
  bool HasDefaults() const {
    return std::ranges::all_of(
        std::initializer_list<std::string_view>{"default/default", "kube-system/default"},
        [this](std::string_view key) {
          return store_->Get(kube::kServiceAccounts.qualified(), key) != nullptr;
        });
  }

  bool Runs(std::string_view component) const { return !options_.without.contains(component); }

  apiserver::ApiServer::Options ServerOptions() {
    apiserver::ApiServer::Options options = options_.api;
    options.seed = options_.seed;
    options.readiness = [this] { return Readiness(); };
    options.webhooks.resolve = [this](const apiserver::ServiceReference& service) {
      return manager_ ? manager_->Resolve(service) : NotFound("no manager");
    };
    options.webhooks.is_needless = [this](const apiserver::ServiceReference& service,
                                          std::string_view path,
                                          const apiserver::AdmissionRequest& request) {
      return manager_ && manager_->IsNeedless(service, path, request);
    };
    options.webhooks.transport =
        [this, next = options_.api.webhooks.transport](
            const apiserver::WebhookTarget& target) -> StatusOr<std::shared_ptr<kube::Transport>> {
      if (manager_) {
        if (auto direct = manager_->DirectTransport(target)) return direct;
      }
      if (next) return next(target);
      return Unavailable("this server has no way to call webhooks");
    };
    return options;
  }

  static kube::Client::Options ClientOptions(std::string user_agent) {
    return {.user_agent = std::move(user_agent), .qps = 0};
  }

  Status MakeManager() {
    // Whoever runs a scheduler by hand gives it the admin's kubeconfig.
    const LocalManager::Options options{.flags = options_.manager_flags,
                                        .webhooks = Runs(kWebhooks),
                                        .trust_admin = !Runs(kScheduler),
                                        .seed = options_.seed,
                                        .lender = &informers_,
                                        .sockets = options_.sockets,
                                        .client_ca = options_.api.client_ca};
    ASSIGN_OR_RETURN(manager_, LocalManager::Make(policies_, manager_api_, options));
    proxy_.Register(kManagerService, manager_api_);
    return absl::OkStatus();
  }

  Status MakeScheduler() {
    kube::InformerSet* lender = &informers_;
    if (manager_) lender = &manager_->informers();
    ASSIGN_OR_RETURN(scheduler_, MakeLocalScheduler(placements_.loop(), placements_, scheduler_api_,
                                                    options_.seed, options_.scheduler, lender));
    proxy_.Register(kSchedulerService, scheduler_api_);
    return absl::OkStatus();
  }

  Status MakeNodes() {
    SimulatedNodesOptions options;
    ASSIGN_OR_RETURN(options.nodes, PlanNodes(options_.nodes, options_.shapes));
    LoadModels load;
    RETURN_IF_ERROR(load.SetDefault(options_.load));
    options.adopt = options_.adopt_nodes;
    options.make_node_metrics = !manager_;
    options.seed = options_.seed;
    if (Runs(kKoordlet)) {
      kube::InformerSet* const lender = manager_ ? &manager_->informers() : nullptr;
      koordlets_.emplace(reports_, informers_, lender, std::move(load), options_.seed);
      options.agents = &*koordlets_;
    }
    nodes_.emplace(context_, reports_, std::move(options));
    return absl::OkStatus();
  }

  Status MakeDemo() {
    demo_.emplace(client_, informers_);
    return demo_->Load();
  }

  // Its services are as many as the nodes have room for.
  void StartDemo() {
    if (ready()) return demo_->Start();
    demo_timer_.Set(kDemoCheck, [this] { StartDemo(); });
  }

  void OnDefined(const Status& status) {
    if (!status.ok()) LOG_ERROR("Could not install the custom resources", {"err", status});
    EnsureStorageClass(client_, scope_.Wrap([this](Status status) { OnStorageClass(status); }));
  }

  void OnStorageClass(const Status& status) {
    if (!status.ok()) LOG_ERROR("Could not create a storage class", {"err", status});
    const std::function<void(Status)> prepared =
        scope_.Wrap([this](Status status) { OnPrepared(status); });
    if (manager_ && manager_->has_webhooks()) return InstallWebhooks(client_, prepared);
    RemoveWebhooks(client_, scope_.Wrap([this, prepared](Status status) {
      if (!status.ok() || !manager_) return prepared(status);
      InstallManagerNamespace(client_, prepared);
    }));
  }

  void OnPrepared(const Status& status) {
    if (!status.ok()) LOG_ERROR("Could not prepare webhooks", {"err", status});
    informers_.Start();
    if (!manager_) return MakeDefaults();
    // Webhooks of an earlier run may be in force: nothing that they are asked about can be created
    // before they are answered again.
    manager_->Start([this] { MakeDefaults(); });
  }

  void MakeDefaults() {
    if (!options_.defaults) return StartOthers();
    // The demo comes with a configuration of its own.
    const bool with_config = manager_ != nullptr && !options_.demo;
    InstallDefaults(client_, with_config, scope_.Wrap([this](Status status) {
      if (!status.ok()) LOG_ERROR("Could not make the default objects", {"err", status});
      StartOthers();
    }));
  }

  void StartOthers() {
    if (controllers_) controllers_->Start();
    if (koordlets_) koordlets_->Start();
    if (nodes_) nodes_->Start();
    if (scheduler_) {
      scheduler_->Watch();
      scheduler_->Lead();
    }
    started_ = true;
    if (demo_) StartDemo();
  }

  const LocalClusterOptions options_;
  std::unique_ptr<apiserver::Store> store_;
  Random random_;
  apiserver::ApiServer server_;
  ServiceProxy proxy_;
  std::shared_ptr<kube::InProcessTransport> transport_;
  kube::Client client_;
  kube::Client reports_;
  kube::Client placements_;
  kube::Client policies_;
  ClusterInformers informers_;
  kube::EventRecorders recorders_;
  ControllerContext context_;
  std::optional<ControllerManager> controllers_;
  program::ComponentApi manager_api_;
  std::unique_ptr<LocalManager> manager_;
  program::ComponentApi scheduler_api_;
  std::unique_ptr<scheduler::SchedulerApp> scheduler_;  // borrows from the manager
  std::optional<NodeKoordlets> koordlets_;
  std::optional<SimulatedNodes> nodes_;
  std::optional<Demo> demo_;
  Timer demo_timer_;
  bool started_ = false;
  Scope scope_;
};

}  // namespace

const std::vector<std::string>& ComponentNames() {
  static const std::vector<std::string> kNames{kControllers, kKoordlet,  kManager,
                                               kNodes,       kScheduler, kWebhooks};
  return kNames;
}

StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Start(EventLoop& loop,
                                                            LocalClusterOptions options) {
  ASSIGN_OR_RETURN(auto store, apiserver::Store::Open(loop, {.path = options.database,
                                                             .index = apiserver::IndexEntry,
                                                             .on_fatal = options.on_fatal}));
  auto cluster = std::make_unique<LocalClusterImpl>(loop, std::move(options), std::move(store));
  RETURN_IF_ERROR(cluster->Start());
  return cluster;
}

}  // namespace koord::localcluster
