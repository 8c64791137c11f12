#include "manager/program/manager_options.h"

#include <cstdlib>
#include <utility>

#include "base/duration.h"
#include "base/log.h"
#include "base/strings.h"
#include "manager/webhook/server/webhook_options.h"

namespace koord::manager {

using program::Flags;
using program::PlainServingOptions;
using program::Program;

namespace {

constexpr int kSecurePort = 8443;

}  // namespace

StatusOr<PlainServingOptions> ParseListenAddress(std::string_view flag, std::string_view text) {
  if (text == "0") return PlainServingOptions{.address = "0.0.0.0", .port = 0};
  const size_t colon = text.rfind(':');
  const std::optional<int64_t> port =
      colon == std::string_view::npos ? std::nullopt : ParseInt(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    return InvalidArgument("{} {} must be an address and a port, such as :8080, or 0 for none",
                           flag, Quote(text));
  }
  std::string_view address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  return PlainServingOptions{.address = address.empty() ? "0.0.0.0" : std::string(address),
                             .port = static_cast<int>(*port)};
}

ManagerOptions::ManagerOptions(Program& program) : program_(program) {
  program.options().leader_election.election.lease = {"koordinator-system", "koordinator-manager"};
  program.options().client.qps = qps_;
  program.options().client.burst = burst_;
  program.options().secure.port = kSecurePort;
  AddFlags();
  program.BeforeStart([this] { return Prepare(); });
}

void ManagerOptions::AddFlags() {
  Program::Options& options = program_.options();
  Flags& flags = program_.flags();
  flags.AddGroup("API server")
      .Text("--kubeconfig", options.client.kubeconfig,
            "File that says where the API server is and how to be let in. Without it: the cluster "
            "that this program runs in, then $KUBECONFIG, then ~/.kube/config.")
      .Text("--master", options.client.master, "URL of the API server.")
      .Number("--rest-config-qps", qps_, "Requests a second to the API server.")
      .Int("--rest-config-burst", burst_, "Requests to the API server that may come at once.")
      .Text("--namespace", app_.only_namespace, "Watch pods of this namespace only.")
      .Text("--sync-period", sync_period_,
            "How often everything is looked at again although nothing has changed.");
  flags.AddGroup("Serving")
      .Text("--metrics-addr", metrics_address_,
            "Where to serve health over plain HTTP, and metrics with --metrics-without-login. 0 "
            "switches it off.")
      .Text("--health-probe-addr", health_address_,
            "Where to serve /healthz and /readyz. 0 switches it off.");
  program::AddSecureServingFlags(flags, options.secure);
  program::AddOpenMetricsFlag(flags, options.metrics_without_login);
  flags.AddGroup("Leader election")
      .Bool("--enable-leader-election", options.leader_election.enabled,
            "Run controllers only while holding a lease, so that of several replicas one is at "
            "work. Webhooks are served by all.")
      .Text("--leader-election-namespace", options.leader_election.election.lease.ns,
            "Namespace of the lease.")
      .Custom("--leader-elect-resource-lock", "string", "leases",
              "What the lock is made of; leases are all there is.", [](std::string_view lock) {
                if (lock == "leases") return absl::OkStatus();
                return InvalidArgument("must be leases");
              });
  flags.AddGroup("Controllers")
      .List("--controllers", app_.controllers,
            "Controllers to run: nodemetric, noderesource, nodeslo, quotaprofile, "
            "colocationprofile; * for all, -name for all but one.")
      .List("--noderesource-plugins", app_.noderesource_plugins,
            "What of nodes' resources to look after: MidResource, BatchResource, "
            "CPUNormalization, ResourceAmplification, GPUDeviceResource, RDMADeviceResource; * "
            "for all, -name for all but one.")
      .Text("--slo-config-name", app_.slo_config.name, "Name of the SLO ConfigMap.")
      .Text("--config-namespace", app_.slo_config.ns, "Namespace of the SLO ConfigMap.");
  webhook::AddColocationProfileFlags(flags, app_.colocation_profile);
  webhook::AddWebhookFlags(flags, webhooks_);
  program::AddFeatureGatesFlag(flags.AddGroup("Features"), program_.gates());
  program::AddLoggingFlags(flags, options.logging);
  flags.Accept({"--pprof-addr"}, {"--enable-pprof", "--disable-no-deepcopy"});
}

Status ManagerOptions::Check() const {
  RETURN_IF_ERROR(CheckSwitches("--controllers", app_.controllers, KnownControllers()));
  return CheckSwitches("--noderesource-plugins", app_.noderesource_plugins,
                       KnownNodeResourcePlugins());
}

StatusOr<bool> ManagerOptions::Prepare() {
  RETURN_IF_ERROR(Check());
  Program::Options& options = program_.options();
  ASSIGN_OR_RETURN(options.plain, ParseListenAddress("--metrics-addr", metrics_address_));
  ASSIGN_OR_RETURN(const PlainServingOptions health,
                   ParseListenAddress("--health-probe-addr", health_address_));
  options.further_plain = {health};
  RETURN_IF_ERROR(webhook::ReadEnvironment(std::getenv, webhooks_));
  if (program_.gates().Enabled(kWebhookFramework)) {
    RETURN_IF_ERROR(webhook::CheckCallers(webhooks(program_.gates())));
  }
  if (qps_ > 0) options.client.qps = qps_;
  if (burst_ > 0) options.client.burst = burst_;
  if (sync_period_.empty()) return true;
  const auto period = ParseDuration(sync_period_);
  if (period.ok() && *period > 0s) {
    app_.resync = *period;
  } else {
    LOG_WARNING("The flag has no effect", {"flag", "--sync-period"}, {"value", sync_period_});
  }
  return true;
}

webhook::WebhookServer::Options ManagerOptions::webhooks(const FeatureGates& gates) const {
  webhook::WebhookServer::Options options = webhooks_;
  options.handler.features = webhook::FeaturesOf(gates);
  options.handler.slo_config = app_.slo_config;
  return options;
}

StatusOr<ManagerPlan> PlanManager(const std::vector<std::string>& arguments) {
  Program program("koord-manager", "", ManagerFeatureGates());
  const ManagerOptions options(program);
  const Flags::Outcome outcome = program.flags().Read(arguments);
  if (!outcome.run) return InvalidArgument("{}", Trim(outcome.err));
  RETURN_IF_ERROR(options.Check());
  ManagerPlan plan{.app = options.app(),
                   .webhooks = options.webhooks(program.gates()),
                   .without_effect = program.WithoutEffect()};
  plan.app.gates = program.gates();
  plan.app.webhooks = program.gates().Enabled(kWebhookFramework);
  return plan;
}

}  // namespace koord::manager
