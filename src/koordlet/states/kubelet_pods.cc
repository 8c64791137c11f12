#include "koordlet/states/kubelet_pods.h"

#include "base/log.h"

namespace koord::koordlet {
namespace {

constexpr double kSoonRate = 5;
constexpr double kSoonBurst = 10;

}  // namespace

KubeletPods::KubeletPods(EventLoop& loop, KubeletClient& kubelet, Duration interval,
                         Listener listener)
    : kubelet_(kubelet),
      interval_(interval),
      listener_(std::move(listener)),
      timer_(loop),
      soon_(loop.clock(), kSoonRate, kSoonBurst) {}

void KubeletPods::Start() {
  if (std::exchange(running_, true)) return;
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
  kubelet_.GetPods([this](StatusOr<PodListReader::Pods> pods) {
    asking_ = false;
    if (!running_) return;
    timer_.Set(std::exchange(again_, false) ? Duration::zero() : interval_, [this] { Sync(); });
    OnPods(pods);
  });
}

void KubeletPods::OnPods(const StatusOr<PodListReader::Pods>& pods) {
  if (!pods.ok()) {
    if (complaints_.IsNew("kubelet", "pods", Message(pods.status()))) {
      LOG_ERROR("Failed to get the pods from the kubelet, those of before are kept",
                {"err", pods.status()});
    }
    return;
  }
  complaints_.Forget("kubelet", "pods");
  if (pods->empty()) {
    LOG_V(4, "The kubelet tells of no pods, those of before are kept");
    return;
  }
  listener_(*pods);
}

}  // namespace koord::koordlet
