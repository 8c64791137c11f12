#include "localcluster/nodes/node_heartbeats.h"

#include <utility>

#include "kube/api_error.h"
#include "kube/resources.h"
#include "localcluster/nodes/node_objects.h"
#include "localcluster/shared/write.h"

namespace koord::localcluster {
namespace {

constexpr Duration kRenewEvery = 10s;
constexpr double kRenewJitter = 0.04;
constexpr int kAtOnce = 16;

}  // namespace

NodeHeartbeats::NodeHeartbeats(kube::Client& client, SharedInformers& informers, Machines& machines,
                               uint64_t seed)
    : client_(client),
      informers_(informers),
      machines_(machines),
      random_(seed),
      renewals_(
          client.loop(),
          [this](const std::string& node, auto done) { Renew(node, std::move(done)); }, kAtOnce) {}

void NodeHeartbeats::Begin(const std::string& node) {
  renewals_.AddAfter(node, Within(kRenewEvery));
}

Duration NodeHeartbeats::Within(Duration span) {
  return Duration(static_cast<int64_t>(static_cast<double>(span.count()) * random_.Fraction()));
}

void NodeHeartbeats::Renew(const std::string& name, kube::WorkQueue::Finish done) {
  const Machine* machine = machines_.Find(name);
  const auto node = informers_.nodes.Get({"", name});
  if (machine == nullptr || machine->failed || node == nullptr) return done(true);
  const Duration jitter{static_cast<int64_t>(kRenewJitter * kRenewEvery.count())};
  renewals_.AddAfter(name, kRenewEvery - jitter / 2 + Within(jitter));
  const WallTime now = client_.loop().clock().Now();
  client_.Patch(
      kube::kLeases, {"kube-node-lease", name}, kube::PatchType::kMerge, LeaseRenewal(name, now),
      {},
      scope_.Wrap([this, name, uid = node->metadata.uid, now, done](StatusOr<kube::Json> answer) {
        if (!kube::IsNotFound(answer.status())) return done(true);
        client_.Create(kube::kLeases, "kube-node-lease",
                       Create(kube::kLeases, LeaseObject(name, uid, now)).body, {},
                       [done](StatusOr<kube::Json>) { done(true); });
      }));
}

}  // namespace koord::localcluster
