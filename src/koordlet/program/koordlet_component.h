#pragma once
#include <memory>
#include <string>

#include "component/program.h"
#include "koordlet/app/koordlet.h"
#include "koordlet/program/koordlet_flags.h"
#include "koordlet/states/cgroup_watch.h"
#include "koordlet/states/node_watches.h"

namespace koord::koordlet {

// koordlet as a component of a real node: the machine, the watches of the node's objects, its
// kubelet, and what it serves.
class KoordletComponent final : public component::Component {
 public:
  static StatusOr<std::unique_ptr<component::Component>> Make(component::Environment& environment,
                                                              const KoordletFlags& flags,
                                                              const kube::ClientConfig& api_server);

  void Start(Task ready) override;
  void Lead(const component::Leadership&) override {}
  void Stop(Task done) override;

 private:
  KoordletComponent() = default;

  void MakeKubelet(component::Environment& environment, const KoordletFlags& flags,
                   const kube::ClientConfig& api_server);
  void MakeKoordlet(component::Environment& environment, const KoordletFlags& flags);
  void MakeWatches(component::Environment& environment, const KoordletOptions& options);
  void WatchCgroups(AsioLoop& loop, const HostPaths& paths);
  void Serve(component::ComponentApi& api);

  metrics::Registry internal_;
  metrics::Registry external_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<FileTree> xpu_files_;
  std::unique_ptr<KubeletClient> kubelet_;
  std::unique_ptr<Koordlet> koordlet_;
  std::unique_ptr<NodeWatches> watches_;
  std::unique_ptr<CgroupWatch> cgroup_watch_;
};

}  // namespace koord::koordlet
