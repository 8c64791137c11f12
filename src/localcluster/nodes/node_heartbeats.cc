#include "localcluster/nodes/node_heartbeats.h"

#include <algorithm>
#include <utility>

#include "kube/api_error.h"
#include "kube/controller/write.h"
#include "kube/resources.h"
#include "localcluster/nodes/node_objects.h"

namespace koord::localcluster {
namespace {

constexpr Duration kRenewEvery = 10s;
constexpr Duration kReportEvery = 5min;

// What others offer on the node, such as batch resources, is none of the machine's business.
bool HasAll(const kube::ResourceList& stored, const kube::Json& resources) {
  const auto wanted = kube::Decode<kube::ResourceList>(resources);
  return wanted.ok() && std::ranges::all_of(*wanted, [&](const auto& resource) {
           const auto found = stored.find(resource.first);
           return found != stored.end() && found->second == resource.second;
         });
}

}  // namespace

NodeHeartbeats::NodeHeartbeats(kube::Client& client, ClusterInformers& informers,
                               Machines& machines, uint64_t seed)
    : client_(client),
      informers_(informers),
      machines_(machines),
      random_(seed),
      timer_(client.loop()) {}

void NodeHeartbeats::Begin(const std::string& node) {
  const auto [heart, is_new] = hearts_.try_emplace(node);
  const Duration first_report(static_cast<int64_t>(random_.Below(kReportEvery.count())));
  heart->second.report_due = client_.loop().clock().Steady() + first_report;
  if (is_new) turns_[TurnOfNext()].push_back(node);
  if (!timer_.pending()) SetTimer();
}

// The first that is not full; where all are, the one that has the fewest.
size_t NodeHeartbeats::TurnOfNext() const {
  size_t best = 0;
  for (size_t turn = 0; turn < turns_.size(); ++turn) {
    if (turns_[turn].size() < kTogether) return turn;
    if (turns_[turn].size() < turns_[best].size()) best = turn;
  }
  return best;
}

void NodeHeartbeats::SetTimer() {
  next_ = client_.loop().clock().Steady() + kRenewEvery / kTurns;
  timer_.Set(kRenewEvery / kTurns, [this] { Beat(); });
}

void NodeHeartbeats::Beat() {
  // Turns that were missed are made up for, each once.
  const SteadyTime now = client_.loop().clock().Steady();
  for (int i = 0; i < kTurns && next_ <= now; ++i, next_ += kRenewEvery / kTurns) {
    std::erase_if(turns_[turn_], [this](const std::string& node) {
      const auto heart = hearts_.find(node);
      if (Renew(node, heart->second)) return false;
      hearts_.erase(heart);
      return true;
    });
    turn_ = (turn_ + 1) % kTurns;
  }
  if (!hearts_.empty()) SetTimer();
}

bool NodeHeartbeats::Renew(const std::string& name, Heart& heart) {
  const Machine* machine = machines_.Find(name);
  const auto node = informers_.nodes.Get({"", name});
  if (machine == nullptr || machine->failed || node == nullptr) return false;
  ReportResources(*node, *machine, heart);
  if (std::exchange(heart.renewing, true)) return true;
  client_.Patch(kube::kLeases, {"kube-node-lease", name}, kube::PatchType::kMerge,
                LeaseRenewal(name, client_.loop().clock().Now()), {.ignore_answer = true},
                scope_.Wrap([this, name](const StatusOr<kube::Json>& answer) {
                  if (kube::IsNotFound(answer.status())) return CreateLease(name);
                  Answered(name);
                }));
  return true;
}

void NodeHeartbeats::CreateLease(const std::string& name) {
  const auto node = informers_.nodes.Get({"", name});
  if (node == nullptr) return Answered(name);
  const kube::Json lease = LeaseObject(name, node->metadata.uid, client_.loop().clock().Now());
  client_.Create(kube::kLeases, "kube-node-lease", Create(kube::kLeases, lease).body, {},
                 scope_.Wrap([this, name](const StatusOr<kube::Json>&) { Answered(name); }));
}

void NodeHeartbeats::Answered(const std::string& node) {
  if (const auto heart = hearts_.find(node); heart != hearts_.end()) heart->second.renewing = false;
}

void NodeHeartbeats::ReportResources(const kube::Node& node, const Machine& machine, Heart& heart) {
  const SteadyTime now = client_.loop().clock().Steady();
  if (now < heart.report_due || !machine.plan()) return;
  heart.report_due = now + kReportEvery;
  kube::Json report = ResourcesStatus(machine.plan()->shape);
  if (HasAll(node.status.capacity, *kube::Find(report, {"status", "capacity"})) &&
      HasAll(node.status.allocatable, *kube::Find(report, {"status", "allocatable"}))) {
    return;
  }
  kube::At(report, {"metadata", "uid"}) = node.metadata.uid;
  client_.Patch(kube::kNodes, {"", node.metadata.name}, kube::PatchType::kMerge, report,
                {.subresource = "status"}, [](StatusOr<kube::Json>) {});
}

}  // namespace koord::localcluster
