#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/meta.h"

// Which nodes a pod (or a volume) asks for, and whether a node is one of them.
namespace koord::kube {

struct NodeSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;

  static void Fields(auto& self, auto&& field) {
    field("key", Always(self.key));
    field("operator", Always(self.op));
    field("values", self.values);
  }
  bool operator==(const NodeSelectorRequirement&) const = default;
};

// All of its requirements must hold; one without any holds nowhere.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;  // about labels
  std::vector<NodeSelectorRequirement> match_fields;       // about metadata.name

  static void Fields(auto& self, auto&& field) {
    field("matchExpressions", self.match_expressions);
    field("matchFields", self.match_fields);
  }
  bool operator==(const NodeSelectorTerm&) const = default;
};

// Any of its terms must hold.
struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;

  static void Fields(auto& self, auto&& field) {
    field("nodeSelectorTerms", Always(self.node_selector_terms));
  }
  bool operator==(const NodeSelector&) const = default;
};

struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;

  static void Fields(auto& self, auto&& field) {
    field("weight", Always(self.weight));
    field("preference", Always(self.preference));
  }
  bool operator==(const PreferredSchedulingTerm&) const = default;
};

struct NodeAffinity {
  std::optional<NodeSelector> required;
  std::vector<PreferredSchedulingTerm> preferred;

  static void Fields(auto& self, auto&& field) {
    field("requiredDuringSchedulingIgnoredDuringExecution", self.required);
    field("preferredDuringSchedulingIgnoredDuringExecution", self.preferred);
  }
  bool operator==(const NodeAffinity&) const = default;
};

// A requirement whose key is missing holds for NotIn and DoesNotExist only. Gt and Lt compare
// integers; anything else does not hold.
bool Matches(const NodeSelectorRequirement& requirement, const Labels& labels);
bool Matches(const NodeSelectorTerm& term, std::string_view node_name, const Labels& labels);
bool Matches(const NodeSelector& selector, std::string_view node_name, const Labels& labels);

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::NodeSelectorTerm);
KOORD_DECLARE_CODEC(koord::kube::NodeSelector);
KOORD_DECLARE_CODEC(koord::kube::NodeAffinity);
