#include "koordlet/informers/pod_source.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"

namespace koord::koordlet {

PodSource::PodSource(EventLoop& loop, kube::Client& client, const std::string& node,
                     KubeletClient& kubelet, Duration interval, KubeletPods::Listener listener,
                     uint64_t seed)
    : client_(client),
      node_(node),
      kubelet_(kubelet),
      listener_(std::move(listener)),
      seed_(seed),
      kubelet_pods_(loop, kubelet, interval, listener_,
                    [this](const Status& why) { WatchInstead(why); }) {}

void PodSource::Start() {
  if (!is_stopped_) kubelet_pods_.Start();
}

void PodSource::Stop() {
  is_stopped_ = true;
  kubelet_pods_.Stop();
  if (watch_ != nullptr) watch_->Stop();
}

void PodSource::WatchInstead(const Status& why) {
  LOG_WARNING(
      "The kubelet's certificate cannot be trusted, so pods are read from the API server until "
      "koordlet restarts. To ask the kubelet, let the cluster sign its certificate "
      "(serverTLSBootstrap: true), or name who signs it with --kubelet-certificate-authority, or "
      "accept any certificate with --kubelet-skip-tls-verify",
      {"node", node_}, {"err", why});
  kubelet_.SetDetour([this](std::string_view path, kube::Transport::Done done) {
    kube::HttpRequest request;
    request.target = fmt::format("/api/v1/nodes/{}/proxy{}", node_, path);
    request.headers.Set("Accept", "application/json");
    client_.Raw(std::move(request), std::move(done));
  });
  NodeWatches::Listeners listeners;
  listeners.pods = listener_;
  watch_ = std::make_unique<NodeWatches>(client_, node_, std::move(listeners), seed_);
  watch_->Start();
}

}  // namespace koord::koordlet
