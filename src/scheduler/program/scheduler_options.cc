#include "scheduler/program/scheduler_options.h"

#include <fstream>

#include "base/file.h"
#include "base/log.h"
#include "scheduler/config/load_configuration.h"

namespace koord::scheduler {

using program::Flags;
using program::Program;

SchedulerOptions::SchedulerOptions(Program& program) : program_(program) {
  Program::Options& options = program.options();
  options.secure.port = 10259;
  // As Koordinator's chart names it: beside a kube-scheduler, its lease must not be taken.
  options.leader_election.election.lease = {"koordinator-system", "koord-scheduler"};
  program.AddStandardFlags();
  AddFlags();
  program.flags().AddCheck([this] { return Check(); });
  program.BeforeStart([this] { return Load(); });
}

void SchedulerOptions::AddFlags() {
  Flags& flags = program_.flags();
  flags.AddGroup("Scheduler")
      .Text("--config", config_file_,
            "File with a KubeSchedulerConfiguration: profiles, plugins and their arguments. Flags "
            "that are set as well count more.")
      .Text("--write-config-to", write_config_to_,
            "Write the configuration, with all defaults, to this file and exit.")
      .Time("--pod-max-in-unschedulable-pods-duration", flush_after_,
            "How long a pod waits for an event that may help it before it is tried anyway.")
      .Time("--scheduler-monitor-period", monitor_.period,
            "How often attempts that take too long are looked for.")
      .Time("--scheduling-timeout", monitor_.timeout, "How long an attempt may take.")
      .Time("--scheduling-drop-unhandled-timeout", monitor_.drop_unhandled,
            "When the monitor forgets a pod that was taken from the queue and never tried.");
  flags.AddGroup("Debugging")
      .Int("-s,--debug-scores", debug_.top_scores,
           "Log the scores of so many of the best nodes for each pod. 0: none.")
      .Bool("-f,--debug-filters", debug_.filter_failures,
            "Log for each pod which nodes fall out, and why.")
      .Bool("-d,--debug-diagnosis", debug_.diagnosis, "Log as JSON why a pod fits no node.")
      .Bool("--debug-diagnosis-blocking", debug_.diagnosis_blocking,
            "Log diagnoses at once instead of when there is time.")
      .Int("--debug-diagnosis-queue-size", debug_.diagnosis_queue_size,
           "How many diagnoses may wait to be logged; further ones are left out.");
  flags.Accept(
      {"--debug-diagnosis-worker-count", "--controller-plugins", "--workload-auditor-metric-labels",
       "--workload-auditor-victim-reschedule-duration",
       "--workload-auditor-victim-deletion-duration", "--workload-auditor-victim-deleting-retries",
       "--workload-auditor-scheduling-event-interval", "--sync-barrier-pod-namespace",
       "--sync-barrier-pod-name", "--sync-hard-timeout", "--min-compatibility-version"},
      {"--enable-network-topology-manager", "--enable-workload-auditor",
       "--emulation-forward-compatible"});
}

Status SchedulerOptions::Check() const {
  if (debug_.top_scores < 0) {
    return InvalidArgument("--debug-scores {} must not be negative", debug_.top_scores);
  }
  if (debug_.diagnosis_queue_size < 1) {
    return InvalidArgument("--debug-diagnosis-queue-size {} must be at least 1",
                           debug_.diagnosis_queue_size);
  }
  if (monitor_.period <= 0s || monitor_.timeout <= 0s) {
    return InvalidArgument("--scheduler-monitor-period and --scheduling-timeout must be positive");
  }
  if (flush_after_ <= 0s) {
    return InvalidArgument("--pod-max-in-unschedulable-pods-duration must be positive");
  }
  return absl::OkStatus();
}

StatusOr<bool> SchedulerOptions::Load() {
  configuration_ = DefaultConfiguration();
  if (!config_file_.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(config_file_));
    ASSIGN_OR_RETURN(LoadedConfiguration loaded, LoadConfiguration(text, config_file_));
    warnings_ = std::move(loaded.warnings);
    for (const std::string& warning : warnings_) LOG_WARNING(warning);
    configuration_ = std::move(loaded.configuration);
    ApplyFile(program_.options());
  }
  ApplyFlags();
  if (write_config_to_.empty()) return true;
  RETURN_IF_ERROR(WriteConfiguration());
  return false;
}

// Puts what the file says into the program's options, except where a flag says otherwise.
void SchedulerOptions::ApplyFile(Program::Options& options) const {
  const auto apply = [&](std::string_view flag, auto& option, const auto& value) {
    if (!IsSet(flag)) option = value;
  };
  const LeaderElectionSettings& file = configuration_.leader_election;
  program::LeaderElectionConfig& leader = options.leader_election;
  apply("--leader-elect", leader.enabled, file.leader_elect);
  apply("--leader-elect-lease-duration", leader.election.lease_duration, file.lease_duration);
  apply("--leader-elect-renew-deadline", leader.election.renew_deadline, file.renew_deadline);
  apply("--leader-elect-retry-period", leader.election.retry_period, file.retry_period);
  apply("--leader-elect-resource-name", leader.election.lease.name, file.resource_name);
  apply("--leader-elect-resource-namespace", leader.election.lease.ns, file.resource_namespace);

  const ClientConnection& connection = configuration_.client_connection;
  if (!connection.kubeconfig.empty()) {
    apply("--kubeconfig", options.client.kubeconfig, connection.kubeconfig);
  }
  apply("--kube-api-qps", options.client.qps, std::max(connection.qps, 0.0));  // < 0: no limit
  apply("--kube-api-burst", options.client.burst, connection.burst);
  apply("--profiling", options.profiling, configuration_.enable_profiling);
}

// The configuration as it is run, for /configz and --write-config-to.
void SchedulerOptions::ApplyFlags() {
  const Program::Options& options = program_.options();
  const program::LeaderElectionConfig& leader = options.leader_election;
  LeaderElectionSettings& settings = configuration_.leader_election;
  settings.leader_elect = leader.enabled;
  settings.lease_duration = leader.election.lease_duration;
  settings.renew_deadline = leader.election.renew_deadline;
  settings.retry_period = leader.election.retry_period;
  settings.resource_name = leader.election.lease.name;
  settings.resource_namespace = leader.election.lease.ns;
  ClientConnection& connection = configuration_.client_connection;
  connection.kubeconfig = options.client.kubeconfig;
  if (options.client.qps > 0) connection.qps = options.client.qps;
  connection.burst = options.client.burst;
  configuration_.enable_profiling = options.profiling;
}

Status SchedulerOptions::WriteConfiguration() const {
  std::ofstream file(write_config_to_);
  file << ToYaml(configuration_) << std::flush;
  if (!file) return InvalidArgument("--write-config-to: cannot write {}", write_config_to_);
  LOG_INFO("Wrote the configuration", {"file", write_config_to_});
  return absl::OkStatus();
}

}  // namespace koord::scheduler
