#include "simulation/manager/managed_world_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "api/crds.h"
#include "api/keys.h"
#include "kube/quantity.h"
#include "kube/time.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"

namespace koord::localcluster::managed {
namespace {

using kube::Json;

constexpr double kDiffThreshold = 0.1;
constexpr Duration kLook = 2s;        // after which what changed has been looked at
constexpr Duration kRecovery = 2min;  // after a bad network
constexpr Duration kLease = 15s;
constexpr size_t kMostComplaints = 20;
constexpr int64_t kGi = int64_t{1} << 30;
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kNodes[] = "/api/v1/nodes";
constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kConfigMaps[] = "/api/v1/namespaces/koordinator-system/configmaps";
constexpr char kMetrics[] = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics";

kube::Faults BadNetwork(Random& random) {
  const double level = 0.02 + 0.08 * random.Fraction();
  kube::Faults faults;
  faults.refused = level;
  faults.lost_answer = level;
  faults.duplicate = level;
  faults.delay = 3 * level;
  faults.conflict = level;
  faults.expired = level;
  faults.too_many_requests = level;
  faults.internal_error = level;
  faults.dropped_watch = level / 4;
  return faults;
}

// Shows what is sent and what comes of it.
class SpyTransport final : public kube::Transport {
 public:
  SpyTransport(std::shared_ptr<kube::Transport> inner, Instance::OnWrite on_write,
               Instance::OnAnswer on_answer)
      : inner_(std::move(inner)),
        on_write_(std::move(on_write)),
        on_answer_(std::move(on_answer)) {}

  std::shared_ptr<Call> Send(kube::HttpRequest request, Duration timeout, Done done) override {
    if (request.method == "GET") return inner_->Send(std::move(request), timeout, std::move(done));
    on_write_(request);
    kube::HttpRequest copy = request;
    return inner_->Send(std::move(request), timeout,
                        [copy = std::move(copy), on_answer = on_answer_,
                         done = std::move(done)](StatusOr<kube::HttpResponse> answer) mutable {
                          on_answer(copy, answer.ok() && answer->status < 300);
                          done(std::move(answer));
                        });
  }
  std::unique_ptr<Stream> Open(kube::HttpRequest request, StreamEvents events) override {
    return inner_->Open(std::move(request), std::move(events));
  }

 private:
  std::shared_ptr<kube::Transport> inner_;
  Instance::OnWrite on_write_;
  Instance::OnAnswer on_answer_;
};

std::string Resources(const Amount& amount, std::string_view cpu, std::string_view memory) {
  const bool milli = cpu == "cpu";
  return fmt::format(R"({{"{}":"{}{}","{}":"{}"}})", cpu, amount.cpu, milli ? "m" : "", memory,
                     amount.memory);
}

std::string UsageJson(const Amount& amount) {
  return fmt::format(R"({{"resources":{}}})", Resources(amount, "cpu", "memory"));
}

std::string_view ClassOf(Kind kind) {
  switch (kind) {
    case Kind::kMid:
      return "koord-mid";
    case Kind::kBatch:
      return "koord-batch";
    case Kind::kFree:
      return "koord-free";
    default:
      return "koord-prod";
  }
}

std::string PodJson(const std::string& name, const std::string& node, const SimPod& pod) {
  std::string_view qos = "LS", cpu = "cpu", memory = "memory";
  if (pod.kind == Kind::kExclusive) qos = "LSE";
  if (pod.kind == Kind::kBatch || pod.kind == Kind::kFree) qos = "BE";
  if (pod.kind == Kind::kBatch)
    cpu = "kubernetes.io/batch-cpu", memory = "kubernetes.io/batch-memory";
  if (pod.kind == Kind::kMid) cpu = "kubernetes.io/mid-cpu", memory = "kubernetes.io/mid-memory";
  const std::string resources = Resources(pod.size, cpu, memory);
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","labels":{{"koordinator.sh/qosClass":"{}"}}}},)"
      R"("spec":{{"nodeName":"{}","priorityClassName":"{}","containers":[{{"name":"c","image":"i",)"
      R"("resources":{{"requests":{},"limits":{}}}}}]}}}})",
      name, qos, node, ClassOf(pod.kind), resources, resources);
}

// A day has its quiet hours.
double Daylight(SteadyTime time) {
  const double day = std::chrono::duration<double>(time).count() / 86400.0;
  return 0.45 - 0.35 * std::cos(2 * std::numbers::pi * day);
}

std::string StrategyJson(const Strategy& strategy) {
  static constexpr const char* kPolicies[] = {"usage", "request", "maxUsageRequest"};
  std::string text = fmt::format(
      R"("cpuReclaimThresholdPercent":{},"memoryReclaimThresholdPercent":{},"cpuCalculatePolicy":"{}","memoryCalculatePolicy":"{}")",
      strategy.cpu_percent, strategy.memory_percent,
      strategy.cpu_by_max ? "maxUsageRequest" : "usage",
      kPolicies[static_cast<int>(strategy.memory)]);
  if (strategy.cpu_cap_percent) {
    text += fmt::format(R"(,"batchCPUThresholdPercent":{})", *strategy.cpu_cap_percent);
  }
  return text;
}

std::string PoolOf(int index) {
  if (index % 10 == 6 || index % 10 == 7) return "special";
  return index % 10 == 9 ? "off" : "usual";
}
bool HasRatioLabel(int index) { return index % 10 == 8; }

std::string NameIn(std::string_view target) {
  target.remove_prefix(std::string_view(kNodes).size() + 1);
  return std::string(target.substr(0, target.find_first_of("/?")));
}

std::optional<int64_t> NumberAt(const Json& node, std::string_view resource) {
  const std::string_view text = kube::FindString(node, {"status", "allocatable", resource});
  if (text.empty()) return std::nullopt;
  const auto quantity = kube::Quantity::Parse(text);
  return quantity.ok() ? std::optional(quantity->Value()) : std::nullopt;
}

bool IsNear(int64_t published, int64_t expected) {
  return std::abs(static_cast<double>(expected - published)) <=
         static_cast<double>(published) * kDiffThreshold;
}

}  // namespace

// ---- The manager

Instance::Instance(apiserver::TestServer& server, uint64_t seed, OnWrite on_write,
                   OnAnswer on_answer) {
  EventLoop& loop = server.loop;
  network_ = std::make_shared<kube::FaultTransport>(
      loop, std::make_shared<kube::InProcessTransport>(loop, *server.server), seed);
  client_ = std::make_unique<kube::Client>(
      loop, std::make_shared<SpyTransport>(network_, std::move(on_write), std::move(on_answer)),
      kube::Client::Options{
          .user_agent = "koordinator-manager", .qps = 0, .may_write = [this] { return leads_; }});
  manager::ManagerApp::Options options;
  options.seed = seed;
  app_ = std::make_unique<manager::ManagerApp>(*client_, std::move(options));
  app_->Watch();
}

Instance::~Instance() = default;

void Instance::Lead() {
  leads_ = true;
  app_->Lead();
}

std::string Instance::Knows(const std::string& node) {
  const auto metric = app_->informers().node_metrics.Get({"", node});
  const bool has = metric != nullptr && metric->status.update_time;
  return fmt::format("the manager is {}{} and knows its report of {}",
                     app_->synced() ? "" : "not synced, ", app_->quiet() ? "quiet" : "busy",
                     has ? kube::FormatTime(*metric->status.update_time) : "never");
}

// ---- The world

World::World(uint64_t seed, Conditions conditions)
    : conditions_(conditions), random_(seed), server_({.seed = seed}) {
  for (const EmbeddedFile& file : api::CustomResourceDefinitions()) {
    const auto answer = server_.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                     kube::ParseYaml(file.text).value_or(Json()));
    EXPECT_EQ(answer.code, 201) << answer.body;
  }
  Send("POST", "/api/v1/namespaces", R"({"metadata":{"name":"koordinator-system"}})");
  for (const auto& [name, value] : {std::pair{"koord-prod", 9000},
                                    {"koord-mid", 7000},
                                    {"koord-batch", 5000},
                                    {"koord-free", 3000}}) {
    Send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
         fmt::format(R"({{"metadata":{{"name":"{}"}},"value":{}}})", name, value));
  }
  pool_.cpu_by_max = true;
  pool_.memory = Strategy::Memory::kRequest;
  pool_.cpu_percent = pool_.memory_percent = 80;
  pool_.cpu_cap_percent = 40;
  Configure();
  nodes_.resize(static_cast<size_t>(conditions.nodes));
  for (int i = 0; i < conditions.nodes; ++i) CreateNode(i);
  watch_ = server_.Watch(fmt::format("{}?watch=true", kNodes));
  leader_ = MakeInstance();
  leader_->Lead();
  if (conditions.standby) standby_ = MakeInstance();
  Plan();
}

World::~World() = default;

apiserver::TestAnswer World::Send(std::string method, std::string target, const std::string& body,
                                  std::string content_type) {
  const std::string what = method + " " + target;
  auto answer = server_.Send(std::move(method), std::move(target), body, std::move(content_type));
  EXPECT_TRUE(answer.code / 100 == 2 || answer.code == 404)
      << what << " " << body << ": " << answer.body;
  return answer;
}

std::unique_ptr<Instance> World::MakeInstance() {
  auto made = std::make_unique<Instance>(
      server_, random_() + ++starts_,
      [this](const kube::HttpRequest& request) { OnWrite(request); },
      [this](const kube::HttpRequest& request, bool ok) { OnAnswer(request, ok); });
  made->informed = configured_well_;
  return made;
}

void World::Plan() {
  const auto times = [&](double per_day) {
    const double days = std::chrono::duration<double>(conditions_.length).count() / 86400.0;
    return static_cast<int>(std::ceil(per_day * days));
  };
  for (int i = 0; i < conditions_.nodes; ++i) {
    At(SteadyTime(Duration(random_.Below(conditions_.report_interval.count()))), What::kReport, i);
    for (int n = 0; n < 4 + static_cast<int>(random_.Below(4)); ++n) AddPod(i);
  }
  const auto on_nodes = [&](What what, double per_node) {
    for (int n = times(per_node * conditions_.nodes); n > 0; --n) {
      At(Anytime(), what,
         static_cast<int>(random_.Below(static_cast<uint64_t>(conditions_.nodes))));
    }
  };
  on_nodes(What::kPodComes, 6);
  on_nodes(What::kPodGoes, 4);
  on_nodes(What::kPodEnds, 2);
  on_nodes(What::kSilence, 0.5);
  on_nodes(What::kReserve, 0.2);
  on_nodes(What::kReplaceNode, 0.1);
  for (int n = times(8); n > 0; --n) At(Anytime(), What::kConfigure);
  for (SteadyTime at{10min}; at < conditions_.length; at += 10min) At(at, What::kSweep);
  if (!conditions_.troubled) return;
  for (int n = times(12); n > 0; --n) At(Anytime(), What::kCrash);
  for (int n = times(12); n > 0; --n) At(Anytime(), What::kTrouble);
}

void World::Run() {
  while (!events_.empty() && events_.begin()->first < conditions_.length &&
         complaints_.size() < kMostComplaints) {
    const auto [when, event] = *events_.begin();
    events_.erase(events_.begin());
    loop().Advance(std::max(when - now(), Duration::zero()));
    Read();
    Do(event);
    loop().RunReady();
    Read();
  }
}

void World::Do(const Event& event) {
  switch (event.what) {
    case What::kReport:
      return SendReport(event.node);
    case What::kCheck:
      return Check(event.node);
    case What::kSilence:
      nodes_[event.node].silent_until = now() + std::chrono::seconds(random_.Below(90 * 60));
      return;
    case What::kPodComes:
      return AddPod(event.node);
    case What::kPodGoes:
      return RemovePod(event.node);
    case What::kPodEnds:
      return EndPod(event.node);
    case What::kReserve:
      return Reserve(event.node);
    case What::kReplaceNode:
      return ReplaceNode(event.node);
    case What::kConfigure:
      return Configure();
    case What::kCrash:
      return Crash();
    case What::kTakeOver:
      return TakeOver();
    case What::kTrouble:
      trouble_ = true;
      if (leader_) leader_->SetNetwork(BadNetwork(random_));
      if (standby_) standby_->SetNetwork(BadNetwork(random_));
      At(now() + 5min, What::kCalm);
      return;
    case What::kCalm:
      trouble_ = false;
      calm_since_ = now();
      if (leader_) leader_->SetNetwork({});
      if (standby_) standby_->SetNetwork({});
      return;
    case What::kSweep:
      return Sweep();
  }
}

void World::CreateNode(int index) {
  NodeState& node = nodes_[index];
  const bool fresh = node.name.empty();
  if (fresh) {
    node.name = fmt::format("node-{}", index);
    index_[node.name] = index;
    node.sim.capacity = {1000 * (32 + 16 * static_cast<int64_t>(random_.Below(5))),
                         kGi * (64 + 64 * static_cast<int64_t>(random_.Below(4)))};
    node.sim.allocatable = node.sim.capacity;
    if (random_.Chance(0.7)) {
      node.sim.allocatable.cpu -= 700;
      node.sim.allocatable.memory -= 2 * kGi;
    }
  }
  Allow(node);
  Send("POST", kNodes,
       fmt::format(R"({{"metadata":{{"name":"{}","labels":{{"pool":"{}"{}}}}},)"
                   R"("status":{{"capacity":{},"allocatable":{}}}}})",
                   node.name, PoolOf(index),
                   HasRatioLabel(index) ? R"(,"node.koordinator.sh/cpu-reclaim-ratio":"0.5")" : "",
                   Resources(node.sim.capacity, "cpu", "memory"),
                   Resources(node.sim.allocatable, "cpu", "memory")));
}

void World::ReplaceNode(int index) {
  NodeState& node = nodes_[index];
  while (!node.sim.pods.empty()) RemovePod(index);
  Allow(node);
  Send("DELETE", fmt::format("{}/{}", kNodes, node.name), "");
  loop().Advance(10s);  // the manager clears away what belongs to it
  node.sim.report.reset();
  node.sim.reserved_by_annotation = {};
  node.published = {};
  CreateNode(index);
}

void World::SendReport(int index) {
  NodeState& node = nodes_[index];
  if (now() < node.silent_until) {
    At(node.silent_until, What::kReport, index);
    return;
  }
  const double level = Daylight(now());
  const auto some = [&](int64_t of) {
    return static_cast<int64_t>(static_cast<double>(of) * level * (0.7 + 0.6 * random_.Fraction()));
  };
  Report report;
  report.time = std::chrono::floor<std::chrono::seconds>(loop().clock().Now());
  report.system = {400 + static_cast<int64_t>(random_.Below(1000)),
                   kGi + static_cast<int64_t>(random_.Below(kGi))};
  for (const auto& [name, pod] : node.sim.pods) {
    if (!pod.holds || random_.Chance(0.05)) continue;  // not measured yet
    report.pods.push_back(
        {name, std::string(ClassOf(pod.kind)), {some(pod.size.cpu), some(pod.size.memory)}});
  }
  if (random_.Chance(0.03)) {  // gone, and still in the numbers
    static constexpr const char* kPriorities[] = {"", "koord-prod", "koord-batch", "koord-free"};
    report.pods.push_back({"ghost", kPriorities[random_.Below(4)], {700, kGi}});
  }
  if (index % 7 == 0) {
    report.host_applications.push_back({"proxy", "koord-prod", {some(2000), some(kGi)}});
    report.host_applications.push_back({"miner", "koord-batch", {some(2000), some(kGi)}});
  }
  std::vector<std::string> pods, applications;
  for (const Usage& each : report.pods) {
    pods.push_back(
        fmt::format(R"({{"namespace":"default","name":"{}","priority":"{}","podUsage":{}}})",
                    each.name, each.priority, UsageJson(each.used)));
  }
  for (const Usage& each : report.host_applications) {
    applications.push_back(fmt::format(R"({{"name":"{}","priority":"{}","usage":{}}})", each.name,
                                       each.priority, UsageJson(each.used)));
  }
  Allow(node);  // the manager acts while this is sent
  const auto answer =
      Send("PATCH", fmt::format("{}/{}/status", kMetrics, node.name),
           fmt::format(
               R"({{"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{},"systemUsage":{}}},)"
               R"("podsMetric":[{}],"hostApplicationMetric":[{}]}}}})",
               kube::FormatTime(report.time), UsageJson(report.system), UsageJson(report.system),
               fmt::join(pods, ","), fmt::join(applications, ",")),
           kMergePatch);
  if (answer.code != 200) {  // nobody has made the object yet
    At(now() + 10s, What::kReport, index);
    return;
  }
  ++tally_.reports;
  node.sim.report = std::move(report);
  node.withdrawal_left = true;
  node.looked = now();
  At(now() + kLook, What::kCheck, index);
  At(now() + conditions_.report_interval, What::kReport, index);
}

void World::AddPod(int index) {
  NodeState& node = nodes_[index];
  static constexpr Kind kKinds[] = {
      Kind::kService,   Kind::kService, Kind::kService, Kind::kService, Kind::kService,
      Kind::kExclusive, Kind::kMid,     Kind::kBatch,   Kind::kBatch,   Kind::kFree};
  SimPod pod;
  pod.kind = kKinds[random_.Below(10)];
  pod.size = {500 * (1 + static_cast<int64_t>(random_.Below(16))),
              kGi / 2 * (1 + static_cast<int64_t>(random_.Below(24)))};
  if (pod.kind == Kind::kExclusive) pod.size.cpu = 1000 * (1 + pod.size.cpu / 2000);
  const bool native = pod.kind != Kind::kMid && pod.kind != Kind::kBatch;
  if (native) pod.request = pod.size;
  const std::string name = fmt::format("pod-{}", ++next_pod_);
  Allow(node);
  Send("POST", kPods, PodJson(name, node.name, pod));
  if (random_.Chance(0.8)) {
    Send("PATCH", fmt::format("{}/{}/status", kPods, name), R"({"status":{"phase":"Running"}})",
         kMergePatch);
  }
  node.sim.pods[name] = pod;
  node.pods_changed = now();
}

void World::RemovePod(int index) {
  NodeState& node = nodes_[index];
  if (node.sim.pods.empty()) return;
  const auto victim =
      std::next(node.sim.pods.begin(), static_cast<ptrdiff_t>(random_.Below(node.sim.pods.size())));
  Allow(node);
  Send("DELETE", fmt::format("{}/{}", kPods, victim->first), R"({"gracePeriodSeconds":0})");
  node.sim.pods.erase(victim);
  node.pods_changed = now();
}

void World::EndPod(int index) {
  NodeState& node = nodes_[index];
  if (node.sim.pods.empty()) return;
  auto& [name, pod] = *node.sim.pods.begin();
  Allow(node);
  Send("PATCH", fmt::format("{}/{}/status", kPods, name), R"({"status":{"phase":"Succeeded"}})",
       kMergePatch);
  pod.holds = false;
  node.pods_changed = now();
}

void World::Reserve(int index) {
  NodeState& node = nodes_[index];
  Amount& reserved = node.sim.reserved_by_annotation;
  reserved = reserved == Amount{} ? Amount{3000, 5 * kGi} : Amount{};
  const std::string value =
      reserved == Amount{} ? "null" : R"("{\"resources\":{\"cpu\":\"3\",\"memory\":\"5Gi\"}}")";
  Allow(node);
  Send("PATCH", fmt::format("{}/{}", kNodes, node.name),
       fmt::format(R"({{"metadata":{{"annotations":{{"{}":{}}}}}}})",
                   api::kAnnotationNodeReservation, value),
       kMergePatch);
  node.looked = now();
  At(now() + kLook, What::kCheck, index);
}

// Some of what administrators write makes no sense: then what was in force stays.
void World::Configure() {
  const bool first = nodes_.empty();
  std::string colocation;
  configured_well_ = first || !IsWell() || random_.Chance(0.6);
  if (!configured_well_) {
    colocation = random_.Chance(0.5) ? R"({"enable":true,)"
                                     : R"({"enable":true,"cpuReclaimThresholdPercent":"lots"})";
  } else {
    cluster_.cpu_percent = 55 + 5 * static_cast<int64_t>(random_.Below(4));
    cluster_.memory_percent = 60 + 5 * static_cast<int64_t>(random_.Below(3));
    pool_.memory = random_.Chance(0.5) ? Strategy::Memory::kRequest : Strategy::Memory::kMax;
    colocation = fmt::format(
        R"({{"enable":true,"metricReportIntervalSeconds":{},"updateTimeThresholdSeconds":{},{},)"
        R"("nodeConfigs":[{{"name":"special","nodeSelector":{{"matchLabels":{{"pool":"special"}}}},{}}},)"
        R"({{"name":"off","nodeSelector":{{"matchLabels":{{"pool":"off"}}}},"enable":false}}]}})",
        std::chrono::duration_cast<std::chrono::seconds>(conditions_.report_interval).count(),
        std::chrono::duration_cast<std::chrono::seconds>(conditions_.update_threshold).count(),
        StrategyJson(cluster_), StrategyJson(pool_));
  }
  colocation += std::string(++configurations_, ' ');  // never the same text twice
  for (Instance* each : {leader_.get(), standby_.get()}) {
    if (each != nullptr && configured_well_) each->informed = true;
  }
  const Json data{{"colocation-config", colocation}};
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    Allow(nodes_[i]);
    nodes_[i].looked = now();
    At(now() + kLook, What::kCheck, i);
  }
  if (first) {
    Send("POST", kConfigMaps,
         kube::Serialize(Json{{"metadata", {{"name", "slo-controller-config"}}}, {"data", data}}));
  } else {
    Send("PATCH", fmt::format("{}/slo-controller-config", kConfigMaps),
         kube::Serialize(Json{{"data", data}}), kMergePatch);
  }
}

void World::Crash() {
  if (!leader_ || (conditions_.standby && !standby_)) return;
  ++tally_.crashes;
  left_behind_.push_back(leader_->network());
  leader_.reset();
  At(now() + kLease, What::kTakeOver);
}

void World::TakeOver() {
  leader_ = conditions_.standby ? std::move(standby_) : MakeInstance();
  leading_since_ = now();
  for (NodeState& node : nodes_) Allow(node);
  leader_->Lead();
  if (!conditions_.standby) return;
  standby_ = MakeInstance();
  if (trouble_) standby_->SetNetwork(BadNetwork(random_));
}

// ---- What must hold

template <class... Args>
void World::Complain(fmt::format_string<Args...> format, Args&&... args) {
  complaints_.push_back(fmt::format("{}: {}", kube::FormatTime(loop().clock().Now()),
                                    fmt::format(format, std::forward<Args>(args)...)));
}

// One patch for each change; while the network is bad a change may be noticed before the patch for
// the last one has come back.
void World::Allow(NodeState& node) {
  const bool bad = trouble_ || now() < calm_since_ + kRecovery;
  node.patches_left = bad ? std::min(node.patches_left + 1, 3) : 1;
}

void World::OnWrite(const kube::HttpRequest& request) {
  const auto mix = [&](std::string_view text) {
    for (const char c : text) trace_ = (trace_ ^ static_cast<uint8_t>(c)) * 1099511628211u;
  };
  mix(std::to_string(now().count()));
  mix(request.method);
  mix(request.target);
  mix(request.body);
  if (request.method != "PATCH" || !request.target.starts_with(kNodes)) return;
  const auto found = index_.find(NameIn(request.target));
  if (found == index_.end()) return Complain("patches an unknown node: {}", request.target);
  NodeState& node = nodes_[found->second];
  ++tally_.patches;
  CheckBody(node, request);
  if (node.patches_left > 0) {
    --node.patches_left;
    if (request.target.ends_with("/status")) node.written = now();
    return;
  }
  const bool too_old =
      node.sim.report && loop().clock().Now() > node.sim.report->time + kDegradeTime;
  if (too_old && node.withdrawal_left) {
    node.withdrawal_left = false;
    return;
  }
  Complain("{} is patched again without a change: {}", node.name, request.body);
}

void World::OnAnswer(const kube::HttpRequest& request, bool ok) {
  if (ok || !request.target.starts_with(kNodes)) return;
  if (const auto found = index_.find(NameIn(request.target)); found != index_.end()) {
    ++nodes_[found->second].patches_left;  // it is tried again
  }
}

// The manager lends; it never takes from what services may ask for.
void World::CheckBody(NodeState& node, const kube::HttpRequest& request) {
  const Json body = kube::ParseJson(request.body).value_or(Json());
  for (const char* list : {"capacity", "allocatable"}) {
    const auto* amounts = kube::FindObject(body, {"status", list});
    for (auto it = amounts != nullptr ? amounts->begin() : nullptr;
         amounts != nullptr && it != amounts->end(); ++it) {
      const std::string_view name = it->key();
      if (!name.starts_with("kubernetes.io/batch-") && !name.starts_with("kubernetes.io/mid-")) {
        Complain("{}: status.{}.{} is none of the manager's", node.name, list, name);
      }
    }
  }
  if (kube::Find(body, {"spec"}) != nullptr) Complain("{}: the spec is changed", node.name);
}

void World::Read() {
  if (watch_->ended) watch_ = server_.Watch(fmt::format("{}?watch=true", kNodes));
  for (const Json& event : watch_->TakeEvents()) {
    const Json* object = kube::Find(event, {"object"});
    const auto found = index_.find(kube::FindString(*object, {"metadata", "name"}));
    if (found == index_.end()) continue;
    NodeState& node = nodes_[found->second];
    if (kube::FindString(event, {"type"}) == "DELETED") {
      node.published = {};
      continue;
    }
    node.published = {NumberAt(*object, "kubernetes.io/batch-cpu"),
                      NumberAt(*object, "kubernetes.io/batch-memory")};
    const auto cpu =
        kube::Quantity::Parse(kube::FindString(*object, {"status", "allocatable", "cpu"}));
    if (!cpu.ok() || cpu->MilliValue() != node.sim.allocatable.cpu ||
        NumberAt(*object, "memory") != node.sim.allocatable.memory) {
      Complain("{}: services can no longer ask for all that there is", node.name);
    }
  }
}

Strategy World::StrategyOf(int index) const {
  Strategy strategy = PoolOf(index) == "special" ? pool_ : cluster_;
  strategy.enabled = PoolOf(index) != "off";
  if (HasRatioLabel(index)) strategy.cpu_percent = 50;
  return strategy;
}

// Whether the manager has had its chance, and nobody has come or gone since it last looked.
bool World::IsSettled(const NodeState& node) {
  return IsWell(node.looked) && node.pods_changed < node.looked;
}

bool World::IsWell(SteadyTime at) {
  return leader_ && leader_->leads() && leader_->informed && at > leading_since_ && !trouble_ &&
         at >= calm_since_ + kRecovery;
}

void World::Check(int index) {
  NodeState& node = nodes_[index];
  if (!IsSettled(node)) {
    node.exact = now();
    return;
  }
  ++tally_.checks;
  const Strategy strategy = StrategyOf(index);
  const auto expected = BatchOf(node.sim, strategy, loop().clock().Now());
  // Small differences may wait, from when the manager last saw that there were none: when it wrote,
  // when a report said so, or when it looked for another reason in between.
  const Duration late = conditions_.update_threshold + 2 * conditions_.report_interval + kLook;
  const auto& [cpu, memory] = node.published;
  if (!expected) {
    if (cpu || memory) Complain("{} lends although it must not", node.name);
    return;
  }
  if (!cpu || !memory) return Complain("{} lends nothing", node.name);
  if (*cpu == expected->cpu && *memory == expected->memory) {
    ++tally_.exact;
    node.exact = now();
  } else if (!IsNear(*cpu, expected->cpu) || !IsNear(*memory, expected->memory)) {
    Complain("{} lends {} and {}, the formula says {} and {}; {}", node.name, *cpu, *memory,
             expected->cpu, expected->memory, leader_->Knows(node.name));
  } else if (now() - std::max(node.exact, node.written) > late) {
    Complain("{} lends {} and {}, not {} and {}, for too long", node.name, *cpu, *memory,
             expected->cpu, expected->memory);
  }
  CheckServices(node, strategy, {*cpu, *memory});
}

// What services asked for, or at least use, is not lent to anybody else, but for the difference
// that is not worth a write.
void World::CheckServices(const NodeState& node, const Strategy& strategy, const Amount& lent) {
  const Taken taken = TakenBy(node.sim);
  const auto check = [&](std::string_view what, int64_t lends, int64_t capacity, int64_t theirs) {
    const double certain = static_cast<double>(lends) * (1 - kDiffThreshold);
    if (certain > static_cast<double>(std::max<int64_t>(capacity - theirs, 0))) {
      Complain("{} lends {} of {}, of which services have {}", node.name, lends, what, theirs);
    }
  };
  check("cpu", lent.cpu, node.sim.capacity.cpu,
        strategy.cpu_by_max ? taken.requested.cpu : taken.used.cpu);
  check("memory", lent.memory, node.sim.capacity.memory,
        strategy.memory != Strategy::Memory::kUsage ? taken.requested.memory : taken.used.memory);
}

// Nodes that have been silent for too long lend nothing.
void World::Sweep() {
  if (!IsWell(now() - kLook)) return;
  for (const NodeState& node : nodes_) {
    if (!node.sim.report || loop().clock().Now() <= node.sim.report->time + kDegradeTime + kLook) {
      continue;
    }
    ++tally_.withdrawn;
    if (node.published.cpu || node.published.memory) {
      Complain("{} lends although it has been silent for too long", node.name);
    }
  }
}

}  // namespace koord::localcluster::managed
