#pragma once
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/feature_gates.h"
#include "koordlet/config/koordlet_gates.h"
#include "koordlet/hooks/engine/hook_plugin.h"
#include "koordlet/hooks/engine/hook_server_options.h"
#include "koordlet/informers/kubelet_client.h"
#include "koordlet/informers/pod_policy.h"
#include "koordlet/metrics/collectors/collector.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/prediction/predictor.h"
#include "koordlet/qos/framework/qos_strategy.h"

namespace koord::koordlet {

struct AuditOptions {
  std::string directory = "/var/log/koordlet";
  int verbosity = 3;
  int64_t max_megabytes = 16;
  int max_readers = 4;
  int max_events = 2048;
};

// All that users can set of koordlet, apart from where things are.
struct KoordletOptions {
  std::string node_name;
  FeatureGates gates = KoordletFeatureGates();
  uint64_t seed = 1;
  TrustPolicy trust;

  KubeletOptions kubelet;
  Duration kubelet_sync_interval = std::chrono::seconds(10);
  Duration kubelet_timeout = std::chrono::seconds(3);
  bool ask_kubelet_config = true;
  bool pods_from_api_server = false;

  Duration topology_interval = std::chrono::seconds(3);
  bool report_node_metric = true;
  bool only_xpu_files = false;

  Duration force_update_after = std::chrono::seconds(60);
  bool dry_run = false;
  // What is known of earlier runs; empty: nothing. The file goes when the machine restarts.
  std::string undo_file;
  CollectorOptions collectors;
  MetricStore::Options metrics;
  Duration metric_gc_interval = std::chrono::minutes(5);
  std::string metric_directory;  // empty: what was measured does not survive
  Predictor::Options prediction;
  QosOptions qos;
  Duration reconcile_interval = std::chrono::seconds(1);
  bool only_evict_by_api = false;
  hooks::HookOptions hooks;
  hooks::HookServerOptions hook_server;
  AuditOptions audit;
};

}  // namespace koord::koordlet
