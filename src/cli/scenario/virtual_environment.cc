#include "cli/scenario/virtual_environment.h"

#include "scheduler/config/load_configuration.h"

namespace koord::scenario {
namespace {

// What a scenario calls its scheduler's configuration can be of one kind only.
kube::Json WithTypeMeta(kube::Json config) {
  if (auto* members = config.if_object()) {
    members->emplace("apiVersion", "kubescheduler.config.k8s.io/v1");
    members->emplace("kind", "KubeSchedulerConfiguration");
  }
  return config;
}

}  // namespace

StatusOr<std::unique_ptr<VirtualEnvironment>> VirtualEnvironment::Start(const Scenario& scenario) {
  std::unique_ptr<VirtualEnvironment> environment(new VirtualEnvironment());
  localcluster::LocalClusterOptions options;
  options.seed = scenario.seed;
  if (!scenario.runs_manager) options.without.insert("manager");
  options.manager_flags = scenario.manager_flags;
  options.nodes = 0;
  options.load = "flat";
  options.adopt_nodes = true;
  if (!scenario.scheduler_config.is_null()) {
    const kube::Json config = WithTypeMeta(scenario.scheduler_config);
    ASSIGN_OR_RETURN(auto loaded,
                     scheduler::LoadConfiguration(kube::Serialize(config), scenario.file));
    options.scheduler = std::move(loaded.configuration);
  }
  ASSIGN_OR_RETURN(environment->cluster_,
                   localcluster::LocalCluster::Start(environment->loop_, std::move(options)));
  localcluster::LocalCluster& cluster = *environment->cluster_;
  if (!environment->RunUntil([&] { return cluster.ready(); })) {
    return Internal("the cluster did not become ready within a minute of virtual time");
  }
  return environment;
}

const std::string& VirtualEnvironment::default_namespace() const {
  static const std::string kDefault = "default";
  return kDefault;
}

bool VirtualEnvironment::RunUntil(const std::function<bool()>& done) {
  return loop_.RunUntil(done, std::chrono::minutes(1));
}

// What never comes to rest is cut off, so that a livelock shows as a failed expectation and not as
// a hang. Quiet must last, since what one part has finished another may be about to notice.
void VirtualEnvironment::Settle() {
  constexpr Duration kSlice = std::chrono::milliseconds(100);
  constexpr Duration kMost = std::chrono::minutes(1);
  constexpr int kQuietSlices = 3;
  int quiet = 0;
  for (Duration passed{0}; passed < kMost && quiet < kQuietSlices; passed += kSlice) {
    loop_.Advance(kSlice);
    quiet = cluster_->quiet() ? quiet + 1 : 0;
  }
}

void VirtualEnvironment::Advance(Duration span) { loop_.Advance(span); }

}  // namespace koord::scenario
