// The rule about how much nodes really use.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kube/time.h"
#include "scheduler/reference/rule.h"

namespace koord::scheduler::reference {
namespace {

using Numbers = std::map<std::string, int64_t, std::less<>>;

int64_t ValueOf(const kube::ResourceList& list, const std::string& resource) {
  const kube::Quantity amount = kube::AmountOf(list, resource);
  return resource == "cpu" ? amount.MilliValue() : amount.Value();
}

// The JSON under an annotation; null if there is none that can be read.
kube::Json AnnotationOf(const kube::ObjectMeta& meta, std::string_view key) {
  const std::string* text = kube::FindValue(meta.annotations, key);
  if (text == nullptr) return nullptr;
  const auto json = kube::ParseJson(*text);
  return json.ok() && json->is_object() ? *json : kube::Json(nullptr);
}

Numbers NumbersIn(const kube::Json& json, std::string_view member) {
  Numbers numbers;
  if (const auto* object = kube::FindObject(json, {member})) {
    for (const auto& [name, value] : *object)
      numbers[std::string(name)] = value.to_number<int64_t>();
  }
  return numbers;
}

bool HasNonZero(const Numbers& numbers) {
  return std::ranges::any_of(numbers, [](const auto& entry) { return entry.second != 0; });
}

// Which usage counts: an average, or a percentile over some time (0: the longest).
struct Kind {
  bool percentile = false;
  std::string type;
  Duration duration{};
};

struct Limits {
  Numbers thresholds;
  bool of_prod = false;
  Kind kind;
};

class LoadAwareScheduling final : public Rule {
 public:
  explicit LoadAwareScheduling(LoadAwareSchedulingArgs args) : args_(std::move(args)) {
    for (const char* always : {"cpu", "memory"}) tracked_.insert(always);
    for (const Numbers* numbers :
         {&args_.resource_weights, &args_.usage_thresholds, &args_.prod_usage_thresholds,
          &args_.estimated_scaling_factors}) {
      for (const auto& [name, number] : *numbers) tracked_.insert(name);
    }
    if (args_.aggregated) {
      for (const auto& [name, number] : args_.aggregated->usage_thresholds) tracked_.insert(name);
    }
    tracked_.insert(args_.supported_resources.begin(), args_.supported_resources.end());
  }

  Verdict FilterNode(const View& view, const PlainPod& pod, const PlainNode& node) const override {
    for (const kube::OwnerReference& owner : pod.meta().owner_references) {
      if (owner.kind == "DaemonSet") return {};
    }
    const Limits limits = LimitsOf(node, pod);
    if (!HasNonZero(limits.thresholds)) return {};
    const api::NodeMetric* metric = view.cluster.objects.node_metrics.Find(node.name());
    if (metric == nullptr) return {};
    if (args_.filter_expired_node_metrics && IsExpired(*metric, view.cluster.now)) {
      if (args_.enable_schedule_when_node_metrics_expired) return {};
      return Verdict::Unschedulable("node(s) nodeMetric expired");
    }
    if (!metric->status.node_metric) return {};
    const Amounts load = LoadWith(view, *metric, node, pod, limits.of_prod, limits.kind);
    for (const std::string& resource : tracked_) {
      const auto threshold = limits.thresholds.find(resource);
      const int64_t capacity = CapacityOf(node, resource);
      if (threshold == limits.thresholds.end() || threshold->second <= 0 || capacity <= 0) continue;
      const double share =
          static_cast<double>(load.at(resource)) / static_cast<double>(capacity) * 100;
      if (static_cast<int64_t>(std::round(share)) <= threshold->second) continue;
      return Verdict::Unschedulable(fmt::format("node(s) {} {}usage exceed threshold", resource,
                                                limits.kind.percentile ? "aggregated " : ""));
    }
    return {};
  }

  ScoreAnswer Score(const View& view, const PlainPod& pod, const Nodes& nodes) const override {
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) scores.push_back(ScoreNode(view, pod, *node));
    return {{}, scores};
  }

 private:
  bool IsExpired(const api::NodeMetric& metric, WallTime now) const {
    return !metric.status.update_time ||
           now - *metric.status.update_time >=
               std::chrono::seconds(args_.node_metric_expiration_seconds);
  }

  // What the arguments say, or the node for itself.
  Limits LimitsOf(const PlainNode& node, const PlainPod& pod) const {
    Numbers usage = args_.usage_thresholds;
    Numbers prod = args_.prod_usage_thresholds;
    std::optional<Limits> aggregated;
    if (args_.aggregated && !args_.aggregated->usage_thresholds.empty() &&
        !args_.aggregated->usage_aggregation_type.empty()) {
      aggregated = Limits{args_.aggregated->usage_thresholds,
                          false,
                          {true, args_.aggregated->usage_aggregation_type,
                           args_.aggregated->usage_aggregated_duration}};
    }
    const kube::Json own =
        AnnotationOf(node.node->metadata, "scheduling.koordinator.sh/usage-thresholds");
    if (const Numbers numbers = NumbersIn(own, "usageThresholds"); !numbers.empty()) {
      usage = numbers;
    }
    if (const Numbers numbers = NumbersIn(own, "prodUsageThresholds"); !numbers.empty()) {
      prod = numbers;
    }
    if (const kube::Json* more = kube::Find(own, {"aggregatedUsage"})) {
      const Numbers numbers = NumbersIn(*more, "usageThresholds");
      const auto type = kube::FindString(*more, {"usageAggregationType"});
      if (!numbers.empty() && !type.empty()) {
        Duration duration{};
        if (const auto text = kube::FindString(*more, {"usageAggregatedDuration"}); !text.empty()) {
          (void)kube::Codec<Duration>::Read(*kube::Find(*more, {"usageAggregatedDuration"}),
                                            duration);
        }
        aggregated = Limits{numbers, false, {true, std::string(type), duration}};
      }
    }
    if (IsProd(pod) && HasNonZero(prod)) return {prod, true, {}};
    if (aggregated) return *aggregated;
    return {usage, false, {}};
  }

  static bool IsProd(const PlainPod& pod) { return pod.band == api::PriorityBand::kProd; }

  static int64_t CapacityOf(const PlainNode& node, const std::string& resource) {
    const kube::Json raw = AnnotationOf(node.node->metadata, "node.koordinator.sh/raw-allocatable");
    if (const auto text = kube::FindString(raw, {resource}); !text.empty()) {
      const kube::Quantity amount = *kube::Quantity::Parse(text);
      return resource == "cpu" ? amount.MilliValue() : amount.Value();
    }
    return ValueOf(node.node->status.allocatable, resource);
  }

  // ---- What a pod will use

  Amounts Estimate(const PlainPod& pod) const {
    Numbers factors = args_.estimated_scaling_factors;
    if (args_.allow_customize_estimation) {
      const kube::Json own =
          AnnotationOf(pod.meta(), "scheduling.koordinator.sh/load-estimated-scaling-factors");
      if (own.is_object()) {
        for (const auto& [name, value] : own.as_object()) {
          factors[std::string(name)] = value.to_number<int64_t>();
        }
      }
    }
    std::string prefix;
    switch (pod.band) {
      case api::PriorityBand::kProd:
      case api::PriorityBand::kNone:
        break;
      case api::PriorityBand::kBatch:
        prefix = "kubernetes.io/batch-";
        break;
      case api::PriorityBand::kMid:
        prefix = "kubernetes.io/mid-";
        break;
      case api::PriorityBand::kFree:
        return {};
    }
    Amounts estimate;
    for (const auto& [resource, factor] : factors) {
      const std::string name = prefix + resource;
      const int64_t limit = AmountOf(pod.limits, name);
      const int64_t most = std::max(AmountOf(pod.spec_requests, name), limit);
      int64_t& value = estimate[resource];
      if (most == 0) {
        if (name == "cpu" || name == "kubernetes.io/batch-cpu") value = 250;
        if (name == "memory" || name == "kubernetes.io/batch-memory") value = 209715200;
        continue;
      }
      value = static_cast<int64_t>(
          std::round(static_cast<double>(most) * static_cast<double>(factor) / 100));
      if (limit > 0) value = std::min(value, limit);
    }
    return estimate;
  }

  static WallTime TimestampOf(const PlainPod& pod) {
    const auto* scheduled = FindCondition(pod.pod->status.conditions, "PodScheduled");
    if (scheduled != nullptr && scheduled->status == "True" && scheduled->last_transition_time) {
      return *scheduled->last_transition_time;
    }
    return pod.seen_at;
  }

  int64_t SecondsAfter(const PlainPod& pod, std::string_view what,
                       const std::optional<int64_t>& otherwise) const {
    if (args_.allow_customize_estimation) {
      const std::string* text =
          kube::FindValue(pod.meta().annotations,
                          fmt::format("scheduling.koordinator.sh/load-estimated-seconds-{}", what));
      if (text != nullptr && !text->empty() &&
          text->find_first_not_of("0123456789") == std::string::npos) {
        return std::stoll(*text);
      }
    }
    return otherwise.value_or(0);
  }

  // Until when its usage is not to be believed.
  WallTime DeadlineOf(const PlainPod& pod) const {
    const int64_t after_initialized =
        SecondsAfter(pod, "after-initialized", args_.estimated_seconds_after_initialized);
    const auto* initialized = FindCondition(pod.pod->status.conditions, "Initialized");
    if (after_initialized > 0 && initialized != nullptr && initialized->status == "True" &&
        initialized->last_transition_time) {
      return *initialized->last_transition_time + std::chrono::seconds(after_initialized);
    }
    const int64_t after_scheduled =
        SecondsAfter(pod, "after-pod-scheduled", args_.estimated_seconds_after_pod_scheduled);
    if (after_scheduled > 0) return TimestampOf(pod) + std::chrono::seconds(after_scheduled);
    return WallTime::min();
  }

  // ---- What a node uses

  static const api::PodUsage* UsageOf(const api::NodeMetric& metric, const PlainPod& pod) {
    for (const api::PodUsage& usage : metric.status.pods_metric) {
      if (usage.name == pod.meta().name && usage.ns == pod.meta().ns &&
          !usage.pod_usage.resources.empty()) {
        return &usage;
      }
    }
    return nullptr;
  }

  struct Load {
    Amounts node_delta, node_estimated, prod_usage, prod_delta;
  };

  Load LoadOf(const View& view, const api::NodeMetric& metric, const PlainNode& node) const {
    std::optional<WallTime> updated = metric.status.update_time;
    if (const auto last = view.cluster.metric_updates.find(node.name());
        !updated && last != view.cluster.metric_updates.end()) {
      updated = last->second;
    }
    const auto& policy = metric.spec.metric_collect_policy;
    const std::chrono::seconds interval(policy ? policy->report_interval_seconds.value_or(60) : 60);
    Load load;
    for (const std::string& resource : tracked_) {
      if (args_.prod_usage_include_sys && metric.status.node_metric) {
        load.prod_usage[resource] =
            ValueOf(metric.status.node_metric->system_usage.resources, resource);
      }
    }
    // The cluster as it is: nobody who is evicted uses less at once.
    for (const auto& [uid, pod] : view.cluster.pods) {
      if (pod.spec().node_name != node.name() || pod.is_reservation) continue;
      const Amounts estimate = Estimate(pod);
      const api::PodUsage* usage = UsageOf(metric, pod);
      const bool reported_as_prod = usage != nullptr && usage->priority == "koord-prod";
      const bool young =
          !updated || TimestampOf(pod) > *updated - interval || DeadlineOf(pod) > *updated;
      for (const std::string& resource : tracked_) {
        const int64_t used = usage == nullptr ? 0 : ValueOf(usage->pod_usage.resources, resource);
        const int64_t estimated = AmountOf(estimate, resource);
        load.node_estimated[resource] += estimated;
        if (usage == nullptr || young) {
          load.node_delta[resource] += std::max<int64_t>(0, estimated - used);
        }
        if (!IsProd(pod)) continue;
        if (reported_as_prod) load.prod_usage[resource] += used;
        if (usage == nullptr || young || !reported_as_prod) {
          load.prod_delta[resource] +=
              std::max<int64_t>(0, estimated - (reported_as_prod ? used : 0));
        }
      }
    }
    return load;
  }

  // Null: not reported.
  static const kube::ResourceList* UsageOfKind(const api::NodeUsage& usage, const Kind& kind) {
    if (!kind.percentile) return &usage.node_usage.resources;
    const api::AggregatedUsage* found = nullptr;
    for (const api::AggregatedUsage& each : usage.aggregated_node_usages) {
      const auto of_type = each.usage.find(kind.type);
      if (of_type == each.usage.end() || of_type->second.resources.empty()) continue;
      if (kind.duration != Duration{}) {
        if (each.duration == kind.duration) return &of_type->second.resources;
      } else if (found == nullptr || each.duration > found->duration) {
        found = &each;
      }
    }
    if (kind.duration != Duration{}) return nullptr;
    if (found == nullptr) return &usage.node_usage.resources;
    return &found->usage.find(kind.type)->second.resources;
  }

  Amounts LoadWith(const View& view, const api::NodeMetric& metric, const PlainNode& node,
                   const PlainPod& pod, bool of_prod, const Kind& kind) const {
    const Load load = LoadOf(view, metric, node);
    const Amounts estimate = Estimate(pod);
    const kube::ResourceList* usage = UsageOfKind(*metric.status.node_metric, kind);
    Amounts sum;
    for (const std::string& resource : tracked_) {
      int64_t existing = 0;
      if (of_prod) {
        existing = AmountOf(load.prod_usage, resource) + AmountOf(load.prod_delta, resource);
      } else if (usage == nullptr) {
        existing = AmountOf(load.node_estimated, resource);
      } else {
        existing = ValueOf(*usage, resource) + AmountOf(load.node_delta, resource);
      }
      sum[resource] = existing + AmountOf(estimate, resource);
    }
    return sum;
  }

  int64_t ScoreNode(const View& view, const PlainPod& pod, const PlainNode& node) const {
    if (args_.resource_weights.empty() && args_.dominant_resource_weight == 0) return 0;
    const api::NodeMetric* metric = view.cluster.objects.node_metrics.Find(node.name());
    if (metric == nullptr || IsExpired(*metric, view.cluster.now) || !metric->status.node_metric) {
      return 0;
    }
    const bool of_prod = args_.score_according_prod_usage && IsProd(pod);
    Kind kind;
    if (args_.aggregated && !args_.aggregated->score_aggregation_type.empty()) {
      kind = {true, args_.aggregated->score_aggregation_type,
              args_.aggregated->score_aggregated_duration};
    }
    const Amounts load = LoadWith(view, *metric, node, pod, of_prod, kind);
    int64_t dominant = 100;
    int64_t sum = 0;
    int64_t weights = 0;
    for (const std::string& resource : tracked_) {
      const int64_t capacity = CapacityOf(node, resource);
      const int64_t used = load.at(resource);
      const int64_t score =
          capacity == 0 || used > capacity ? 0 : (capacity - used) * 100 / capacity;
      dominant = std::min(dominant, score);
      const auto weight = args_.resource_weights.find(resource);
      if (weight == args_.resource_weights.end()) continue;
      sum += score * weight->second;
      weights += weight->second;
    }
    sum += dominant * args_.dominant_resource_weight;
    weights += args_.dominant_resource_weight;
    return weights == 0 ? 0 : sum / weights;
  }

  const LoadAwareSchedulingArgs args_;
  std::set<std::string> tracked_;  // ascending
};

class SchedulingHint final : public Rule {
 public:
  explicit SchedulingHint(SchedulingHintArgs args) : args_(args) {}

  PreFilterAnswer PreFilter(const View&, const PlainPod& pod) const override {
    const std::string* text = TextOf(pod);
    if (text == nullptr) return {Verdict::Skip()};
    const auto hint = kube::ParseJson(*text);
    if (!hint.ok()) return {Verdict::Error("unreadable")};
    const std::vector<std::string> names = NamesIn(*hint, "nodeNames");
    if (names.empty()) return {};
    return {{}, names};
  }

  std::vector<std::string> PreferNodes(const View&, const PlainPod& pod) const override {
    const std::string* text = TextOf(pod);
    if (text == nullptr) return {};
    std::vector<std::string> names = NamesIn(*kube::ParseJson(*text), "preferredNodeNames");
    if (names.size() > static_cast<size_t>(args_.max_hint_nodes)) {
      names.resize(static_cast<size_t>(args_.max_hint_nodes));
    }
    return names;
  }

 private:
  static const std::string* TextOf(const PlainPod& pod) {
    for (const char* key : {"internal.scheduling.koordinator.sh/scheduling-hint",
                            "scheduling.koordinator.sh/scheduling-hint"}) {
      const std::string* text = kube::FindValue(pod.meta().annotations, key);
      if (text != nullptr && !text->empty()) return text;
    }
    return nullptr;
  }

  static std::vector<std::string> NamesIn(const kube::Json& hint, std::string_view member) {
    std::vector<std::string> names;
    if (const auto* list = kube::FindArray(hint, {member})) {
      for (const kube::Json& name : *list) names.emplace_back(name.as_string());
    }
    return names;
  }

  const SchedulingHintArgs args_;
};

}  // namespace

std::unique_ptr<Rule> LoadAwareSchedulingRule(LoadAwareSchedulingArgs args) {
  return std::make_unique<LoadAwareScheduling>(std::move(args));
}
std::unique_ptr<Rule> SchedulingHintRule(SchedulingHintArgs args) {
  return std::make_unique<SchedulingHint>(args);
}

}  // namespace koord::scheduler::reference
