#include "base/fuzz.h"
#include "kube/transport/kubeconfig.h"

// A kubeconfig is accepted with a server to talk to, or refused with a reason.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = koord::kube::ParseKubeconfig(koord::FuzzText(data, size), "/home/u/config");
  FUZZ_ASSERT(config.ok() ? !config->server.empty() : !config.status().message().empty());
  if (config.ok()) {
    const auto url = koord::kube::ParseServerUrl(config->server, "https");
    FUZZ_ASSERT(!url.ok() || !url->host.empty());
  }
  return 0;
}
