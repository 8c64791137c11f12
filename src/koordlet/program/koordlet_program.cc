#include "koordlet/program/koordlet_program.h"

#include <cstdio>
#include <string_view>
#include <vector>

#include "component/program.h"
#include "koordlet/program/koordlet_component.h"
#include "koordlet/program/koordlet_flags.h"
#include "koordlet/program/once.h"
#include "kube/client/kubeconfig.h"

namespace koord::koordlet {
namespace {

constexpr char kDescription[] =
    "koordlet runs on every node. It measures what pods really use and reports it, and keeps "
    "latency-sensitive pods fast by limiting best-effort ones: in cgroups, resctrl and the "
    "kernel's "
    "settings, as the node's NodeSLO asks.";

Status PrintOnce(const KoordletFlags& flags) {
  ASSIGN_OR_RETURN(const auto writes, RunOnce(flags.once(), flags.options()));
  std::fputs(PrintWrites(writes, flags.once().output).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

int RunKoordlet(int argc, const char* const* argv) {
  component::Program program("koordlet", kDescription, KoordletFeatureGates());
  KoordletFlags flags(program);
  program.BeforeStart([&]() -> StatusOr<bool> {
    ASSIGN_OR_RETURN(const bool run, flags.Load(kube::ProcessEnvironment));
    if (!flags.once().enabled) return run;
    RETURN_IF_ERROR(PrintOnce(flags));
    return false;
  });
  return program.Run(
      argc, argv,
      [&](component::Environment& environment) -> StatusOr<std::unique_ptr<component::Component>> {
        const component::ClientOptions& client = program.options().client;
        ASSIGN_OR_RETURN(
            const kube::ClientConfig config,
            kube::LoadClientConfig({.kubeconfig = client.kubeconfig, .master = client.master}));
        return KoordletComponent::Make(environment, flags, config);
      });
}

}  // namespace koord::koordlet
