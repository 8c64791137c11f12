#include "koordlet/program/koordlet_program.h"

#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

#include "koordlet/host/directory_tree.h"
#include "koordlet/host/discovery.h"
#include "koordlet/host/features.h"
#include "koordlet/host/open_file_limit.h"
#include "koordlet/host/real_kernel.h"
#include "koordlet/program/koordlet_component.h"
#include "koordlet/program/koordlet_flags.h"
#include "koordlet/program/once.h"
#include "kube/transport/kubeconfig.h"
#include "program/program.h"

namespace koord::koordlet {
namespace {

constexpr char kDescription[] =
    "koordlet runs on every node. It measures what pods really use and reports it, and keeps "
    "latency-sensitive pods fast by limiting best-effort ones: in cgroups, resctrl and the "
    "kernel's "
    "settings, as the node's NodeSLO asks.";

Status PrintOnce(const KoordletFlags& flags) {
  ASSIGN_OR_RETURN(const OnceReport report, RunOnce(flags.once(), flags.options()));
  std::fputs(PrintReport(report, flags.once().output).c_str(), stdout);
  return absl::OkStatus();
}

// What the machine can do, in words or as a list in JSON. People also ask outside of a container.
Status PrintFeatureReport(const KoordletFlags& flags) {
  const OnceOptions& once = flags.once();
  const bool is_image = once.host_root != "/";
  StatusOr<std::unique_ptr<Host>> host =
      DiscoverAnyHost(is_image ? HostPaths::Below(once.host_root) : flags.paths().host);
  if (!host.ok() && !is_image) host = DiscoverAnyHost(PathsOnHost().host);
  if (!host.ok()) return host.status();
  const std::vector<Feature> features = DetectFeatures(**host);
  if (once.output != "json") {
    std::fputs(PrintFeatures(features).c_str(), stdout);
    return absl::OkStatus();
  }
  kube::json::array list;
  for (const Feature& feature : features) {
    list.push_back(kube::Json{{"name", feature.name},
                              {"meaning", feature.meaning},
                              {"available", feature.available},
                              {"whyNot", feature.why_not},
                              {"without", feature.without}});
  }
  std::fprintf(stdout, "%s\n", kube::Serialize(list).c_str());
  return absl::OkStatus();
}

// For an init container: that may mount, koordlet itself need not. A machine without resctrl is
// left as it is, and no reason not to start.
void MountResctrl(const HostPaths& paths) {
  const std::string mount_point = std::filesystem::path(paths.sys_fs) / "resctrl";
  const DirectoryTree cgroups(paths.cgroup, {});
  RealKernel kernel(cgroups, FindCgroupVersion(paths.cgroup), mount_point);
  const Status mounted = kernel.MountResctrl();
  const std::string text =
      mounted.ok() ? "resctrl is mounted on " + mount_point : std::string(Message(mounted));
  std::fprintf(stdout, "%s\n", text.c_str());
}

// Takes the command away, so that flags are left.
bool TakeCommand(std::vector<const char*>& arguments, std::string_view command) {
  if (arguments.size() < 2 || arguments[1] != command) return false;
  arguments.erase(arguments.begin() + 1);
  return true;
}

}  // namespace

int RunKoordlet(int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  const bool show_features = TakeCommand(arguments, "features");
  const bool mount_resctrl = TakeCommand(arguments, "mount-resctrl");
  program::Program program("koordlet", kDescription, KoordletFeatureGates());
  KoordletFlags flags(program);
  RaiseOpenFileLimit();
  program.BeforeStart([&]() -> StatusOr<bool> {
    if (show_features) {
      RETURN_IF_ERROR(PrintFeatureReport(flags));
      return false;
    }
    if (mount_resctrl) {
      MountResctrl(flags.paths().host);
      return false;
    }
    ASSIGN_OR_RETURN(const bool run, flags.Load(kube::ProcessEnvironment));
    if (!flags.once().enabled) return run;
    RETURN_IF_ERROR(PrintOnce(flags));
    return false;
  });
  return program.Run(
      static_cast<int>(arguments.size()), arguments.data(),
      [&](program::Environment& environment) -> StatusOr<std::unique_ptr<program::Component>> {
        const program::ClientOptions& client = program.options().client;
        ASSIGN_OR_RETURN(
            const kube::ClientConfig config,
            kube::LoadClientConfig({.kubeconfig = client.kubeconfig, .master = client.master}));
        return KoordletComponent::Make(environment, flags, config);
      });
}

}  // namespace koord::koordlet
