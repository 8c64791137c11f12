#include "localcluster/nodes/node_shape.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "kube/quantity.h"

namespace koord::localcluster {
namespace {

constexpr std::string_view kKeys =
    "cpu, memory, smt, numa, sockets, gpu, gpu-memory, gpu-model, pods, zone, labels, taints, "
    "count";

// What the text said; what it left out is decided when all of it is known.
struct Draft {
  NodeShape shape;
  std::optional<int64_t> smt, numa, sockets;
};

StatusOr<int64_t> Whole(std::string_view key, std::string_view value, int64_t least, int64_t most) {
  const std::optional<int64_t> number = ParseInt(value);
  if (!number || *number < least || *number > most) {
    return InvalidArgument("{}={}: expected a whole number from {} to {}", key, Quote(value), least,
                           most);
  }
  return *number;
}

StatusOr<int64_t> Size(std::string_view key, std::string_view value) {
  const StatusOr<kube::Quantity> quantity = kube::Quantity::Parse(value);
  if (!quantity.ok() || quantity->Value() <= 0) {
    return InvalidArgument("{}={}: expected a size such as 128Gi", key, Quote(value));
  }
  return quantity->Value();
}

StatusOr<std::string> Name(std::string_view key, std::string_view value) {
  if (value.empty()) return InvalidArgument("{}=: expected a value", key);
  return std::string(value);
}

StatusOr<std::map<std::string, std::string>> Labels(std::string_view value) {
  std::map<std::string, std::string> labels;
  for (std::string_view item : Split(value, ';')) {
    const size_t equals = item.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return InvalidArgument("labels={}: expected key=value, several separated by ;", Quote(value));
    }
    labels.emplace(item.substr(0, equals), item.substr(equals + 1));
  }
  return labels;
}

StatusOr<NodeShape::Taint> OneTaint(std::string_view item) {
  const size_t colon = item.rfind(':');
  const std::string_view left = item.substr(0, colon);
  const std::string_view effect =
      colon == std::string_view::npos ? std::string_view() : item.substr(colon + 1);
  if (left.empty() ||
      (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")) {
    return InvalidArgument(
        "taints={}: expected key=value:Effect or key:Effect, with NoSchedule, PreferNoSchedule or "
        "NoExecute as effect",
        Quote(item));
  }
  const size_t equals = left.find('=');
  NodeShape::Taint taint{.key = std::string(left.substr(0, equals)), .effect = std::string(effect)};
  if (equals != std::string_view::npos) taint.value = left.substr(equals + 1);
  return taint;
}

StatusOr<std::vector<NodeShape::Taint>> Taints(std::string_view value) {
  std::vector<NodeShape::Taint> taints;
  for (std::string_view item : Split(value, ';')) {
    ASSIGN_OR_RETURN(NodeShape::Taint taint, OneTaint(item));
    taints.push_back(std::move(taint));
  }
  return taints;
}

Status Apply(std::string_view key, std::string_view value, Draft& draft) {
  const auto whole = [&](auto& target, int64_t least, int64_t most) -> Status {
    ASSIGN_OR_RETURN(target, Whole(key, value, least, most));
    return absl::OkStatus();
  };
  NodeShape& shape = draft.shape;
  if (key == "cpu") return whole(shape.cpus, 1, 4096);
  if (key == "smt") return whole(draft.smt, 1, 8);
  if (key == "numa") return whole(draft.numa, 1, 64);
  if (key == "sockets") return whole(draft.sockets, 1, 64);
  if (key == "gpu") return whole(shape.gpus, 0, 64);
  if (key == "pods") return whole(shape.pods, 1, 10'000);
  if (key == "count") return whole(shape.count, 1, 100'000);
  if (key == "memory") {
    ASSIGN_OR_RETURN(shape.memory, Size(key, value));
  } else if (key == "gpu-memory") {
    ASSIGN_OR_RETURN(shape.gpu_memory, Size(key, value));
  } else if (key == "gpu-model") {
    ASSIGN_OR_RETURN(shape.gpu_model, Name(key, value));
  } else if (key == "zone") {
    for (std::string_view zone : Split(value, ';')) {
      ASSIGN_OR_RETURN(std::string name, Name(key, zone));
      shape.zones.push_back(std::move(name));
    }
  } else if (key == "labels") {
    ASSIGN_OR_RETURN(shape.labels, Labels(value));
  } else if (key == "taints") {
    ASSIGN_OR_RETURN(shape.taints, Taints(value));
  } else {
    return InvalidArgument("unknown key {}: expected one of {}", Quote(key), kKeys);
  }
  return absl::OkStatus();
}

StatusOr<NodeShape> Complete(Draft draft) {
  NodeShape& shape = draft.shape;
  shape.smt = draft.smt.value_or(shape.cpus % 2 == 0 ? 2 : 1);
  shape.numa = draft.numa.value_or(shape.cpus >= 16 && shape.cpus % (2 * shape.smt) == 0 ? 2 : 1);
  shape.sockets = draft.sockets.value_or(shape.numa);
  if (shape.cpus % (shape.numa * shape.smt) != 0) {
    return InvalidArgument(
        "cpu={}: expected a multiple of {} (numa={} times smt={}), so that all NUMA nodes are "
        "alike",
        shape.cpus, shape.numa * shape.smt, shape.numa, shape.smt);
  }
  if (shape.numa % shape.sockets != 0) {
    return InvalidArgument("sockets={}: expected a divisor of numa={}", shape.sockets, shape.numa);
  }
  return shape;
}

size_t DigitsOf(int64_t largest) { return std::to_string(std::max<int64_t>(largest, 0)).size(); }

// Which shape each node gets: those with a count first, then the others in turn.
std::vector<const NodeShape*> Deal(int64_t total, std::span<const NodeShape> shapes) {
  std::vector<const NodeShape*> dealt, sharing;
  for (const NodeShape& shape : shapes) {
    if (shape.count == 0) sharing.push_back(&shape);
    dealt.insert(dealt.end(), static_cast<size_t>(shape.count), &shape);
  }
  for (size_t turn = 0; static_cast<int64_t>(dealt.size()) < total && !sharing.empty(); ++turn) {
    dealt.push_back(sharing[turn % sharing.size()]);
  }
  return dealt;
}

}  // namespace

StatusOr<NodeShape> ParseNodeShape(std::string_view text) {
  Draft draft;
  std::vector<std::string_view> seen;
  for (std::string_view item : Split(text, ',')) {
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      return InvalidArgument("node shape {}: expected key=value, found {}", Quote(text),
                             Quote(item));
    }
    const std::string_view key = Trim(item.substr(0, equals));
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return InvalidArgument("node shape {}: {} is given twice", Quote(text), key);
    }
    seen.push_back(key);
    if (Status status = Apply(key, Trim(item.substr(equals + 1)), draft); !status.ok()) {
      return InvalidArgument("node shape {}: {}", Quote(text), Message(status));
    }
  }
  StatusOr<NodeShape> shape = Complete(std::move(draft));
  if (!shape.ok()) {
    return InvalidArgument("node shape {}: {}", Quote(text), Message(shape.status()));
  }
  return shape;
}

StatusOr<std::vector<PlannedNode>> PlanNodes(int64_t total, std::span<const NodeShape> shapes) {
  static const NodeShape kDefault;
  if (shapes.empty()) shapes = {&kDefault, 1};
  const std::vector<const NodeShape*> dealt = Deal(total, shapes);
  if (static_cast<int64_t>(dealt.size()) != total) {
    return InvalidArgument("the counts of the node shapes make {} nodes, but {} are asked for",
                           dealt.size(), total);
  }
  const size_t width = DigitsOf(total - 1);
  std::map<const NodeShape*, size_t> turns;
  std::vector<PlannedNode> planned;
  for (const NodeShape* shape : dealt) {
    PlannedNode node{.name = fmt::format("node-{:0{}}", planned.size(), width), .shape = *shape};
    if (!shape->zones.empty()) node.zone = shape->zones[turns[shape]++ % shape->zones.size()];
    planned.push_back(std::move(node));
  }
  return planned;
}

}  // namespace koord::localcluster
