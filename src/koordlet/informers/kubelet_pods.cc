#include "koordlet/informers/kubelet_pods.h"

#include "base/log.h"
#include "kube/transport/certificate_error.h"

namespace koord::koordlet {
namespace {

constexpr double kSoonRate = 5;
constexpr double kSoonBurst = 10;

}  // namespace

KubeletPods::KubeletPods(EventLoop& loop, KubeletClient& kubelet, Duration interval,
                         Listener listener, Untrusted untrusted)
    : kubelet_(kubelet),
      interval_(interval),
      listener_(std::move(listener)),
      untrusted_(std::move(untrusted)),
      timer_(loop),
      soon_(loop.clock(), kSoonRate, kSoonBurst) {}

void KubeletPods::Start() {
  if (untrusted_ == nullptr || std::exchange(running_, true)) return;
  Sync();
}

void KubeletPods::Stop() {
  running_ = false;
  timer_.Cancel();
}

void KubeletPods::SyncSoon() {
  if (!running_ || !soon_.TryTake()) return;
  Sync();
}

void KubeletPods::Sync() {
  timer_.Cancel();
  if (asking_) {
    again_ = true;
    return;
  }
  asking_ = true;
  kubelet_.GetPods([this](const StatusOr<PodList>& list) {
    asking_ = false;
    if (!running_) return;
    timer_.Set(std::exchange(again_, false) ? Duration::zero() : interval_, [this] { Sync(); });
    OnPods(list);
  });
}

void KubeletPods::OnPods(const StatusOr<PodList>& list) {
  if (kube::WasCertificateRefused(list.status())) {
    Stop();
    return std::exchange(untrusted_, nullptr)(list.status());
  }
  if (!list.ok()) {
    if (known_problems_.IsNew({.object = "kubelet", .kind = "pods"}, Message(list.status()))) {
      LOG_ERROR("Failed to get the pods from the kubelet, those of before are kept",
                {"err", list.status()});
    }
    return;
  }
  known_problems_.Resolve({.object = "kubelet", .kind = "pods"});
  if (list->listed == 0) {
    LOG_V(4, "The kubelet tells of no pods, those of before are kept");
    return;
  }
  listener_(list->pods);
}

}  // namespace koord::koordlet
