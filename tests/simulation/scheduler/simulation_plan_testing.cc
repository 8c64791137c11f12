#include "simulation/scheduler/simulation_plan_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/random.h"
#include "simulation/scheduler/simulation_topology_testing.h"

namespace koord::localcluster::simulation {
namespace {

using kube::Json;
using kube::json::array;

constexpr Duration kLength = 80s;
constexpr int kOperations = 130;
constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::array kZones = {"a", "b", "c"};
constexpr int kReserverApps = 3;
constexpr int kCards = 4;  // of each node with devices
constexpr std::array kDepts = {"dept-1", "dept-2"};
constexpr std::array kTeams = {"team-1", "team-2", "team-3", "team-4"};
constexpr std::string_view kQuotaLabel = "quota.scheduling.koordinator.sh/name";
constexpr std::string_view kQuotaPreemptible = "quota.scheduling.koordinator.sh/preemptible";
constexpr std::string_view kQuotaParent = "quota.scheduling.koordinator.sh/parent";
constexpr std::string_view kQuotaIsParent = "quota.scheduling.koordinator.sh/is-parent";
constexpr std::string_view kQuotaLends = "quota.scheduling.koordinator.sh/allow-lent-resource";

// Labels of the pods that are made for one purpose, and how many of them there may ever be where
// room for all of them depends on it.
struct Family {
  std::string name;
  int limit = 1000;
};

Json SelectorFor(std::string_view app) { return {{"matchLabels", {{"app", app}}}}; }

Json Anti(std::string_view app) {
  return {{"podAntiAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             array{{{"topologyKey", kHostname}, {"labelSelector", SelectorFor(app)}}}}}}};
}

Json Together(std::string_view app) {
  return {{"podAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             array{{{"topologyKey", kZone}, {"labelSelector", SelectorFor(app)}}}}}}};
}

Json Spread(std::string_view app, std::string_view key, std::string_view otherwise) {
  return array{{{"maxSkew", 1},
                {"topologyKey", key},
                {"whenUnsatisfiable", otherwise},
                {"labelSelector", SelectorFor(app)}}};
}

class Planner {
 public:
  Planner(uint64_t seed, PlanOptions options)
      : random_(seed * 7919 + 1), options_(options), reservations_expire_(random_.Chance(0.5)) {
    plan_.length = kLength;
  }

  Plan Make() {
    Setup();
    for (int i = 0; i < kOperations; ++i) {
      now_ = Duration(static_cast<int64_t>(random_.Below(kLength.count())));
      times_.push_back(now_);
    }
    std::ranges::sort(times_);
    for (const Duration at : times_) {
      now_ = at;
      Operate();
    }
    if (options_.devices) ReturnDevices();
    Jumps();
    Troubles();
    Rescue();
    MissedDeletions();
    FailingRequests();
    std::ranges::stable_sort(plan_.requests, {}, &Request::at);
    std::ranges::stable_sort(plan_.troubles, {}, &Trouble::at);
    return std::move(plan_);
  }

 private:
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(high - low + 1)));
  }
  template <class List>
  const auto& Any(const List& list) {
    return *std::next(list.begin(), static_cast<int64_t>(random_.Below(std::size(list))));
  }

  void Add(std::string method, std::string target, Json body = nullptr) {
    const bool patch = method == "PATCH";
    plan_.requests.push_back({now_, std::move(method), std::move(target), std::move(body),
                              patch ? "application/merge-patch+json" : "application/json"});
  }

  // ---- the beginning ----

  void Setup() {
    for (const auto& [name, value, policy] :
         {std::tuple{"high", 1000, "PreemptLowerPriority"}, std::tuple{"patient", 500, "Never"},
          std::tuple{"middle", 100, "PreemptLowerPriority"}}) {
      plan_.setup.push_back(
          {.method = "POST",
           .target = "/apis/scheduling.k8s.io/v1/priorityclasses",
           .body = {
               {"metadata", {{"name", name}}}, {"value", value}, {"preemptionPolicy", policy}}});
    }
    plan_.setup.push_back(
        {.method = "POST",
         .target = "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
         .body = {{"metadata", {{"name", "guard"}}},
                  {"spec", {{"minAvailable", 1}, {"selector", SelectorFor("guarded")}}}}});
    const int64_t nodes = Between(3, 6);
    for (int64_t i = 0; i < nodes; ++i) AddNode();
    if (options_.devices) {
      for (const std::string& name : nodes_) {
        if (random_.Chance(0.7)) AddDevices(name);
      }
    }
    if (options_.quotas) {
      for (const char* dept : kDepts) CreateQuota(dept, true);
      for (const char* team : kTeams) CreateQuota(team, false);
    }
    plan_.setup.insert(plan_.setup.end(), plan_.requests.begin(), plan_.requests.end());
    plan_.requests.clear();
  }

  // ---- nodes ----

  Json NodeObject(const std::string& name, std::string_view zone, std::string_view disk,
                  int64_t cpus) const {
    Json resources{{"cpu", std::to_string(cpus)},
                   {"memory", fmt::format("{}Gi", cpus * 2)},
                   {"pods", cpus > 16 ? "110" : "12"}};
    if (options_.devices) {
      for (const char* resource : {"koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"}) {
        kube::At(resources, {resource}) = std::to_string(kCards * 100);
      }
    }
    return {{"metadata",
             {{"name", name},
              {"labels",
               {{kHostname, name},
                {kZone, zone},
                {"disk", disk},
                {"big", cpus > 16 ? "true" : "false"}}}}},
            {"status",
             {{"capacity", resources},
              {"allocatable", resources},
              {"conditions", array{{{"type", "Ready"}, {"status", "True"}}}}}}};
  }

  void AddNode() {
    std::string name = fmt::format("n{}", next_node_++);
    // A machine that comes back has its old name.
    if (!removed_.empty() && random_.Chance(0.5)) {
      name = *removed_.begin();
      removed_.erase(removed_.begin());
    }
    nodes_.insert(name);
    Add("POST", "/api/v1/nodes",
        NodeObject(name, Any(kZones), random_.Chance(0.5) ? "ssd" : "hdd",
                   Between(2, kCpusOfMachine)));
    // Otherwise its koordlet is late.
    if (random_.Chance(0.7)) Add("POST", kTopologiesPath, TopologyOf(name, kCpusOfMachine));
  }

  // The koordlet of a node says what that is made of, or what its kubelet has given to pods; what
  // it has said may be deleted, and comes back.
  void ChangeTopology(const std::string& node) {
    const std::string path = fmt::format("{}/{}", kTopologiesPath, node);
    switch (random_.Below(4)) {
      case 0:
        return Add("DELETE", path);
      case 1:
        return Add("PATCH", path,
                   KubeletPins(random_.Chance(0.6) ? std::to_string(random_.Below(8)) : ""));
      default:
        return Add("POST", kTopologiesPath, TopologyOf(node, kCpusOfMachine));
    }
  }

  void ChangeNode() {
    const std::string name = Any(nodes_);
    const std::string path = "/api/v1/nodes/" + name;
    switch (random_.Below(11)) {
      case 8:
      case 9:
      case 10:
        return ChangeTopology(name);
      case 0:
        if (nodes_.size() < 3) return;
        nodes_.erase(name);
        removed_.insert(name);
        return Add("DELETE", path);
      case 1:
        return AddNode();
      case 2:
        return Add("PATCH", path,
                   {{"metadata", {{"labels", {{"disk", random_.Chance(0.5) ? "ssd" : "hdd"}}}}}});
      case 3:
        return Add("PATCH", path, {{"metadata", {{"labels", {{kZone, Any(kZones)}}}}}});
      case 4:
        return Add("PATCH", path, {{"spec", {{"unschedulable", random_.Chance(0.4)}}}});
      case 5: {
        array taints;
        if (random_.Chance(0.6)) {
          taints.push_back({{"key", "dedicated"},
                            {"value", "x"},
                            {"effect", random_.Chance(0.7) ? "NoSchedule" : "PreferNoSchedule"}});
        }
        return Add("PATCH", path, {{"spec", {{"taints", std::move(taints)}}}});
      }
      default:
        return Add("PATCH", path + "/status",
                   {{"status", {{"allocatable", {{"cpu", std::to_string(Between(2, 8))}}}}}});
    }
  }

  // ---- pods ----

  Json PodObject(const std::string& name, std::string_view app, int64_t milli_cpu) {
    return {
        {"metadata", {{"name", name}, {"labels", {{"app", app}}}}},
        {"spec",
         {{"terminationGracePeriodSeconds", 1},
          {"containers", array{{{"name", "c"},
                                {"image", "i"},
                                {"resources",
                                 {{"requests",
                                   {{"cpu", fmt::format("{}m", milli_cpu)},
                                    {"memory", fmt::format("{}Mi", Between(64, 2048))}}}}}}}}}}};
  }

  void CreatePod() {
    static const std::vector<Family> kFamilies = {
        {"plain"},    {"plain"},   {"plain"},   {"ssd"},    {"hdd"},          {"lonely", 5},
        {"group"},    {"zonal"},   {"even"},    {"high"},   {"high"},         {"middle"},
        {"gated"},    {"guarded"}, {"port", 5}, {"calm"},   {kImpossible, 2}, {"patient"},
        {"tolerant"}, {kPinned},   {kPinned},   {kOnCores}, {kAligned}};
    const Family& family = Any(kFamilies);
    if (++made_[family.name] > family.limit) return;
    const std::string& app = family.name;
    const std::string name = fmt::format("{}-{}", app, next_pod_++);
    Json pod = PodObject(name, app, Between(1, 15) * 100);
    Json& spec = kube::At(pod, {"spec"});
    if (app == "ssd" || app == "hdd") kube::At(spec, {"nodeSelector", "disk"}) = app;
    if (app == "lonely") kube::At(spec, {"affinity"}) = Anti(app);
    if (app == "group") kube::At(spec, {"affinity"}) = Together(app);
    if (app == "zonal") {
      kube::At(spec, {"topologySpreadConstraints"}) = Spread(app, kZone, "DoNotSchedule");
    }
    if (app == "even") {
      kube::At(spec, {"topologySpreadConstraints"}) = Spread(app, kHostname, "ScheduleAnyway");
    }
    if (app == "high" || app == "middle" || app == "patient") {
      kube::At(spec, {"priorityClassName"}) = app;
    }
    if (app == "gated") {
      kube::At(spec, {"schedulingGates"}) = array{{{"name", "example.com/wait"}}};
      gated_.push_back(name);
    }
    Json& container = kube::Find(spec, {"containers"})->get_array().front();
    if (app == "port") {
      kube::At(container, {"ports"}) = array{{{"containerPort", 80}, {"hostPort", 8080}}};
    }
    if (app == kImpossible) kube::At(container, {"resources", "requests", "cpu"}) = "500";
    if (app == "calm") {
      kube::At(pod, {"metadata", "labels", "koordinator.sh/qosClass"}) = "LS";
      kube::At(pod, {"metadata", "annotations",
                     "scheduling.koordinator.sh/load-estimated-scaling-factors"}) =
          R"({"cpu":100})";
    }
    MakeBound(pod, app, Between(1, 3));
    if (app == "tolerant") {
      kube::At(spec, {"tolerations"}) = array{{{"key", "dedicated"}, {"operator", "Exists"}}};
    }
    if (random_.Chance(0.25)) {
      kube::At(pod, {"metadata", "annotations", kLifetime}) = std::to_string(Between(3, 30));
    }
    if (options_.quotas) ChargeToSomeQuota(pod);
    pods_.insert(name);
    Add("POST", kPodsPath, std::move(pod));
  }

  // ---- devices ----

  void AddDevices(const std::string& node) {
    array devices;
    for (int minor = 0; minor < kCards; ++minor) {
      devices.push_back(
          {{"type", "gpu"},
           {"id", fmt::format("{}-{}", node, minor)},
           {"minor", minor},
           {"health", true},
           {"resources",
            {{"koordinator.sh/gpu-core", "100"},
             {"koordinator.sh/gpu-memory-ratio", "100"},
             {"koordinator.sh/gpu-memory", "16Gi"}}},
           {"topology",
            {{"socketID", 0}, {"nodeID", minor / 2}, {"pcieID", std::to_string(minor / 2)}}}});
    }
    Add("POST", kDevicesPath,
        {{"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
         {"kind", "Device"},
         {"metadata", {{"name", node}}},
         {"spec", {{"devices", std::move(devices)}}}});
  }

  // Objects come late, vanish and return, also of nodes that are gone.
  void ChangeDevices() {
    const std::string node = Any(nodes_);
    if (random_.Chance(0.4)) return Add("DELETE", fmt::format("{}/{}", kDevicesPath, node));
    AddDevices(node);
  }

  // While the object of a node is gone its devices count as broken, but to a scheduler that starts
  // then the node has none to keep book of: the two can be compared only with the object there.
  void ReturnDevices() {
    for (const std::string& node : nodes_) AddDevices(node);
  }

  void CreateCardPod() {
    static constexpr std::array kPercents{25, 50, 50, 100, 200};
    const std::string name = fmt::format("card-{}", next_pod_++);
    Json pod = PodObject(name, "card", Between(1, 5) * 100);
    Json& container = kube::Find(pod, {"spec", "containers"})->get_array().front();
    const std::string percent = std::to_string(Any(kPercents));
    for (const char* list : {"requests", "limits"}) {
      kube::At(container, {"resources", list, "koordinator.sh/gpu-core"}) = percent;
      kube::At(container, {"resources", list, "koordinator.sh/gpu-memory-ratio"}) = percent;
    }
    if (random_.Chance(0.2)) kube::At(pod, {"spec", "priorityClassName"}) = "middle";
    if (random_.Chance(0.4)) {
      kube::At(pod, {"metadata", "annotations", kLifetime}) = std::to_string(Between(3, 30));
    }
    pods_.insert(name);
    Add("POST", kPodsPath, std::move(pod));
  }

  // ---- quotas ----

  // Also one that is never there.
  std::string AnyTeam() { return random_.Chance(0.05) ? "nobody" : std::string(Any(kTeams)); }

  void ChargeToSomeQuota(Json& pod) {
    if (!random_.Chance(0.75)) return;
    Json& labels = kube::At(pod, {"metadata", "labels"});
    kube::At(labels, {kQuotaLabel}) = AnyTeam();
    if (random_.Chance(0.1)) kube::At(labels, {kQuotaPreemptible}) = "false";
  }

  Json QuotaSpec(bool is_dept) {
    const int64_t min = is_dept ? Between(0, 6) : Between(0, 3);
    const int64_t max = is_dept ? Between(6, 20) : Between(min, 9);
    return {{"min", {{"cpu", std::to_string(min)}, {"memory", fmt::format("{}Gi", min)}}},
            {"max", {{"cpu", std::to_string(max)}, {"memory", fmt::format("{}Gi", 2 * max)}}}};
  }

  std::string AnyParent() {
    if (random_.Chance(0.1)) return "nobody";
    return random_.Chance(0.4) ? "koordinator-root-quota" : std::string(Any(kDepts));
  }

  void CreateQuota(std::string_view name, bool is_dept) {
    Json labels{{kQuotaParent, is_dept ? "koordinator-root-quota" : AnyParent()}};
    if (is_dept) kube::At(labels, {kQuotaIsParent}) = "true";
    if (random_.Chance(0.2)) kube::At(labels, {kQuotaLends}) = "false";
    Add("POST", kQuotasPath,
        {{"apiVersion", "scheduling.sigs.k8s.io/v1alpha1"},
         {"kind", "ElasticQuota"},
         {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
         {"spec", QuotaSpec(is_dept)}});
  }

  void ChangeQuota() {
    const bool is_dept = random_.Chance(0.25);
    const std::string name = is_dept ? Any(kDepts) : Any(kTeams);
    const std::string path = fmt::format("{}/{}", kQuotasPath, name);
    switch (random_.Below(6)) {
      case 0:
      case 1:
        return Add("PATCH", path, {{"spec", QuotaSpec(is_dept)}});
      case 2:
        if (is_dept) return;
        return Add("PATCH", path, {{"metadata", {{"labels", {{kQuotaParent, AnyParent()}}}}}});
      case 3:
        Add("DELETE", path);
        if (random_.Chance(0.4)) CreateQuota(name, is_dept);
        return;
      default:
        return CreateQuota(name, is_dept);
    }
  }

  void MovePod() {
    if (pods_.empty()) return;
    Add("PATCH", fmt::format("{}/{}", kPodsPath, Any(pods_)),
        {{"metadata", {{"labels", {{kQuotaLabel, AnyTeam()}}}}}});
  }

  // Whatever has become of them: enough for all.
  void RescueQuotas() {
    const auto rescue = [&](std::string_view name) {
      CreateQuota(name, false);
      Add("PATCH", fmt::format("{}/{}", kQuotasPath, name),
          {{"metadata", {{"labels", {{kQuotaParent, "koordinator-root-quota"}}}}},
           {"spec",
            {{"min", {{"cpu", "100"}, {"memory", "100Gi"}}},
             {"max", {{"cpu", "100000"}, {"memory", "100000Gi"}}}}}});
    };
    for (const char* name : kTeams) rescue(name);
  }

  // ---- reservations ----

  static std::string ReserverApp(int64_t i) { return fmt::format("{}-{}", kReservers, i); }

  Json ReservationObject(const std::string& name, std::string_view app, int64_t milli_cpu,
                         bool once, std::string_view ttl) {
    return {{"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
            {"kind", "Reservation"},
            {"metadata", {{"name", name}}},
            {"spec",
             {{"template", PodObject("", app, milli_cpu)},
              {"owners", array{{{"labelSelector", SelectorFor(app)}}}},
              {"ttl", ttl},
              {"allocateOnce", once},
              {"allocatePolicy", random_.Chance(0.5) ? "Aligned" : "Restricted"}}}};
  }

  // Where clocks are set, what ends by the time of day would end at another time.
  void CreateReservation() {
    const std::string name = fmt::format("room-{}", next_reservation_++);
    const std::string ttl =
        reservations_expire_ && random_.Chance(0.6) ? fmt::format("{}s", Between(5, 60)) : "24h";
    reservations_.insert(name);
    reservations_made_.emplace(name, now_);
    Add("POST", kReservationsPath,
        ReservationObject(name, ReserverApp(Between(1, kReserverApps)), Between(3, 25) * 100,
                          random_.Chance(0.6), ttl));
  }

  void ChangeReservation() {
    if (reservations_.empty()) return;
    const std::string name = Any(reservations_);
    const std::string path = fmt::format("{}/{}", kReservationsPath, name);
    if (random_.Chance(0.3)) {
      return Add("PATCH", path, {{"spec", {{"unschedulable", random_.Chance(0.5)}}}});
    }
    if (!ReplaceReservation(name)) reservations_.erase(name);
  }

  // Deletes it. Whether another one of the same name is made at once.
  bool ReplaceReservation(const std::string& name) {
    Add("DELETE", fmt::format("{}/{}", kReservationsPath, name));
    if (!random_.Chance(0.3)) return false;
    Add("POST", kReservationsPath,
        ReservationObject(name, ReserverApp(Between(1, kReserverApps)), Between(3, 15) * 100,
                          random_.Chance(0.5), "24h"));
    return true;
  }

  // A pod that may use a reservation, or must.
  void CreateOwner() {
    const std::string app = ReserverApp(Between(1, kReserverApps));
    const std::string name = fmt::format("{}-{}", app, next_pod_++);
    Json pod = PodObject(name, app, Between(1, 20) * 100);
    if (random_.Chance(0.3)) {
      kube::At(pod, {"metadata", "annotations", "scheduling.koordinator.sh/reservation-affinity"}) =
          "{}";
    }
    if (random_.Chance(0.2)) kube::At(pod, {"spec", "priorityClassName"}) = "middle";
    if (random_.Chance(0.3)) {
      kube::At(pod, {"metadata", "annotations", kLifetime}) = std::to_string(Between(3, 30));
    }
    pods_.insert(name);
    Add("POST", kPodsPath, std::move(pod));
  }

  void DeletePod() {
    if (pods_.empty()) return;
    const std::string name = Any(pods_);
    pods_.erase(name);
    Add("DELETE", fmt::format("{}/{}", kPodsPath, name));
    if (!random_.Chance(0.3)) return;
    // A pod of the same name, at once.
    pods_.insert(name);
    plan_.reused.insert(name);
    std::erase(gated_, name);
    Add("POST", kPodsPath, PodObject(name, "plain", Between(1, 10) * 100));
  }

  void ChangePod() {
    if (!gated_.empty() && random_.Chance(0.7)) {
      const std::string name = gated_.front();
      gated_.erase(gated_.begin());
      return Add("PATCH", fmt::format("{}/{}", kPodsPath, name),
                 {{"spec", {{"schedulingGates", nullptr}}}});
    }
    if (pods_.empty()) return;
    Add("PATCH", fmt::format("{}/{}", kPodsPath, Any(pods_)),
        {{"metadata", {{"labels", {{"touched", std::to_string(now_.count())}}}}}});
  }

  void Operate() {
    if (options_.devices && random_.Chance(0.4)) {
      return random_.Chance(0.25) ? ChangeDevices() : CreateCardPod();
    }
    if (options_.quotas && random_.Chance(0.2)) {
      return random_.Chance(0.7) ? ChangeQuota() : MovePod();
    }
    const uint64_t what = random_.Below(100);
    if (what < 30) return CreatePod();
    if (what < 38) return CreateReservation();
    if (what < 49) return CreateOwner();
    if (what < 52) return ChangeReservation();
    if (what < 66) return DeletePod();
    if (what < 74) return ChangePod();
    if (what < 90) return ChangeNode();
    if (what < 97) {
      plan_.loads.push_back({now_, Any(nodes_), Between(5, 95)});
      return;
    }
    Add("PATCH", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/guard/status",
        {{"status", {{"disruptionsAllowed", Between(0, 2)}}}});
  }

  // ---- what goes wrong ----

  void Jumps() {
    if (reservations_expire_) return;
    for (int64_t i = Between(0, 3); i > 0; --i) {
      plan_.jumps.push_back({RandomTime(), random_.Chance(0.5) ? Duration(1h) : Duration(-1h)});
    }
    std::ranges::sort(plan_.jumps, {}, &ClockJump::at);
  }

  void Troubles() {
    for (int64_t i = Between(2, 7); i > 0; --i) {
      const auto kind = static_cast<Trouble::Kind>(random_.Below(3));
      plan_.troubles.push_back({.at = RandomTime(),
                                .kind = kind,
                                .instance = random_.Below(2),
                                .lasts = Duration(1s) * Between(1, 20)});
    }
  }

  // Both schedulers lose their watches while reservations and pods go, some of which come back as
  // others.
  void MissedDeletions() {
    for (int64_t i = Between(0, 2); i > 0; --i) {
      now_ = RandomTime();
      for (size_t instance = 0; instance < 2; ++instance) {
        plan_.troubles.push_back({.at = now_,
                                  .kind = Trouble::Kind::kForgottenVersions,
                                  .instance = instance,
                                  .lasts = Duration(1s) * Between(2, 6)});
      }
      now_ += 500ms;
      for (const auto& [name, made] : reservations_made_) {
        if (made < now_ && random_.Chance(0.4)) ReplaceReservation(name);
      }
      for (const std::string& name : pods_) {
        if (random_.Chance(0.1)) Add("DELETE", fmt::format("{}/{}", kPodsPath, name));
      }
    }
  }

  void FailingRequests() {
    for (int64_t i = Between(0, 2); i > 0; --i) {
      plan_.troubles.push_back({.at = RandomTime(),
                                .kind = Trouble::Kind::kFailingRequests,
                                .instance = random_.Below(2),
                                .lasts = Duration(1s) * Between(5, 20)});
    }
  }

  Duration RandomTime() { return Duration(static_cast<int64_t>(random_.Below(kLength.count()))); }

  // Two large empty machines of each kind in every zone, and a reservation for whoever must use
  // one; whoever still has a gate is let go.
  void Rescue() {
    const size_t before = plan_.requests.size();
    for (const std::string& name : gated_) {
      Add("PATCH", fmt::format("{}/{}", kPodsPath, name),
          {{"spec", {{"schedulingGates", nullptr}}}});
    }
    for (const char* zone : kZones) {
      for (const char* disk : {"ssd", "hdd"}) {
        for (int i = 0; i < 2; ++i) {
          const std::string name = fmt::format("big-{}-{}-{}", zone, disk, i);
          Add("POST", "/api/v1/nodes", NodeObject(name, zone, disk, kCpusOfLargeMachine));
          Add("POST", kTopologiesPath, TopologyOf(name, kCpusOfLargeMachine));
          if (options_.devices) AddDevices(name);
        }
      }
    }
    for (int64_t i = 1; i <= kReserverApps; ++i) {
      Json object =
          ReservationObject(fmt::format("rescue-{}", i), ReserverApp(i), 100, false, "0s");
      kube::At(object, {"spec", "allocatePolicy"}) = "Aligned";
      kube::At(object, {"spec", "template", "spec", "nodeSelector", "big"}) = "true";
      Add("POST", kReservationsPath, std::move(object));
    }
    if (options_.quotas) RescueQuotas();
    const auto begin = plan_.requests.begin() + static_cast<int64_t>(before);
    plan_.rescue.assign(begin, plan_.requests.end());
    plan_.requests.erase(begin, plan_.requests.end());
  }

  Random random_;
  const PlanOptions options_;
  Plan plan_;
  Duration now_{};
  std::vector<Duration> times_;
  const bool reservations_expire_;
  std::set<std::string> nodes_, removed_, pods_, reservations_;
  std::map<std::string, Duration> reservations_made_;
  std::vector<std::string> gated_;
  std::map<std::string, int> made_;
  int next_node_ = 0;
  int next_pod_ = 0;
  int next_reservation_ = 0;
};

}  // namespace

Plan MakePlan(uint64_t seed, PlanOptions options) { return Planner(seed, options).Make(); }

}  // namespace koord::localcluster::simulation
