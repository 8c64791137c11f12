#include "simulation/scheduler/simulation_world_testing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/crds.h"
#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/objects/pod_resources.h"
#include "kube/time.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"
#include "model/quota/quota_status.h"
#include "scheduler/cluster/reserve_pod.h"
#include "scheduler/config/scheduler_gates.h"

namespace koord::localcluster::simulation {
namespace {

constexpr Duration kTick = 500ms;
constexpr Duration kReport = 30s;
constexpr Duration kQuiet = 120s;  // after the network is good again
constexpr Duration kRescue = 60s;  // after there is room for everybody
constexpr char kMetricsPath[] = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics";

// A request is never on its way for longer than a leader that must stop is away from the moment at
// which somebody else may lead.
constexpr Duration kLeaseDuration = 8s;
constexpr Duration kRenewDeadline = 4s;
constexpr Duration kRetryPeriod = 1s;
constexpr Duration kMaxDelay = 2s;

kube::Faults BadNetwork(Random& random) {
  const double level = 0.02 + 0.08 * random.Fraction();
  kube::Faults faults;
  faults.refused = level / 2;
  faults.lost_answer = level;
  faults.duplicate = level;
  faults.delay = 3 * level;
  faults.max_delay = kMaxDelay;
  faults.conflict = level / 2;
  faults.expired = level / 2;
  faults.too_many_requests = level / 2;
  faults.internal_error = level / 2;
  faults.dropped_watch = level;
  return faults;
}

kube::Faults NoNetwork() {
  kube::Faults faults;
  faults.refused = 1;
  faults.dropped_watch = 1;
  return faults;
}

// Shows what is sent before it is.
class SpyTransport final : public kube::Transport {
 public:
  using OnSent = std::function<void(const kube::HttpRequest&)>;
  SpyTransport(std::shared_ptr<kube::Transport> inner, OnSent on_sent)
      : inner_(std::move(inner)), on_sent_(std::move(on_sent)) {}

  std::shared_ptr<Call> Send(kube::HttpRequest request, Duration timeout, Done done) override {
    on_sent_(request);
    return inner_->Send(std::move(request), timeout, std::move(done));
  }
  std::unique_ptr<Stream> Open(kube::HttpRequest request, StreamEvents events) override {
    return inner_->Open(std::move(request), std::move(events));
  }

 private:
  std::shared_ptr<kube::Transport> inner_;
  OnSent on_sent_;
};

std::unique_ptr<scheduler::SchedulerApp> MakeApp(EventLoop& loop, kube::Client& client,
                                                 uint64_t seed, std::function<bool()> may_write,
                                                 scheduler::AttemptObserver* observer = nullptr) {
  static const scheduler::SchedulerConfiguration kConfiguration = LocalSchedulerConfiguration();
  auto app = scheduler::SchedulerApp::Make(loop, client,
                                           {.configuration = kConfiguration,
                                            .gates = scheduler::SchedulerFeatureGates(),
                                            .seed = seed,
                                            .may_write = std::move(may_write),
                                            .observer = observer});
  EXPECT_TRUE(app.ok()) << Message(app.status());
  return std::move(*app);
}

kube::Json DefinitionOf(std::string_view plural) {
  for (const EmbeddedFile& file : api::CustomResourceDefinitions()) {
    if (std::string_view(file.name).find(plural) == std::string_view::npos) continue;
    const auto object = kube::ParseYaml(file.text);
    EXPECT_TRUE(object.ok()) << Message(object.status());
    return object.value_or(kube::Json());
  }
  return nullptr;
}

}  // namespace

namespace {

void Install(apiserver::TestServer& server, const kube::Json& definition) {
  const auto answer =
      server.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  ASSERT_EQ(answer.code, 201) << answer.body;
}

}  // namespace

void InstallNodeMetrics(apiserver::TestServer& server) {
  static const kube::Json kDefinition = DefinitionOf("nodemetrics");
  Install(server, kDefinition);
}

void InstallReservations(apiserver::TestServer& server) {
  static const kube::Json kDefinition = DefinitionOf("reservations");
  Install(server, kDefinition);
}

void InstallNodeTopologies(apiserver::TestServer& server) {
  static const kube::Json kDefinition = DefinitionOf("noderesourcetopologies");
  Install(server, kDefinition);
}

void InstallDevices(apiserver::TestServer& server) {
  static const kube::Json kDefinition = DefinitionOf("koordinator.sh_devices");
  Install(server, kDefinition);
}

void InstallElasticQuotas(apiserver::TestServer& server) {
  static const kube::Json kDefinition = DefinitionOf("elasticquotas");
  Install(server, kDefinition);
}

// ---- One scheduler

Instance::Instance(apiserver::TestServer& server, Checker& checker, size_t index, uint64_t seed)
    : server_(server),
      checker_(checker),
      index_(index),
      random_(seed * 31 + index),
      end_timer_(server.loop) {}

void Instance::Start() {
  if (alive()) return;
  EventLoop& loop = server_.loop;
  const uint64_t seed = random_() + ++starts_;
  const std::string identity = fmt::format("scheduler-{}-{}", index_, starts_);
  program_ = std::make_unique<Program>();
  program_->network = std::make_shared<kube::FaultTransport>(
      loop, std::make_shared<kube::InProcessTransport>(loop, *server_.server), seed, faults_);
  const auto spied = std::make_shared<SpyTransport>(
      program_->network, [this](const kube::HttpRequest& request) { OnSent(request); });
  program_->client = std::make_unique<kube::Client>(
      loop, spied, kube::Client::Options{.user_agent = identity, .qps = 0, .may_write = [this] {
                                           return leads();
                                         }});
  program_->lease_client = std::make_unique<kube::Client>(
      loop, program_->network, kube::Client::Options{.user_agent = identity, .qps = 0});
  program_->app = MakeApp(
      loop, *program_->client, seed, [this] { return leads(); }, this);
  program_->elector = std::make_unique<kube::LeaderElector>(
      *program_->lease_client,
      kube::LeaderElectionOptions{.lease = {"kube-system", "koord-scheduler"},
                                  .identity = identity,
                                  .lease_duration = kLeaseDuration,
                                  .renew_deadline = kRenewDeadline,
                                  .retry_period = kRetryPeriod,
                                  .seed = seed},
      kube::LeaderCallbacks{.started = [this] { program_->app->Lead(); },
                            .stopped = [this](const Status&) { OnLost(); }});
  program_->app->Watch();
  program_->elector->Start();
}

void Instance::OnLost() {
  program_->app->Stop();
  const auto linger = std::chrono::milliseconds(random_.Below(3000));
  end_timer_.Set(linger, [this] {
    Kill();
    end_timer_.Set(1s, [this] { Start(); });
  });
}

void Instance::Kill() {
  if (!alive()) return;
  end_timer_.Cancel();
  left_behind_.push_back(program_->network);
  program_->elector.reset();
  program_->app.reset();
  program_.reset();
}

void Instance::SetNetwork(const kube::Faults& faults) {
  faults_ = faults;
  if (alive()) program_->network->SetFaults(faults);
}

void Instance::DropWatches() {
  if (alive()) program_->network->DropWatches();
}

void Instance::OnDecided(const scheduler::Attempt& attempt, scheduler::Pipeline&,
                         const scheduler::Decision& decision, WallTime, Duration) {
  CheckQuotaOf(attempt, decision);
  if (!decision.placed()) return;
  const scheduler::NodeTable& nodes = app().scheduler().ledger().nodes();
  checker_.OnDecided(attempt.pod->metadata.uid, std::string(nodes.name(decision.row)),
                     nodes.node(decision.row).status.allocatable);
}

void Instance::CheckQuotaOf(const scheduler::Attempt& attempt,
                            const scheduler::Decision& decision) {
  const scheduler::Scheduler& core = app().scheduler();
  const auto& quotas = core.objects().elastic_quotas;
  const auto label_of = [](const kube::Pod& pod) {
    return std::string(kube::ValueOf(pod.metadata.labels, api::kLabelQuotaName));
  };
  const api::ElasticQuota* quota = quotas.Find({"default", label_of(*attempt.pod)});
  if (quota == nullptr) return;
  const kube::ResourceList request = kube::PodRequests(*attempt.pod);
  kube::ResourceList used = request, of_nobody;
  core.ledger().ForEachPod([&](const scheduler::PodInfo& pod) {
    const std::string label = label_of(*pod.pod);
    if (label == quota->metadata.name) kube::AddTo(used, kube::PodRequests(*pod.pod));
    if (quotas.Find({"default", label}) == nullptr) {
      kube::AddTo(of_nobody, kube::PodRequests(*pod.pod));
    }
  });
  if (decision.placed()) {
    if (kube::FitsIn(used, quota->spec.max)) return;
    return checker_.Complain(fmt::format("I5: {} takes {} beyond its max",
                                         attempt.pod->metadata.name, quota->metadata.name));
  }
  if (decision.verdict.plugin != "ElasticQuota" || !kube::FitsIn(used, quota->spec.min)) return;
  if (api::ParentQuotaOf(*quota) != api::kRootQuota) return;
  // What is left of the cluster for quotas must do for the mins of all.
  kube::ResourceList left, mins;
  const scheduler::NodeTable& nodes = core.ledger().nodes();
  for (scheduler::NodeRow row{0}; row < nodes.rows(); ++row) {
    if (nodes.live()[row]) kube::AddTo(left, nodes.node(row).status.allocatable);
  }
  kube::SubtractFrom(left, of_nobody);
  for (const auto& [key, each] : quotas.objects()) {
    if (api::ParentQuotaOf(*each) == api::kRootQuota) kube::AddTo(mins, each->spec.min);
  }
  if (!kube::FitsIn(mins, left)) return;
  checker_.Complain(fmt::format("I5: {} is refused by {} within its min: {}",
                                attempt.pod->metadata.name, quota->metadata.name,
                                decision.verdict.Message()));
}

void Instance::OnSent(const kube::HttpRequest& request) {
  if (request.method == "GET" || request.target.find("/events") != std::string::npos) return;
  if (!leads()) {
    checker_.Complain(fmt::format("I11: instance {} does not lead and sends {} {}", index_,
                                  request.method, request.target));
  }
  const kube::Json body = kube::ParseJson(request.body).value_or(kube::Json());
  if (request.target.ends_with("/binding")) {
    checker_.OnBindingSent(std::string(kube::FindString(body, {"metadata", "uid"})),
                           std::string(kube::FindString(body, {"target", "name"})));
  } else if (request.method == "DELETE") {
    const std::string name = request.target.substr(request.target.rfind('/') + 1);
    const std::string uid(kube::FindString(body, {"preconditions", "uid"}));
    if (request.target.starts_with(kReservationsPath)) {
      return checker_.OnReservationDeletionSent(name, uid);
    }
    checker_.OnDeletionSent(name, uid);
  }
}

// ---- The world

World::World(uint64_t seed, Conditions conditions)
    : seed_(seed),
      conditions_(conditions),
      plan_(MakePlan(seed, conditions.plan)),
      server_({.seed = seed}),
      checker_(server_.loop.clock(), *server_.store) {
  InstallNodeMetrics(server_);
  InstallReservations(server_);
  InstallNodeTopologies(server_);
  if (conditions.plan.devices) InstallDevices(server_);
  InstallElasticQuotas(server_);
  for (const Request& request : plan_.setup) {
    const auto answer = Send(request);
    EXPECT_EQ(answer.code, 201) << request.target << ": " << answer.body;
  }
  Random random(seed);
  for (size_t i = 0; i < 2; ++i) {
    instances_.push_back(std::make_unique<Instance>(server_, checker_, i, seed));
    if (conditions.troubled) instances_.back()->SetNetwork(BadNetwork(random));
    instances_.back()->Start();
  }
}

apiserver::TestAnswer World::Send(const Request& request) {
  const auto answer = server_.Send(request.method, request.target,
                                   request.body.is_null() ? "" : kube::Serialize(request.body),
                                   request.content_type);
  EXPECT_TRUE(answer.code / 100 == 2 || answer.code == 404 || answer.code == 409)
      << request.method << " " << request.target << " " << kube::Serialize(request.body) << ": "
      << answer.body;
  return answer;
}

void World::Run() {
  RunTo(plan_.length);
  CalmDown();
  RunTo(now() + kQuiet);
  CheckQuiet("after the churn");
  for (const Request& request : plan_.rescue) Send(request);
  RunTo(now() + kRescue);
  CheckQuiet("at the end");
  CheckEverybodyHelped();
}

std::map<std::string, std::string> World::Outcome() const {
  std::map<std::string, std::string> outcome;
  for (const auto& [name, state] : checker_.pods()) {
    if (plan_.reused.contains(name)) continue;
    outcome[name] = state.bound() || state.ended ? "placed" : "pending";
  }
  return outcome;
}

std::set<std::string> World::Displaced() const {
  std::set<std::string> displaced = checker_.evicted();
  displaced.insert(orphans_.begin(), orphans_.end());
  return displaced;
}

std::optional<SteadyTime> World::NextPlanned() const {
  std::optional<SteadyTime> next;
  const auto consider = [&](SteadyTime at) { next = next ? std::min(*next, at) : at; };
  if (next_request_ < plan_.requests.size()) consider(plan_.requests[next_request_].at);
  if (next_load_ < plan_.loads.size()) consider(plan_.loads[next_load_].at);
  if (next_jump_ < plan_.jumps.size()) consider(plan_.jumps[next_jump_].at);
  if (next_trouble_ < plan_.troubles.size()) consider(plan_.troubles[next_trouble_].at);
  if (!starts_.empty()) consider(starts_.front().first);
  if (!heals_.empty()) consider(heals_.front().first);
  return next;
}

void World::RunTo(SteadyTime end) {
  while (now() < end) {
    const SteadyTime next = std::min({end, next_tick_, NextPlanned().value_or(end)});
    loop().Advance(std::max(next - now(), Duration::zero()));
    DoPlanned();
    if (now() >= next_tick_) {
      next_tick_ = now() + kTick;
      RunMachines();
      CheckBounds();
    }
  }
}

void World::DoPlanned() {
  const auto due = [&](const auto& list, size_t& next) {
    return next < list.size() && list[next].at <= now() ? &list[next++] : nullptr;
  };
  while (const Request* request = due(plan_.requests, next_request_)) Send(*request);
  while (const Load* load = due(plan_.loads, next_load_)) {
    loads_[load->node] = load->cpu_percent;
    ReportLoad(load->node);
  }
  while (const ClockJump* jump = due(plan_.jumps, next_jump_)) {
    SetClock(conditions_.jumps ? jump->by : Duration::zero());
  }
  while (const Trouble* trouble = due(plan_.troubles, next_trouble_)) {
    if (conditions_.troubled) Make(*trouble);
  }
  while (!starts_.empty() && starts_.front().first <= now()) {
    instances_[starts_.front().second]->Start();
    starts_.erase(starts_.begin());
  }
  while (!heals_.empty() && heals_.front().first <= now()) {
    Random random(seed_ + static_cast<uint64_t>(now().count()));
    instances_[heals_.front().second]->SetNetwork(BadNetwork(random));
    heals_.erase(heals_.begin());
  }
}

// Worlds with and without jumps see the same reports of load. How old a report is shows by the time
// that it states, so that a clock which is put forward makes all of them old until there are new
// ones. That is as it should be, and nothing that is looked at here: no report is ever old.
void World::SetClock(Duration by) {
  const bool forward = by > Duration::zero();
  if (forward) ReportLoads(by);
  loop().JumpWallClock(by);
  skew_ += by;
  if (!forward) ReportLoads();
}

void World::Make(const Trouble& trouble) {
  Instance& instance = *instances_[trouble.instance];
  switch (trouble.kind) {
    case Trouble::Kind::kCrash:
      instance.Kill();
      starts_.emplace_back(now() + trouble.lasts, trouble.instance);
      std::ranges::sort(starts_);
      return;
    case Trouble::Kind::kPartition:
      instance.SetNetwork(NoNetwork());
      instance.DropWatches();
      return HealLater(trouble);
    case Trouble::Kind::kDropWatches:
      return instance.DropWatches();
    case Trouble::Kind::kForgottenVersions:
      instance.SetNetwork({.expired = 1});
      instance.DropWatches();
      return HealLater(trouble);
    case Trouble::Kind::kFailingRequests:
      instance.SetNetwork({.refused = 0.1, .lost_answer = 0.2, .internal_error = 0.2});
      return HealLater(trouble);
  }
}

void World::HealLater(const Trouble& trouble) {
  heals_.emplace_back(now() + trouble.lasts, trouble.instance);
  std::ranges::sort(heals_);
}

void World::CalmDown() {
  heals_.clear();
  starts_.clear();
  for (const auto& instance : instances_) {
    instance->SetNetwork({});
    instance->Start();
  }
}

// ---- The machines

void World::RunMachines() {
  // First the names: what happens to pods changes the list.
  std::vector<std::string> names;
  for (const auto& [name, state] : checker_.pods()) {
    if (state.bound()) names.push_back(name);
  }
  for (const std::string& name : names) RunPod(name, checker_.pods().at(name));
  if (now() >= next_report_) ReportLoads();
}

void World::RunPod(const std::string& name, const Checker::PodState& state) {
  const std::string path = fmt::format("{}/{}", kPodsPath, name);
  const std::string& uid = state.pod.metadata.uid;
  const auto waited = [&](std::map<std::string, SteadyTime>& since, Duration span) {
    return now() - since.try_emplace(uid, now()).first->second >= span;
  };
  const bool orphan = !checker_.nodes().contains(state.pod.spec.node_name);
  if ((IsBeingDeleted(state.pod.metadata) && waited(leaving_, 1s)) ||
      (orphan && waited(lost_, 5s))) {
    if (orphan) orphans_.insert(name);
    Send({.method = "DELETE",
          .target = path,
          .body = {{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", uid}}}}});
    return;
  }
  if (orphan || state.ended) return;
  // Machines keep their own time.
  const auto put_status = [&](kube::Json status) {
    Send({.method = "PATCH",
          .target = path + "/status",
          .body = {{"metadata", {{"uid", uid}}}, {"status", std::move(status)}},
          .content_type = "application/merge-patch+json"});
  };
  if (state.pod.status.phase != "Running") {
    return put_status(
        {{"phase", "Running"}, {"startTime", kube::FormatTime(loop().clock().Now() - skew_)}});
  }
  const std::string* lifetime = kube::FindValue(state.pod.metadata.annotations, kLifetime);
  if (lifetime != nullptr && now() - state.bound_at >= std::chrono::seconds(std::stoi(*lifetime))) {
    put_status({{"phase", "Succeeded"}});
  }
}

void World::ReportLoads(Duration ahead) {
  next_report_ = now() + kReport;
  for (const auto& [node, percent] : loads_) ReportLoad(node, ahead);
}

void World::ReportLoad(const std::string& node, Duration ahead) {
  const auto known = checker_.nodes().find(node);
  if (known == checker_.nodes().end()) return;
  const std::string path = fmt::format("{}/{}", kMetricsPath, node);
  Send({.method = "POST",
        .target = kMetricsPath,
        .body = {{"apiVersion", "slo.koordinator.sh/v1alpha1"},
                 {"kind", "NodeMetric"},
                 {"metadata", {{"name", node}}}}});
  const int64_t capacity = kube::AmountOf(known->second.status.capacity, kube::kCpu).MilliValue();
  // No two reports are equal: the server swallows one that says nothing new, as one of the same
  // second does only where the clock has not jumped in between.
  const int64_t memory = (int64_t{1} << 30) + ++reports_;
  Send({.method = "PATCH",
        .target = path + "/status",
        .body = {{"status",
                  {{"updateTime", kube::FormatTime(loop().clock().Now() + ahead)},
                   {"nodeMetric",
                    {{"nodeUsage",
                      {{"resources",
                        {{"cpu", fmt::format("{}m", capacity * loads_[node] / 100)},
                         {"memory", fmt::format("{}", memory)}}}}}}}}}},
        .content_type = "application/merge-patch+json"});
}

// ---- What must hold

void World::Complain(std::string_view when, std::string what) {
  checker_.Complain(fmt::format("{}: {}", when, what));
}

void World::CheckBounds() {
  for (const auto& instance : instances_) {
    if (!instance->alive()) continue;
    const scheduler::Scheduler& core = instance->app().scheduler();
    const auto counts = core.queue().counts();
    const size_t queued =
        counts.active + counts.backoff + counts.unschedulable + counts.gated + counts.in_flight;
    if (queued > checker_.uids().size()) Complain("I18", fmt::format("{} pods queued", queued));
    if (counts.in_flight == 0 && core.queue().logged_events() != 0) {
      Complain("I18", "events are kept for nobody");
    }
    if (core.queue().logged_events() > 10'000) Complain("I18", "too many events are kept");
    if (core.ledger().pods() > checker_.uids().size() || core.ledger().nodes().rows() > 64) {
      Complain("I18", fmt::format("the ledger has {} pods and {} rows", core.ledger().pods(),
                                  core.ledger().nodes().rows()));
    }
  }
}

void World::CheckQuiet(std::string_view when) {
  const auto leaders = std::ranges::count_if(instances_, [](auto& each) { return each->leads(); });
  if (leaders != 1) Complain(when, fmt::format("there are {} leaders", leaders));
  auto transport = std::make_shared<kube::InProcessTransport>(loop(), *server_.server);
  kube::Client client(loop(), transport, {.user_agent = "judge", .qps = 0});
  const auto fresh = MakeApp(loop(), client, seed_, [] { return false; });
  fresh->Watch();
  if (!loop().RunUntil([&] { return fresh->synced(); }, 5s)) {
    return Complain(when, "a new scheduler does not start");
  }
  for (const auto& instance : instances_) {
    if (!instance->alive() || !instance->app().synced()) {
      Complain(when, fmt::format("instance {} does not run", instance->index()));
      continue;
    }
    const std::string ledger = instance->app().scheduler().ledger().Fingerprint();
    const std::string rebuilt = fresh->scheduler().ledger().Fingerprint();
    if (ledger != rebuilt) {
      Complain(when, fmt::format("I8: the ledger of instance {} is\n{}and should be\n{}",
                                 instance->index(), ledger, rebuilt));
    }
    CheckQueue(*instance, when);
    CheckQuotaBook(*instance, *fresh, when);
  }
  CheckAgainstFresh(*fresh, when);
  CheckReservations(when);
  CheckQuotas(when);
}

// What quotas are charged and may use is what a new scheduler finds.
void World::CheckQuotaBook(Instance& instance, scheduler::SchedulerApp& fresh,
                           std::string_view when) {
  const auto text = [](const scheduler::Scheduler& core) {
    const model::QuotaTree& tree = core.books().quotas.tree();
    std::string lines;
    for (const auto& [name, quota] : tree.quotas()) {
      const model::QuotaStatus status = model::StatusOf(tree, *quota);
      lines += name;
      for (const auto* amounts : {&status.runtime, &status.child_request, &status.request,
                                  &status.used, &status.non_preemptible_used}) {
        kube::ResourceList list = tree.dimensions().ListOf(*amounts);
        std::erase_if(list, [](const auto& entry) { return entry.second.Sign() == 0; });
        lines += " " + kube::Serialize(kube::Encode(list));
      }
      lines += "\n";
    }
    return lines;
  };
  const std::string known = text(instance.app().scheduler());
  const std::string rebuilt = text(fresh.scheduler());
  if (known == rebuilt) return;
  Complain(when, fmt::format("I8: the quotas of instance {} are\n{}and should be\n{}",
                             instance.index(), known, rebuilt));
}

// Every quota says what its pods use.
void World::CheckQuotas(std::string_view when) {
  for (const auto& [name, used] : checker_.QuotaUsage()) {
    kube::ResourceList difference = checker_.quotas().at(name).status.used;
    kube::SubtractFrom(difference, used);
    if (kube::IsZero(difference)) continue;
    Complain(when,
             fmt::format("I5: {} uses {} and says {}", name, kube::Serialize(kube::Encode(used)),
                         kube::Serialize(kube::Encode(checker_.quotas().at(name).status.used))));
  }
}

// Of those that hold room: who uses them is said, and nobody else. Of those that can be used once
// and have been, that they have.
void World::CheckReservations(std::string_view when) {
  for (const auto& [name, state] : checker_.reservations()) {
    if (!state.available()) continue;
    const api::Reservation& reservation = state.object;
    std::set<std::string> said, are;
    for (const kube::ObjectReference& owner : reservation.status.current_owners) {
      said.insert(owner.name);
    }
    for (const auto& [pod, pod_state] : checker_.pods()) {
      const auto drawn = api::ReservationAllocatedOf(pod_state.pod.metadata.annotations);
      if (pod_state.bound() && !pod_state.ended && drawn.ok() && *drawn &&
          (*drawn)->uid == reservation.metadata.uid) {
        are.insert(pod);
      }
    }
    if (said != are) {
      Complain(when, fmt::format("I9: {} is used by {} and says {}", name, fmt::join(are, " "),
                                 fmt::join(said, " ")));
    }
    if (api::AllocatesOnce(reservation.spec) && !are.empty()) {
      Complain(when, fmt::format("{} was used by {} and is available", name, fmt::join(are, " ")));
    }
    if (!checker_.nodes().contains(reservation.status.node_name)) {
      Complain(when, fmt::format("{} is on {}, which is gone", name, reservation.status.node_name));
    }
    CheckConsumer(reservation, when);
  }
}

// Who was to use one up and could not does not keep others from it.
void World::CheckConsumer(const api::Reservation& reservation, std::string_view when) {
  const auto consumer = api::ReservationCurrentOwnerOf(reservation.metadata.annotations);
  if (!consumer.ok() || !*consumer) return;
  const auto known = checker_.pods().find((*consumer)->name);
  const bool waits = known != checker_.pods().end() && !known->second.bound() &&
                     known->second.pod.metadata.uid == (*consumer)->uid;
  if (waits) return;
  Complain(when, fmt::format("I9: {} is available and says that {} uses it up",
                             reservation.metadata.name, (*consumer)->name));
}

// Nobody is in the queue who is not pending, everybody is who is, and nothing is promised or given
// to others.
void World::CheckQueue(Instance& instance, std::string_view when) {
  const scheduler::Scheduler& core = instance.app().scheduler();
  const auto counts = core.queue().counts();
  size_t pending = 0;
  for (const auto& [name, state] : checker_.pods()) {
    if (state.bound() || state.ended) continue;
    ++pending;
    if (!core.queue().Describe(state.pod.metadata.uid)) {
      Complain(when,
               fmt::format("I9: {} is not in the queue of instance {}", name, instance.index()));
    }
  }
  for (const auto& [name, state] : checker_.reservations()) {
    if (!state.waits()) continue;
    ++pending;
    if (!core.queue().Describe(state.object.metadata.uid)) {
      Complain(when,
               fmt::format("I9: {} is not in the queue of instance {}", name, instance.index()));
    }
  }
  const size_t queued = counts.active + counts.backoff + counts.unschedulable + counts.gated;
  if (queued != pending || counts.in_flight != 0) {
    Complain(when, fmt::format("I9: instance {} has {} pods queued and {} in flight of {} pending",
                               instance.index(), queued, counts.in_flight, pending));
  }
  if (core.ledger().assumed() != 0) {
    Complain(when, fmt::format("I9: instance {} still assumes {} pods", instance.index(),
                               core.ledger().assumed()));
  }
  for (const std::string& uid : checker_.uids()) {
    const std::string_view promised = core.NominatedNodeOf(uid);
    const bool waits = std::ranges::any_of(checker_.pods(), [&](const auto& pod) {
      return pod.second.pod.metadata.uid == uid && !pod.second.bound();
    });
    if (!promised.empty() && !waits) {
      Complain(when, fmt::format("I9: {} is promised to {}, which does not wait", promised, uid));
    }
  }
  if (core.queue().rescued() != 0) {
    Complain(when, fmt::format("I10: instance {} lost the events of {} pods", instance.index(),
                               core.queue().rescued()));
  }
}

// Whoever is pending fits nowhere, if you ask a scheduler that has just read everything.
void World::CheckAgainstFresh(scheduler::SchedulerApp& fresh, std::string_view when) {
  const auto check = [&](const std::string& name, const scheduler::Scheduler::PodPtr& pod) {
    scheduler::Pipeline& pipeline = *fresh.scheduler().PipelineFor(*pod);
    pipeline.BeginCycle(loop().clock().Now());
    const scheduler::Decision decision = pipeline.Decide(*pod, fresh.scheduler().ShapeOf(pod));
    if (!decision.placed()) return;
    Complain(when, fmt::format("I10: {} is pending and fits {}", name,
                               fresh.scheduler().ledger().nodes().name(decision.row)));
  };
  for (const auto& [name, state] : checker_.pods()) {
    if (state.bound() || state.ended || !state.pod.spec.scheduling_gates.empty()) continue;
    if (const auto pod = fresh.FindPod({"default", name})) {
      check(name, pod);
    } else {
      Complain(when, fmt::format("{} is unknown to a new scheduler", name));
    }
  }
  for (const auto& [name, state] : checker_.reservations()) {
    if (state.waits()) check(name, scheduler::MakeReservePod(state.object, "default-scheduler"));
  }
}

void World::CheckEverybodyHelped() {
  for (const auto& [name, state] : checker_.pods()) {
    if (state.bound() || state.ended || name.starts_with(kImpossible)) continue;
    Complain("at the end", fmt::format("I10: {} is pending although there is room", name));
  }
  for (const auto& [name, state] : checker_.reservations()) {
    if (!state.waits()) continue;
    Complain("at the end", fmt::format("I10: {} has no node although there is room", name));
  }
}

}  // namespace koord::localcluster::simulation
