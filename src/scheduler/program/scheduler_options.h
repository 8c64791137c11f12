#pragma once
#include <string>
#include <vector>

#include "component/program.h"
#include "scheduler/config/scheduler_configuration.h"
#include "scheduler/debug/debug_log.h"
#include "scheduler/monitor/attempt_monitor.h"

namespace koord::scheduler {

// What a user may tell koord-scheduler on its command line and in its configuration file. What is
// said on the command line counts more.
class SchedulerOptions {
 public:
  // Adds all flags to a program and reads the configuration before it starts. Both live as long as
  // the program runs.
  explicit SchedulerOptions(component::Program& program);
  SchedulerOptions(const SchedulerOptions&) = delete;
  SchedulerOptions& operator=(const SchedulerOptions&) = delete;

  // After the command line was read.
  const SchedulerConfiguration& configuration() const { return configuration_; }
  const DebugFlags& debug() const { return debug_; }
  const MonitorOptions& monitor() const { return monitor_; }
  Duration flush_after() const { return flush_after_; }

 private:
  void AddFlags();
  Status Check() const;
  StatusOr<bool> Load();
  void ApplyFile(component::Program::Options& options) const;
  void ApplyFlags();
  Status WriteConfiguration() const;
  bool IsSet(std::string_view flag) const { return program_.flags().IsSet(flag); }

  component::Program& program_;
  std::string config_file_;
  std::string write_config_to_;
  Duration flush_after_ = 5min;
  DebugFlags debug_;
  MonitorOptions monitor_;
  SchedulerConfiguration configuration_;
};

}  // namespace koord::scheduler
