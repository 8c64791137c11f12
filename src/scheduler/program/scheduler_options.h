#pragma once
#include <string>
#include <vector>

#include "program/program.h"
#include "scheduler/config/scheduler_configuration.h"
#include "scheduler/metrics/attempt_monitor.h"
#include "scheduler/service/debug_log.h"

namespace koord::scheduler {

// What a user may tell koord-scheduler on its command line and in its configuration file. What is
// said on the command line counts more.
class SchedulerOptions {
 public:
  // Adds all flags to a program and reads the configuration before it starts. Both live as long as
  // the program runs.
  explicit SchedulerOptions(program::Program& program);
  SchedulerOptions(const SchedulerOptions&) = delete;
  SchedulerOptions& operator=(const SchedulerOptions&) = delete;

  // After the command line was read.
  const SchedulerConfiguration& configuration() const { return configuration_; }
  // Of the configuration file.
  const std::vector<std::string>& warnings() const { return warnings_; }
  const DebugFlags& debug() const { return debug_; }
  const MonitorOptions& monitor() const { return monitor_; }
  Duration flush_after() const { return flush_after_; }

 private:
  void AddFlags();
  Status Check() const;
  StatusOr<bool> Load();
  void ApplyFile(program::Program::Options& options) const;
  void ApplyFlags();
  Status WriteConfiguration() const;
  bool IsSet(std::string_view flag) const { return program_.flags().IsSet(flag); }

  program::Program& program_;
  std::string config_file_;
  std::string write_config_to_;
  Duration flush_after_ = 5min;
  DebugFlags debug_;
  MonitorOptions monitor_;
  SchedulerConfiguration configuration_;
  std::vector<std::string> warnings_;
};

}  // namespace koord::scheduler
