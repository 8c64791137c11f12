#pragma once
#include <memory>
#include <string>

#include "koordlet/agent/koordlet.h"
#include "koordlet/audit/audit_log.h"
#include "koordlet/hooks/server/hook_server.h"
#include "koordlet/hooks/tc_network_qos/network_control.h"
#include "koordlet/hooks/terway_qos/terway_files.h"
#include "koordlet/informers/cgroup_watch.h"
#include "koordlet/informers/node_watches.h"
#include "koordlet/informers/volume_claims.h"
#include "koordlet/metrics/gpu/gpu_devices.h"
#include "koordlet/program/koordlet_flags.h"
#include "koordlet/qos/eviction/eviction_record.h"
#include "koordlet/runtime/container_stopper.h"
#include "koordlet/runtime/pod_resources/pod_resources_proxy.h"
#include "kube/events/event_recorder.h"
#include "program/program.h"

namespace koord::koordlet {

// koordlet as a component of a real node: the machine, the watches of the node's objects, its
// kubelet, and what it serves.
class KoordletComponent final : public program::Component {
 public:
  static StatusOr<std::unique_ptr<program::Component>> Make(program::Environment& environment,
                                                            const KoordletFlags& flags,
                                                            const kube::ClientConfig& api_server);

  void Start(Task ready) override;
  void Lead(const program::Leadership&) override {}
  void Stop(Task done) override;

 private:
  KoordletComponent() = default;

  Status OpenAuditLog(program::Environment& environment, const KoordletOptions& options);
  void FindGpus(const KoordletOptions& options, const Clock& clock);
  void MakeEvictor(program::Environment& environment, const KoordletFlags& flags);
  void MakeHookTools(program::Environment& environment, const KoordletOptions& options);
  void TellOfPod(const hooks::HookPod& pod, std::string_view reason, std::string_view message);
  void MakeKubelet(program::Environment& environment, const KoordletFlags& flags,
                   const kube::ClientConfig& api_server);
  void MakeKoordlet(program::Environment& environment, const KoordletFlags& flags);
  void MakeWatches(program::Environment& environment, const KoordletOptions& options);
  void ServeHooks(AsioLoop& loop, const KoordletOptions& options);
  void ServePodResources(AsioLoop& loop, const KoordletFlags& flags);
  void WatchCgroups(AsioLoop& loop, const std::string& cgroup_root);
  void Serve(program::ComponentApi& api, const FeatureGates& gates);

  metrics::Registry internal_;
  metrics::Registry external_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<FileTree> xpu_files_;
  Random random_{0};
  std::unique_ptr<AuditLog> audit_;  // null: switched off
  std::unique_ptr<GpuDevices> gpus_;
  std::unique_ptr<kube::EventRecorder> events_;
  std::unique_ptr<EvictionRecord> evictions_;
  std::unique_ptr<kube::EventRecorder> hook_events_;
  std::unique_ptr<hooks::NetworkControl> network_;
  std::unique_ptr<hooks::TerwayFiles> terway_;
  std::unique_ptr<VolumeClaims> claims_;
  std::unique_ptr<ContainerStopper> stopper_;
  std::unique_ptr<PodEvictor> evictor_;
  std::unique_ptr<KubeletClient> kubelet_;
  std::unique_ptr<Koordlet> koordlet_;
  std::unique_ptr<PodResourcesProxy> pod_resources_;  // null: nobody is told of devices
  std::unique_ptr<hooks::HookServer> hook_server_;    // null: the runtime proxy is not answered
  std::unique_ptr<NodeWatches> watches_;
  std::unique_ptr<CgroupWatch> cgroup_watch_;
  std::unique_ptr<Timer> watch_timer_;  // until there is something to watch
};

}  // namespace koord::koordlet
