// Whoever could be placed must not be left waiting: what is kept about pods that fit nowhere, and
// what wakes them, must never be wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "base/random.h"
#include "base/virtual_loop.h"
#include "kube/objects/pod_resources.h"
#include "kube/transport/in_process_transport.h"
#include "scheduler/cluster/reserve_pod.h"
#include "scheduler/core/reservation_feed.h"
#include "scheduler/program/configured_scheduler_testing.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::left_waiting_test {
namespace {

constexpr std::string_view kConfiguration = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: s
  plugins:
    filter: {enabled: [{name: LoadAwareScheduling}]}
    score: {enabled: [{name: LoadAwareScheduling}]}
)";

// Says yes to everything, and remembers who was to be deleted.
class AgreeableServer final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    if (request.method == "DELETE") {
      const std::string path = request.target.substr(0, request.target.find('?'));
      deleted.insert(path.substr(path.rfind('/') + 1));
    }
    response->Finish({201, {}, "{}"});
  }

  std::set<std::string> deleted;
};

// Kinds of pods for which there may be reservations.
constexpr uint64_t kOwner = 7;
constexpr uint64_t kLargeOwner = 8;
constexpr uint64_t kMustUse = 9;

// Pods come in a few shapes, most of them more than fit; nodes come, go and change. With
// reservations, some pods may use them and some must; they come, change and end.
class History {
 public:
  History(uint64_t seed, bool reservations) : random_(seed), has_reservations_(reservations) {
    Scheduler::Options options;
    options.seed = seed;
    auto made = MakeConfiguredScheduler(
        loop_, client_,
        {.configuration = reservations ? kReservationConfiguration : kConfiguration},
        std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    scheduler_ = *std::move(made);
    feed_ = std::make_unique<ReservationFeed>(*scheduler_);
    for (int i = 0; i < 3; ++i) SetNode();
    scheduler_->Start();
  }

  void Step() {
    if (has_reservations_ && random_.Chance(0.35)) {
      ChangeReservations();
      if (random_.Chance(0.5)) Settle(Duration(0));
      return;
    }
    switch (random_.Below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        AddPod();
        break;
      case 4:
      case 5:
        RemovePod(/*placed=*/true);
        break;
      case 6:
        RemovePod(/*placed=*/false);
        break;
      case 7:
      case 8:
        SetNode();
        break;
      case 9:
        RemoveNode();
        break;
      default:
        SetMetric();
        break;
    }
    if (random_.Chance(0.5)) Settle(Duration(0));
  }

  // Everybody's backoff is over, and nobody has waited for so long that they are tried anyway.
  void Compare() {
    Settle(11s);
    for (const auto& [name, pod] : pods_) ASSERT_NO_FATAL_FAILURE(Compare(name, pod));
    for (const auto& [name, reservation] : reservations_) {
      if (!reservation->status.node_name.empty()) continue;
      ASSERT_NO_FATAL_FAILURE(Compare(name, MakeReservePod(*reservation, "s")));
    }
    ASSERT_EQ(scheduler_->queue().rescued(), 0u);
  }
  size_t waited() const { return waited_; }
  size_t drawn() const { return drawn_; }

 private:
  void Compare(const std::string& name, const Scheduler::PodPtr& pod) {
    if (scheduler_->ledger().Find(pod->metadata.uid) != nullptr) return;
    const auto position = scheduler_->queue().Describe(pod->metadata.uid);
    ASSERT_TRUE(position.has_value()) << name;
    waited_ += 1;
    const Decision decision = scheduler_->PipelineFor(*pod)->Decide(*pod, scheduler_->ShapeOf(pod));
    ASSERT_FALSE(decision.placed())
        << name << " waits as " << ToString(position->pool) << " and fits "
        << scheduler_->ledger().nodes().name(decision.row) << "; " << position->message;
  }

  static std::string SpecOf(uint64_t kind) {
    const auto cpu = [](int milli, std::string_view rest) {
      return fmt::format("containers: [{{resources: {{requests: {{cpu: {}m}}}}}}]{}", milli, rest);
    };
    switch (kind) {
      case 0:
        return cpu(1000, "");
      case 1:
        return cpu(2500, "");
      case 2:
        return cpu(1000, ", nodeSelector: {zone: a}");
      case 3:
        return cpu(2000, ", tolerations: [{key: busy, operator: Exists}]");
      case 4:  // evicts others
        return cpu(3000, ", priority: 10");
      case 5:
        return cpu(3500, ", priority: 10, preemptionPolicy: Never");
      case kOwner:
      case kMustUse:
        return cpu(1500, "");
      case kLargeOwner:
        return cpu(3500, "");
      default:  // looks beyond the node
        return cpu(500,
                   ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
                   "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {kind: k6}}}]");
    }
  }

  void AddPod() {
    const uint64_t kind =
        has_reservations_ && random_.Chance(0.6) ? kOwner + random_.Below(3) : random_.Below(7);
    const std::string annotations =
        kind == kMustUse ? ", annotations: {scheduling.koordinator.sh/reservation-affinity: '{}'}"
                         : "";
    const auto pod = PodOf(
        fmt::format("{{metadata: {{name: p{}, namespace: ns, labels: {{kind: k{}, app: {}}}{}}}, "
                    "spec: {{schedulerName: s, {}}}}}",
                    next_++, kind, kind >= kOwner ? "web" : "other", annotations, SpecOf(kind)));
    pods_[pod->metadata.name] = pod;
    scheduler_->OnPod(nullptr, pod);
  }

  void RemovePod(bool placed) {
    std::vector<std::string> names;
    for (const auto& [name, pod] : pods_) {
      const bool held = scheduler_->ledger().Find(pod->metadata.uid) != nullptr;
      if (held == placed) names.push_back(name);
    }
    if (!names.empty()) Remove(names[random_.Below(names.size())]);
  }
  void Remove(const std::string& name) {
    const auto pod = pods_.find(name);
    if (pod == pods_.end()) return;
    const Scheduler::PodPtr gone = pod->second;
    pods_.erase(pod);
    scheduler_->OnPod(gone, nullptr);
  }

  // ---- Reservations

  void ChangeReservations() {
    const std::string name = fmt::format("r{}", random_.Below(4));
    const auto at = reservations_.find(name);
    if (at == reservations_.end()) return Tell(name, NewReservation(name));
    auto after = std::make_shared<api::Reservation>(*at->second);
    switch (random_.Below(4)) {
      case 0:
        return Tell(name, nullptr);
      case 1:
        after->spec.unschedulable = !after->spec.unschedulable;
        break;
      case 2:
        after->spec.allocate_policy = random_.Chance(0.5) ? "Aligned" : "Restricted";
        break;
      default:
        if (after->status.node_name.empty()) return;
        after->status.phase = random_.Chance(0.5) ? "Failed" : "Succeeded";
        Tell(name, after);
        return Tell(name, nullptr);
    }
    Tell(name, after);
  }
  std::shared_ptr<const api::Reservation> NewReservation(const std::string& name) {
    return FromYaml<api::Reservation>(fmt::format(
        "{{metadata: {{name: {}, uid: uid-{}}}, spec: {{ttl: 0s, allocateOnce: {}, allocatePolicy: "
        "{}, owners: [{{labelSelector: {{matchLabels: {{app: web}}}}}}], template: {{spec: "
        "{{containers: [{{resources: {{requests: {{cpu: {}m}}}}}}]}}}}}}}}",
        name, next_++, random_.Chance(0.4), random_.Chance(0.5) ? "Aligned" : "Restricted",
        1000 + 500 * random_.Below(6)));
  }
  void Tell(const std::string& name, const std::shared_ptr<const api::Reservation>& after) {
    const auto at = reservations_.find(name);
    const auto before = at == reservations_.end() ? nullptr : at->second;
    if (after == nullptr) {
      reservations_.erase(at);
    } else {
      reservations_[name] = after;
    }
    feed_->OnReservation(before, after);
  }
  // As the controller would.
  void EndReservationsOn(const std::string& node) {
    const auto all = reservations_;
    for (const auto& [name, reservation] : all) {
      if (reservation->status.node_name == node) Tell(name, nullptr);
    }
  }

  // A new node, or one that is known in another state.
  void SetNode() {
    const std::string name = fmt::format("n{}", random_.Below(5));
    const auto node = NodeOf(fmt::format(
        "{{metadata: {{name: {0}, labels: {{zone: {1}, kubernetes.io/hostname: {0}}}}}, spec: "
        "{{unschedulable: {2}, taints: [{3}]}}, status: {{allocatable: {{cpu: {4}, memory: 8Gi, "
        "pods: '{5}'}}}}}}",
        name, random_.Chance(0.5) ? "a" : "b", random_.Chance(0.2),
        random_.Chance(0.2) ? "{key: busy, effect: NoSchedule}" : "", 3 + random_.Below(3),
        random_.Chance(0.2) ? 2 : 110));
    const Scheduler::NodePtr before = std::exchange(nodes_[name], node);
    scheduler_->OnNode(before, node);
  }
  void RemoveNode() {
    if (nodes_.size() < 3) return;
    const auto node = std::next(nodes_.begin(), static_cast<long>(random_.Below(nodes_.size())));
    scheduler_->OnNode(node->second, nullptr);
    const std::string name = node->first;
    nodes_.erase(node);
    EndReservationsOn(name);
  }

  void SetMetric() {
    auto metric = std::make_shared<api::NodeMetric>();
    metric->metadata.name = fmt::format("n{}", random_.Below(5));
    metric->status.update_time = loop_.clock().Now();
    metric->status.node_metric.emplace().node_usage.resources.emplace(
        "cpu", kube::Quantity(random_.Chance(0.5) ? 5 : 0));
    scheduler_->objects().node_metrics.Set(std::move(metric));
    scheduler_->OnEvent({.kind = EventKind::kNodeMetricChanged});
  }

  // The watch shows who has got a node.
  void ShowBound() {
    for (auto& [name, pod] : pods_) {
      const PodInfo* held = scheduler_->ledger().Find(pod->metadata.uid);
      if (held == nullptr || !pod->spec.node_name.empty()) continue;
      auto bound = std::make_shared<kube::Pod>(*pod);
      bound->spec.node_name = scheduler_->ledger().NodeOf(*held);
      if (held->held != nullptr && held->held->draws_from) {
        ++drawn_;
        const auto& [reservation, uid] = *held->held->draws_from;
        bound->metadata.annotations[std::string(api::kAnnotationReservationAllocated)] =
            api::EncodeReservationAllocated({reservation, uid});
      }
      const Scheduler::PodPtr before = std::exchange(pod, bound);
      scheduler_->OnPod(before, pod);
    }
  }

  void ShowAvailable() {
    const auto all = reservations_;
    for (const auto& [name, reservation] : all) {
      const PodInfo* held = scheduler_->ledger().Find(reservation->metadata.uid);
      if (held == nullptr || !reservation->status.node_name.empty()) continue;
      auto available = std::make_shared<api::Reservation>(*reservation);
      available->status.phase = "Available";
      available->status.node_name = scheduler_->ledger().NodeOf(*held);
      available->status.allocatable = kube::PodRequests(*held->pod);
      Tell(name, available);
    }
  }

  // Until nothing happens any more: victims of preemption go at once.
  void Settle(Duration time) {
    do {
      for (const std::string& name : std::exchange(server_.deleted, {})) Remove(name);
      loop_.RunReady();
      ShowBound();
      ShowAvailable();
      loop_.RunReady();
    } while (!server_.deleted.empty());
    if (time == Duration(0)) return;
    for (Duration step = 0s; step < time; step += 1s) {
      loop_.Advance(1s);
      Settle(Duration(0));
    }
  }

  Random random_;
  VirtualLoop loop_;
  AgreeableServer server_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {.qps = 0}};
  const bool has_reservations_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<ReservationFeed> feed_;
  std::map<std::string, std::shared_ptr<const api::Reservation>> reservations_;
  std::map<std::string, Scheduler::PodPtr> pods_;
  std::map<std::string, Scheduler::NodePtr> nodes_;
  int next_ = 0;
  size_t waited_ = 0;
  size_t drawn_ = 0;
};

void ExpectNobodyWaits(bool reservations, size_t* drawn) {
  size_t waited = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed, reservations);
    for (int round = 0; round < 12; ++round) {
      SCOPED_TRACE(fmt::format("round {}", round));
      for (int step = 0; step < 15; ++step) history.Step();
      history.Compare();
      if (testing::Test::HasFatalFailure()) return;
    }
    waited += history.waited();
    *drawn += history.drawn();
  }
  EXPECT_GT(waited, 1000u) << "hardly anybody had to wait";
}

TEST(LeftWaiting, NobodyWhoFitsWaits) {
  size_t drawn = 0;
  ExpectNobodyWaits(/*reservations=*/false, &drawn);
}

TEST(LeftWaiting, NobodyWhoFitsWaitsWhereRoomIsReserved) {
  size_t drawn = 0;
  ExpectNobodyWaits(/*reservations=*/true, &drawn);
  EXPECT_GT(drawn, 300u) << "hardly anybody used a reservation";
}

}  // namespace
}  // namespace koord::scheduler::left_waiting_test
