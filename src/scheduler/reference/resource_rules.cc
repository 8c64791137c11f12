// Rules about how full nodes are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scheduler/reference/charged.h"
#include "scheduler/reference/rule.h"

namespace koord::scheduler::reference {
namespace {

// The sum of what the pods of a node take of something; where they draw from a reservation there,
// the larger of what is reserved and what they take. `is_reserved` says whether a reservation
// reserves it at all.
template <class AmountOfPod, class IsReserved>
int64_t Charged(const View& view, const PlainNode& node, AmountOfPod amount,
                IsReserved is_reserved) {
  const auto& pods = view.PodsOn(node);
  int64_t sum = 0;
  for (const PlainPod* pod : pods) {
    const bool is_owner = std::ranges::any_of(pods, [&](const PlainPod* other) {
      return other->is_reservation && !pod->is_reservation && other->meta().uid == pod->draws_from;
    });
    if (is_owner) continue;  // counted with its reservation
    int64_t used = 0;
    for (const PlainPod* other : pods) {
      const bool draws =
          pod->is_reservation && !other->is_reservation && other->draws_from == pod->meta().uid;
      if (draws) used += amount(*other);
    }
    sum += is_reserved(*pod) ? std::max(amount(*pod), used) : amount(*pod) + used;
  }
  return sum;
}

int64_t NonZero(const PlainPod& pod, std::string_view resource) {
  if (resource == "cpu") return pod.non_zero_cpu;
  if (resource == "memory") return pod.non_zero_memory;
  return AmountOf(pod.requests, resource);
}

int64_t NonZeroRequested(const View& view, const PlainNode& node, std::string_view resource) {
  return Charged(
      view, node, [&](const PlainPod& pod) { return NonZero(pod, resource); },
      [&](const PlainPod& pod) { return AmountOf(pod.requests, resource) > 0; });
}

}  // namespace

int64_t Requested(const View& view, const PlainNode& node, std::string_view resource) {
  const auto amount = [&](const PlainPod& pod) { return AmountOf(pod.requests, resource); };
  return Charged(view, node, amount, [&](const PlainPod& pod) { return amount(pod) > 0; });
}

int64_t PodCount(const View& view, const PlainNode& node) {
  return Charged(
      view, node, [](const PlainPod&) { return int64_t{1}; }, [](const PlainPod&) { return true; });
}

namespace {

int64_t LeastAllocatedScore(int64_t used, int64_t allocatable) {
  return used > allocatable ? 0 : (allocatable - used) * 100 / allocatable;
}
int64_t MostAllocatedScore(int64_t used, int64_t allocatable) {
  return std::min(used, allocatable) * 100 / allocatable;
}

class NodeResourcesFit final : public Rule {
 public:
  explicit NodeResourcesFit(NodeResourcesFitArgs args) : args_(std::move(args)) {}

  Verdict FilterNode(const View& view, const PlainPod& pod, const PlainNode& node) const override {
    Verdict verdict;
    bool hopeless = false;
    if (PodCount(view, node) + 1 > node.allocatable_pods) {
      verdict.reasons.emplace_back("Too many pods");
    }
    const auto check = [&](const std::string& resource) {
      const int64_t request = AmountOf(pod.requests, resource);
      if (request <= 0) return;
      const int64_t allocatable = AmountOf(node.allocatable, resource);
      if (request <= allocatable - Requested(view, node, resource)) return;
      verdict.reasons.push_back(fmt::format("Insufficient {}", resource));
      hopeless = hopeless || request > allocatable;
    };
    check("cpu");
    check("memory");
    check("ephemeral-storage");
    for (const auto& [resource, amount] : pod.requests) {
      if (IsScalar(resource) && !IsIgnored(resource)) check(resource);
    }
    if (verdict.reasons.empty()) return {};
    verdict.code = hopeless ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable;
    return verdict;
  }

  ScoreAnswer Score(const View& view, const PlainPod& pod, const Nodes& nodes) const override {
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) scores.push_back(ScoreNode(view, pod, *node));
    return {{}, scores};
  }

 private:
  bool IsIgnored(const std::string& resource) const {
    const size_t slash = resource.find('/');
    if (slash == std::string::npos) return false;
    const std::string group = resource.substr(0, slash);
    if (group == "kubernetes.io" || group.ends_with(".kubernetes.io")) return false;
    return std::ranges::count(args_.ignored_resources, resource) > 0 ||
           std::ranges::count(args_.ignored_resource_groups, group) > 0;
  }

  int64_t ShapeAt(int64_t utilization) const {
    const auto& shape = args_.scoring_strategy->requested_to_capacity_ratio->shape;
    if (utilization <= shape.front().utilization) return shape.front().score * 10;
    for (size_t i = 1; i < shape.size(); ++i) {
      if (utilization > shape[i].utilization) continue;
      const int64_t x0 = shape[i - 1].utilization;
      const int64_t x1 = shape[i].utilization;
      const int64_t y0 = shape[i - 1].score * 10;
      const int64_t y1 = shape[i].score * 10;
      return y0 + (y1 - y0) * (utilization - x0) / (x1 - x0);
    }
    return shape.back().score * 10;
  }

  int64_t ScoreNode(const View& view, const PlainPod& pod, const PlainNode& node) const {
    const ScoringStrategy& strategy = *args_.scoring_strategy;
    int64_t sum = 0;
    int64_t weights = 0;
    for (const ResourceWeight& each : strategy.resources) {
      const int64_t allocatable = AmountOf(node.allocatable, each.name);
      const int64_t request = NonZero(pod, each.name);
      if (allocatable == 0 || (IsScalar(each.name) && request == 0)) continue;
      const int64_t used = NonZeroRequested(view, node, each.name) + request;
      int64_t score = 0;
      if (strategy.type == "LeastAllocated") {
        score = LeastAllocatedScore(used, allocatable);
      } else if (strategy.type == "MostAllocated") {
        score = MostAllocatedScore(used, allocatable);
      } else {
        score = ShapeAt(used > allocatable ? 100 : used * 100 / allocatable);
        if (score == 0) continue;
      }
      sum += score * each.weight;
      weights += each.weight;
    }
    if (weights == 0) return 0;
    if (strategy.type == "RequestedToCapacityRatio") {
      return static_cast<int64_t>(
          std::round(static_cast<double>(sum) / static_cast<double>(weights)));
    }
    return sum / weights;
  }

  const NodeResourcesFitArgs args_;
};

class NodeResourcesBalancedAllocation final : public Rule {
 public:
  explicit NodeResourcesBalancedAllocation(NodeResourcesBalancedAllocationArgs args)
      : args_(std::move(args)) {}

  ScoreAnswer Score(const View& view, const PlainPod& pod, const Nodes& nodes) const override {
    const bool asks = std::ranges::any_of(args_.resources, [&](const ResourceWeight& each) {
      return AmountOf(pod.requests, each.name) > 0;
    });
    if (!asks) return {Verdict::Skip()};
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) scores.push_back(ScoreNode(view, pod, *node));
    return {{}, scores};
  }

 private:
  int64_t ScoreNode(const View& view, const PlainPod& pod, const PlainNode& node) const {
    std::vector<double> fractions;
    for (const ResourceWeight& each : args_.resources) {
      const int64_t allocatable = AmountOf(node.allocatable, each.name);
      const int64_t request = AmountOf(pod.requests, each.name);
      if (allocatable == 0 || (IsScalar(each.name) && request == 0)) continue;
      const double used = static_cast<double>(Requested(view, node, each.name) + request);
      fractions.push_back(std::min(1.0, used / static_cast<double>(allocatable)));
    }
    return static_cast<int64_t>(std::floor((1 - Deviation(fractions)) * 100));
  }

  static double Deviation(const std::vector<double>& fractions) {
    if (fractions.size() < 2) return 0;
    if (fractions.size() == 2) return std::abs((fractions[0] - fractions[1]) / 2);
    const auto n = static_cast<double>(fractions.size());
    double mean = 0;
    for (const double each : fractions) mean += each;
    mean /= n;
    double sum = 0;
    for (const double each : fractions) sum += (each - mean) * (each - mean);
    return std::sqrt(sum / n);
  }

  const NodeResourcesBalancedAllocationArgs args_;
};

class NodeResourcesFitPlus final : public Rule {
 public:
  explicit NodeResourcesFitPlus(NodeResourcesFitPlusArgs args) : args_(std::move(args)) {}

  ScoreAnswer Score(const View& view, const PlainPod& pod, const Nodes& nodes) const override {
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) scores.push_back(ScoreNode(view, pod, *node));
    return {{}, scores};
  }

 private:
  static int64_t OfContainer(const kube::Container& container, const std::string& resource) {
    const auto found = container.resources.requests.find(resource);
    if (found != container.resources.requests.end()) {
      return resource == "cpu" ? found->second.MilliValue() : found->second.Value();
    }
    return resource == "cpu" ? 100 : resource == "memory" ? 209715200 : 0;
  }

  static int64_t OfPod(const PlainPod& pod, const std::string& resource) {
    int64_t amount = 0;
    for (const kube::Container& each : pod.spec().containers) amount += OfContainer(each, resource);
    for (const kube::Container& each : pod.spec().init_containers) {
      const int64_t init = OfContainer(each, resource);
      amount = each.restart_policy == "Always" ? amount + init : std::max(amount, init);
    }
    return amount;
  }

  int64_t ScoreNode(const View& view, const PlainPod& pod, const PlainNode& node) const {
    int64_t sum = 0;
    int64_t weights = 0;
    for (const auto& [resource, strategy] : args_.resources) {
      if (AmountOf(pod.requests, resource) <= 0) continue;
      const int64_t allocatable = AmountOf(node.allocatable, resource);
      const int64_t used = NonZeroRequested(view, node, resource) + OfPod(pod, resource);
      int64_t score = 0;
      if (allocatable != 0 && strategy.type == "LeastAllocated") {
        score = LeastAllocatedScore(used, allocatable);
      } else if (allocatable != 0 && strategy.type == "MostAllocated") {
        score = MostAllocatedScore(used, allocatable);
      }
      sum += score * strategy.weight;
      weights += strategy.weight;
    }
    return weights == 0 ? 100 : sum / weights;
  }

  const NodeResourcesFitPlusArgs args_;
};

class ScarceResourceAvoidance final : public Rule {
 public:
  explicit ScarceResourceAvoidance(ScarceResourceAvoidanceArgs args) : args_(std::move(args)) {}

  ScoreAnswer Score(const View&, const PlainPod& pod, const Nodes& nodes) const override {
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) {
      int64_t unused = 0;
      int64_t scarce = 0;
      for (const auto& [resource, amount] : node->allocatable) {
        if (amount <= 0 || AmountOf(pod.requests, resource) > 0) continue;
        ++unused;
        scarce += std::ranges::count(args_.resources, resource) > 0 ? 1 : 0;
      }
      scores.push_back(scarce == 0 ? 100 : (unused - scarce) * 100 / unused);
    }
    return {{}, scores};
  }

 private:
  const ScarceResourceAvoidanceArgs args_;
};

}  // namespace

std::unique_ptr<Rule> NodeResourcesFitRule(NodeResourcesFitArgs args) {
  return std::make_unique<NodeResourcesFit>(std::move(args));
}
std::unique_ptr<Rule> NodeResourcesBalancedAllocationRule(
    NodeResourcesBalancedAllocationArgs args) {
  return std::make_unique<NodeResourcesBalancedAllocation>(std::move(args));
}
std::unique_ptr<Rule> NodeResourcesFitPlusRule(NodeResourcesFitPlusArgs args) {
  return std::make_unique<NodeResourcesFitPlus>(std::move(args));
}
std::unique_ptr<Rule> ScarceResourceAvoidanceRule(ScarceResourceAvoidanceArgs args) {
  return std::make_unique<ScarceResourceAvoidance>(std::move(args));
}

}  // namespace koord::scheduler::reference
