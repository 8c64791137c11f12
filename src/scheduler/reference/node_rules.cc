// Rules about a node by itself.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "kube/objects/container.h"
#include "scheduler/reference/matching.h"
#include "scheduler/reference/rule.h"

namespace koord::scheduler::reference {
namespace {

bool Covers(const kube::Toleration& toleration, const kube::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return (toleration.op.empty() || toleration.op == "Equal") && toleration.value == taint.value;
}

}  // namespace

bool IsTolerated(const std::vector<kube::Toleration>& tolerations, const kube::Taint& taint) {
  return std::ranges::any_of(tolerations,
                             [&](const auto& toleration) { return Covers(toleration, taint); });
}

namespace {

class NodeName final : public Rule {
 public:
  Verdict FilterNode(const View&, const PlainPod& pod, const PlainNode& node) const override {
    const std::string& wanted = pod.spec().node_name;
    if (wanted.empty() || wanted == node.name()) return {};
    return Verdict::Unresolvable("node(s) didn't match the requested node name");
  }
};

class NodeUnschedulable final : public Rule {
 public:
  Verdict FilterNode(const View&, const PlainPod& pod, const PlainNode& node) const override {
    const kube::Taint cordon{.key = "node.kubernetes.io/unschedulable", .effect = "NoSchedule"};
    if (!node.node->spec.unschedulable || IsTolerated(pod.spec().tolerations, cordon)) return {};
    return Verdict::Unresolvable("node(s) were unschedulable");
  }
};

class TaintToleration final : public Rule {
 public:
  Verdict FilterNode(const View&, const PlainPod& pod, const PlainNode& node) const override {
    for (const kube::Taint& taint : node.node->spec.taints) {
      if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
      if (!IsTolerated(pod.spec().tolerations, taint)) {
        return Verdict::Unresolvable("node(s) had untolerated taint(s)");
      }
    }
    return {};
  }

  ScoreAnswer Score(const View&, const PlainPod& pod, const Nodes& nodes) const override {
    std::vector<kube::Toleration> preferring;
    for (const kube::Toleration& each : pod.spec().tolerations) {
      if (each.effect.empty() || each.effect == "PreferNoSchedule") preferring.push_back(each);
    }
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) {
      scores.push_back(std::ranges::count_if(node->node->spec.taints, [&](const auto& taint) {
        return taint.effect == "PreferNoSchedule" && !IsTolerated(preferring, taint);
      }));
    }
    NormalizeByLargest(scores, true);
    return {{}, scores};
  }
};

std::optional<int64_t> IntegerIn(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return {};
  return number;
}

bool Holds(const kube::NodeSelectorRequirement& requirement, const std::string* value) {
  const bool listed = value != nullptr && std::ranges::count(requirement.values, *value) > 0;
  if (requirement.op == "In") return listed;
  if (requirement.op == "NotIn") return !listed;
  if (requirement.op == "Exists") return value != nullptr;
  if (requirement.op == "DoesNotExist") return value == nullptr;
  if (value == nullptr || requirement.values.size() != 1) return false;
  const auto have = IntegerIn(*value);
  const auto limit = IntegerIn(requirement.values[0]);
  if (!have || !limit) return false;
  return requirement.op == "Gt" ? *have > *limit : *have < *limit;
}

bool Holds(const kube::NodeSelectorTerm& term, const PlainNode& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  for (const kube::NodeSelectorRequirement& each : term.match_expressions) {
    const auto found = node.labels().find(each.key);
    if (!Holds(each, found == node.labels().end() ? nullptr : &found->second)) return false;
  }
  return std::ranges::all_of(term.match_fields, [&](const auto& each) {
    return each.key == "metadata.name" && Holds(each, &node.name());
  });
}

bool Holds(const kube::NodeSelector& selector, const PlainNode& node) {
  return std::ranges::any_of(selector.node_selector_terms,
                             [&](const auto& term) { return Holds(term, node); });
}

const kube::NodeAffinity& NodeAffinityOf(const PlainPod& pod) {
  static const kube::NodeAffinity kNone;
  const auto& affinity = pod.spec().affinity;
  return affinity && affinity->node_affinity ? *affinity->node_affinity : kNone;
}

}  // namespace

bool MatchesRequiredNodes(const PlainPod& pod, const PlainNode& node) {
  for (const auto& [key, value] : pod.spec().node_selector) {
    const auto found = node.labels().find(key);
    if (found == node.labels().end() || found->second != value) return false;
  }
  const kube::NodeAffinity& affinity = NodeAffinityOf(pod);
  return !affinity.required || Holds(*affinity.required, node);
}

bool HasUntoleratedTaint(const PlainPod& pod, const PlainNode& node) {
  return std::ranges::any_of(node.node->spec.taints, [&](const kube::Taint& taint) {
    return taint.effect != "PreferNoSchedule" && !IsTolerated(pod.spec().tolerations, taint);
  });
}

bool MatchesSelector(const kube::NodeSelector& selector, const PlainNode& node) {
  return Holds(selector, node);
}

namespace {

class NodeAffinity final : public Rule {
 public:
  explicit NodeAffinity(NodeAffinityArgs args) : args_(std::move(args)) {}

  PreFilterAnswer PreFilter(const View&, const PlainPod& pod) const override {
    const kube::NodeAffinity& affinity = NodeAffinityOf(pod);
    if (pod.spec().node_selector.empty() && !affinity.required && !AddedRequired()) {
      return {Verdict::Skip()};
    }
    if (!affinity.required || affinity.required->node_selector_terms.empty()) return {};
    std::set<std::string> all;
    for (const kube::NodeSelectorTerm& term : affinity.required->node_selector_terms) {
      std::optional<std::set<std::string>> names;
      for (const kube::NodeSelectorRequirement& each : term.match_fields) {
        if (each.key != "metadata.name" || each.op != "In") continue;
        std::set<std::string> listed(each.values.begin(), each.values.end());
        if (names) std::erase_if(listed, [&](const auto& name) { return !names->contains(name); });
        names = listed;
      }
      if (!names) return {};
      all.insert(names->begin(), names->end());
    }
    if (all.empty()) return {Verdict::Unresolvable("pod affinity terms conflict")};
    return {{}, std::vector<std::string>(all.begin(), all.end())};
  }

  Verdict FilterNode(const View&, const PlainPod& pod, const PlainNode& node) const override {
    if (AddedRequired() && !Holds(*args_.added_affinity->required, node)) {
      return Verdict::Unresolvable("node(s) didn't match scheduler-enforced node affinity");
    }
    if (MatchesRequiredNodes(pod, node)) return {};
    return Verdict::Unresolvable("node(s) didn't match Pod's node affinity/selector");
  }

  ScoreAnswer Score(const View&, const PlainPod& pod, const Nodes& nodes) const override {
    std::vector<kube::PreferredSchedulingTerm> terms = NodeAffinityOf(pod).preferred;
    if (args_.added_affinity) {
      const auto& added = args_.added_affinity->preferred;
      terms.insert(terms.end(), added.begin(), added.end());
    }
    if (terms.empty()) return {Verdict::Skip()};
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) {
      int64_t sum = 0;
      for (const kube::PreferredSchedulingTerm& term : terms) {
        if (Holds(term.preference, *node)) sum += term.weight;
      }
      scores.push_back(sum);
    }
    NormalizeByLargest(scores, false);
    return {{}, scores};
  }

 private:
  bool AddedRequired() const { return args_.added_affinity && args_.added_affinity->required; }

  const NodeAffinityArgs args_;
};

struct Port {
  std::string ip;
  std::string protocol;
  int32_t number;
};

std::vector<Port> PortsOf(const kube::PodSpec& pod) {
  std::vector<Port> ports;
  const auto add = [&](const kube::Container& container) {
    for (const kube::ContainerPort& port : container.ports) {
      if (port.host_port <= 0) continue;
      ports.push_back({port.host_ip.empty() ? "0.0.0.0" : port.host_ip,
                       port.protocol.empty() ? "TCP" : port.protocol, port.host_port});
    }
  };
  for (const kube::Container& container : pod.containers) add(container);
  for (const kube::Container& container : pod.init_containers) {
    if (container.restart_policy == "Always") add(container);
  }
  return ports;
}

}  // namespace

bool PortsConflict(const PlainPod& a, const PlainPod& b) {
  for (const Port& wanted : PortsOf(a.spec())) {
    for (const Port& used : PortsOf(b.spec())) {
      if (used.protocol != wanted.protocol || used.number != wanted.number) continue;
      if (used.ip == "0.0.0.0" || wanted.ip == "0.0.0.0" || used.ip == wanted.ip) return true;
    }
  }
  return false;
}

namespace {

class NodePorts final : public Rule {
 public:
  PreFilterAnswer PreFilter(const View&, const PlainPod& pod) const override {
    return {PortsOf(pod.spec()).empty() ? Verdict::Skip() : Verdict::Success()};
  }

  Verdict FilterNode(const View& view, const PlainPod& pod, const PlainNode& node) const override {
    for (const PlainPod* other : view.PodsOn(node)) {
      if (!PortsConflict(pod, *other)) continue;
      return Verdict::Unschedulable("node(s) didn't have free ports for the requested pod ports");
    }
    return {};
  }
};

class ImageLocality final : public Rule {
 public:
  ScoreAnswer Score(const View& view, const PlainPod& pod, const Nodes& nodes) const override {
    std::vector<std::string> images;
    for (const auto* containers : {&pod.spec().containers, &pod.spec().init_containers}) {
      for (const kube::Container& container : *containers) {
        images.push_back(Normalized(container.image));
      }
    }
    std::vector<int64_t> scores;
    for (const PlainNode* node : nodes) scores.push_back(ScoreNode(view, images, *node));
    return {{}, scores};
  }

 private:
  static constexpr int64_t kMi = 1024 * 1024;

  static std::string Normalized(const std::string& image) {
    const size_t slash = image.rfind('/');
    const size_t colon = image.find(':', slash == std::string::npos ? 0 : slash);
    return colon == std::string::npos ? image + ":latest" : image;
  }

  static const kube::ContainerImage* FindImage(const PlainNode& node, const std::string& name) {
    for (const kube::ContainerImage& image : node.node->status.images) {
      if (std::ranges::count(image.names, name) > 0) return &image;
    }
    return nullptr;
  }

  static int64_t ScoreNode(const View& view, const std::vector<std::string>& images,
                           const PlainNode& node) {
    int64_t sum = 0;
    for (const std::string& name : images) {
      const kube::ContainerImage* image = FindImage(node, name);
      if (image == nullptr) continue;
      const auto with = std::ranges::count_if(view.cluster.nodes, [&](const auto& each) {
        return FindImage(each.second, name) != nullptr;
      });
      sum += static_cast<int64_t>(
          static_cast<double>(image->size_bytes) *
          (static_cast<double>(with) / static_cast<double>(view.cluster.nodes.size())));
    }
    const int64_t most = 1000 * kMi * static_cast<int64_t>(images.size());
    sum = std::min(std::max(sum, 23 * kMi), most);
    return 100 * (sum - 23 * kMi) / (most - 23 * kMi);
  }
};

}  // namespace

std::unique_ptr<Rule> NodeNameRule() { return std::make_unique<NodeName>(); }
std::unique_ptr<Rule> NodeUnschedulableRule() { return std::make_unique<NodeUnschedulable>(); }
std::unique_ptr<Rule> TaintTolerationRule() { return std::make_unique<TaintToleration>(); }
std::unique_ptr<Rule> NodeAffinityRule(NodeAffinityArgs args) {
  return std::make_unique<NodeAffinity>(std::move(args));
}
std::unique_ptr<Rule> NodePortsRule() { return std::make_unique<NodePorts>(); }
std::unique_ptr<Rule> ImageLocalityRule() { return std::make_unique<ImageLocality>(); }

}  // namespace koord::scheduler::reference
