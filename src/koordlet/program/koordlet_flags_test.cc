#include "koordlet/program/koordlet_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::koordlet::koordlet_flags_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct CommandLine {
  program::Program program{"koordlet", "", KoordletFeatureGates()};
  KoordletFlags flags{program};
  std::string node_name = "n";

  program::Flags::Outcome Read(std::vector<std::string> arguments) {
    return program.flags().Read(std::move(arguments));
  }
  StatusOr<bool> Load() {
    return flags.Load([this](const char* name) {
      return std::string_view(name) == "NODE_NAME" ? node_name : std::string();
    });
  }
};

TEST(KoordletFlags, HasUpstreamsDefaults) {
  CommandLine line;
  ASSERT_TRUE(line.Read({}).run);
  ASSERT_TRUE(line.Load().ok());
  const KoordletOptions& options = line.flags.options();
  EXPECT_EQ(options.node_name, "n");
  EXPECT_EQ(line.program.options().plain.port, 9316);
  EXPECT_EQ(line.program.options().secure.port, 9317);
  EXPECT_FALSE(line.program.options().metrics_without_login);
  EXPECT_EQ(line.program.options().client.qps, 20);
  EXPECT_EQ(line.program.options().client.burst, 30);
  EXPECT_EQ(options.force_update_after, Duration(60s));
  EXPECT_EQ(options.kubelet.address_type, "InternalIP");
  EXPECT_EQ(options.kubelet_sync_interval, Duration(10s));
  EXPECT_EQ(options.kubelet_timeout, Duration(3s));
  EXPECT_EQ(options.kubelet.read_only_port, 10255);
  EXPECT_FALSE(options.kubelet.skip_verify);
  EXPECT_EQ(options.topology_interval, Duration(3s));
  EXPECT_TRUE(options.report_node_metric);
  EXPECT_EQ(options.collectors.usage_interval, Duration(1s));
  EXPECT_EQ(options.collectors.system_outdated, Duration(10s));
  EXPECT_EQ(options.collectors.cpu_info_interval, Duration(60s));
  EXPECT_EQ(options.collectors.storage_interval, Duration(1s));
  EXPECT_EQ(options.collectors.cpi_interval, Duration(60s));
  EXPECT_EQ(options.collectors.cpi_window, Duration(10s));
  EXPECT_EQ(options.collectors.psi_interval, Duration(10s));
  EXPECT_EQ(options.collectors.cold_page_interval, Duration(5s));
  EXPECT_EQ(options.collectors.resctrl_interval, Duration(10s));
  EXPECT_FALSE(options.collectors.page_cache);
  EXPECT_FALSE(options.collectors.resctrl);
  EXPECT_EQ(options.metric_gc_interval, Duration(300s));
  EXPECT_EQ(options.metrics.expire, Duration(1800s));
  EXPECT_EQ(options.metric_directory, "/metric-data/");
  EXPECT_EQ(options.metrics.retention, Duration(12h));
  EXPECT_EQ(options.metrics.max_bytes, size_t{100} << 20);
  EXPECT_EQ(options.reconcile_interval, Duration(1s));
  EXPECT_EQ(options.qos.cpu_suppress_interval, Duration(1s));
  EXPECT_EQ(options.qos.cpu_evict_interval, Duration(1s));
  EXPECT_EQ(options.qos.cpu_evict_cool_time, Duration(20s));
  EXPECT_EQ(options.qos.memory_evict_interval, Duration(1s));
  EXPECT_EQ(options.qos.memory_evict_cool_time, Duration(4s));
  EXPECT_FALSE(options.only_evict_by_api);
  EXPECT_EQ(options.prediction.checkpoint_directory, "/prediction-checkpoints");
  EXPECT_EQ(options.prediction.cold_start, Duration(24h));
  EXPECT_EQ(options.prediction.safety_margin_percent, 10);
  EXPECT_EQ(options.prediction.memory_half_life, Duration(24h));
  EXPECT_EQ(options.prediction.cpu_half_life, Duration(12h));
  EXPECT_EQ(options.prediction.training_interval, Duration(1min));
  EXPECT_EQ(options.prediction.model_expiration, Duration(30min));
  EXPECT_EQ(options.prediction.checkpoint_interval, Duration(10min));
  EXPECT_EQ(options.prediction.max_checkpoints_per_step, 12);
  EXPECT_EQ(options.hook_server.address, "/host-var-run-koordlet/koordlet.sock");
  EXPECT_EQ(options.hook_server.host_endpoint, "/var/run/koordlet/koordlet.sock");
  EXPECT_EQ(options.hooks.reconcile_interval, Duration(10s));
  EXPECT_EQ(options.hooks.default_runtime, "containerd");
  EXPECT_EQ(options.hooks.hami_library, "/usr/local/vgpu/libvgpu.so");
  EXPECT_EQ(options.audit.directory, "/var/log/koordlet");
  EXPECT_EQ(options.audit.verbosity, 3);
  EXPECT_EQ(options.audit.max_megabytes, 16);
  EXPECT_EQ(options.audit.max_readers, 4);
  EXPECT_EQ(options.audit.max_events, 2048);
  EXPECT_FALSE(options.trust.trust_pod_authors);
}

TEST(KoordletFlags, LooksWhereTheDaemonSetMountsTheHost) {
  const KoordletPaths paths = PathsInContainer();
  EXPECT_EQ(paths.host.cgroup, "/host-cgroup/");
  EXPECT_EQ(paths.host.proc, "/proc/");
  EXPECT_EQ(paths.host.sys, "/host-sys/");
  EXPECT_EQ(paths.host.sys_fs, "/host-sys-fs/");
  EXPECT_EQ(paths.host.var_run, "/host-var-run/");
  EXPECT_EQ(paths.run, "/host-run/");
  EXPECT_EQ(paths.host.kubelet, "/var/lib/kubelet/");
  EXPECT_EQ(paths.hook_config, "/host-etc-hookserver/");
  EXPECT_EQ(PathsOnHost().host.cgroup, "/sys/fs/cgroup/");
  EXPECT_EQ(PathsOnHost().hook_config, "/etc/runtime/hookserver.d");
}

TEST(KoordletFlags, TakesEveryFlagOfUpstream) {
  CommandLine line;
  const auto outcome = line.Read({"-addr=:1",
                                  "--enable-pprof",
                                  "--pprof-addr=:9317",
                                  "--configmap-name=a",
                                  "--configmap-namespace=b",
                                  "--report-interval=60s",
                                  "--kubelet-insecure-tls=true",
                                  "--disable-query-kubelet-config",
                                  "--enable-pod-taskids",
                                  "--tsdb-stripe-size=1",
                                  "--tsdb-wal-segment-size=1",
                                  "--tsdb-max-block-chunk-segment-size=1",
                                  "--tsdb-head-chunks-write-buffer-size=1",
                                  "--tsdb-min-block-duration=10m",
                                  "--tsdb-max-block-duration=10m",
                                  "--tsdb-enable-prometheus-metric=false",
                                  "--tsdb-max-bytes=1000",
                                  "--qos-extension-plugins=a=true",
                                  "--runtime-hooks-network=unix",
                                  "--runtime-hooks-disable-stages=PreRunPodSandbox",
                                  "--enable-nri-runtime-hook=false",
                                  "--runtime-hooks-nri-socket-path=nri/nri.sock",
                                  "--runtime-hooks-nri-connect-timeout=6s",
                                  "--runtime-hooks-nri-backoff-duration=1s",
                                  "--runtime-hooks-nri-backoff-cap=1h",
                                  "--runtime-hooks-nri-backoff-steps=10",
                                  "--runtime-hooks-nri-backoff-factor=2",
                                  "--runtime-hooks-nri-plugin-name=x",
                                  "--runtime-hooks-nri-plugin-index=00",
                                  "--containerd-endpoint=a",
                                  "--docker-endpoint=b",
                                  "--pouch-endpoint=c",
                                  "--pod-resources-proxy-path=d",
                                  "--xpu-device-infos-dir=e",
                                  "--xpu-enforce-collect-from-device-infos",
                                  "--logtostderr=true",
                                  "--v=4",
                                  "--vmodule=a=1",
                                  "--alsologtostderr",
                                  "--stderrthreshold=2",
                                  "--log_dir=x",
                                  "--log_file=y",
                                  "--log_file_max_size=1",
                                  "--log_backtrace_at=a:1",
                                  "--add_dir_header",
                                  "--skip_headers",
                                  "--skip_log_headers",
                                  "--one_output",
                                  "--legacy_stderr_threshold_behavior=true",
                                  "--feature-gates=BECPUEvict=true,AllAlpha=false"});
  EXPECT_TRUE(outcome.run) << outcome.err;
  ASSERT_TRUE(line.Load().ok());
  EXPECT_TRUE(line.flags.options().kubelet.plain_http);
  EXPECT_FALSE(line.flags.options().ask_kubelet_config);
  EXPECT_TRUE(line.flags.options().gates.Enabled("BECPUEvict"));
  EXPECT_TRUE(line.flags.options().only_xpu_files);
}

TEST(KoordletFlags, RefusesWhatItDoesNotKnow) {
  const std::vector<std::string> wrong[] = {
      {"--no-such-flag"},
      {"--feature-gates=NoSuchGate=true"},
      {"--kubelet-sync-interval=0s"},
      {"--runtime-hooks-failure-policy=Maybe"},
      {"--runtime-hooks-disable-stages=Never"},
      {"--qos-class-namespaces=BEST=a"},
      {"--once"},
      {"--once", "--pods-file=x", "-o", "xml"},
  };
  for (const auto& arguments : wrong) {
    CommandLine line;
    const auto outcome = line.Read(arguments);
    EXPECT_FALSE(outcome.run) << arguments.back();
    EXPECT_EQ(outcome.exit_code, 2) << arguments.back();
    EXPECT_THAT(outcome.err, HasSubstr("--help")) << arguments.back();
  }
}

TEST(KoordletFlags, NeedsTheNodesName) {
  CommandLine line;
  line.node_name = "";
  ASSERT_TRUE(line.Read({}).run);
  EXPECT_EQ(Message(line.Load().status()), "NODE_NAME env is empty");
  CommandLine once;
  once.node_name = "";
  ASSERT_TRUE(once.Read({"--once", "--pods-file=p"}).run);
  EXPECT_TRUE(once.Load().ok());
}

TEST(KoordletFlags, KeepsClassesToNamespaces) {
  CommandLine line;
  ASSERT_TRUE(line.Read({"--qos-class-namespaces=SYSTEM=kube-system,SYSTEM=mine,LSE=db"}).run);
  EXPECT_THAT(line.flags.options().trust.class_namespaces.at("SYSTEM"),
              ElementsAre("kube-system", "mine"));
}

}  // namespace
}  // namespace koord::koordlet::koordlet_flags_test
