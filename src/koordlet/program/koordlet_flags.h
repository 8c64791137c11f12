#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "koordlet/agent/koordlet_options.h"
#include "koordlet/program/koordlet_paths.h"
#include "kube/transport/server_url.h"
#include "program/program.h"

namespace koord::koordlet {

// One pass over a directory instead of a life on a node.
struct OnceOptions {
  bool enabled = false;
  std::string host_root = "/";
  std::string pods_file;
  std::string node_slo_file;
  std::string node_metric_file;
  std::string node_file;
  std::string output = "text";  // or json
};

// koordlet's command line: upstream's flags, and those that this implementation adds.
class KoordletFlags {
 public:
  explicit KoordletFlags(program::Program& program);

  // `environment` finds variables: NODE_NAME and agent_mode.
  StatusOr<bool> Load(const kube::Environment& environment);

  const KoordletOptions& options() const { return options_; }
  const KoordletPaths& paths() const { return paths_; }
  const OnceOptions& once() const { return once_; }

 private:
  void AddPathFlags();
  void AddKubeletFlags();
  void AddCollectorFlags();
  void AddStrategyFlags();
  void AddPredictionFlags();
  void AddHookFlags();
  void AddAuditFlags();
  void AddTrustFlags();
  void AddOnceFlags();
  Status Check() const;
  Status ParseAddress();

  program::Program& program_;
  KoordletOptions options_;
  KoordletPaths paths_;
  OnceOptions once_;
  std::string address_ = ":9316";
  bool disable_kubelet_config_ = false;
  // In seconds, as the flags have them.
  int force_update_seconds_ = 60;
  int metric_gc_seconds_ = 300;
  int metric_expire_seconds_ = 1800;
  int reconcile_seconds_ = 1;
  int cpu_suppress_seconds_ = 1;
  int cpu_evict_seconds_ = 1;
  int cpu_evict_cool_seconds_ = 20;
  int memory_evict_seconds_ = 1;
  int memory_evict_cool_seconds_ = 4;
  int safety_margin_percent_ = 10;
};

}  // namespace koord::koordlet
