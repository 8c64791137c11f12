#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/codec.h"
#include "kube/objects/meta.h"
#include "kube/selectors.h"

// A strategy for the cluster and others for some of its nodes, as every key of
// slo-controller-config has them.
namespace koord::manager {

// Puts a document over another: members replace, objects merge, the maps that users fill (models,
// features, ratios, extensions) merge by key with each value as a whole, lists replace.
void MergeDocument(kube::Json& base, const kube::Json& over);

// What `over` says, and what `base` says where that says nothing.
template <class S>
S Merged(const S& base, const S& over) {
  kube::Json document = kube::Encode(base);
  MergeDocument(document, kube::Encode(over));
  StatusOr<S> merged = kube::Decode<S>(document);
  return merged.ok() ? *std::move(merged) : base;  // both were encoded from an S: it always is
}

// One of nodeStrategies or nodeConfigs.
template <class S>
struct NodeEntry {
  std::string name;
  std::optional<kube::LabelSelector> node_selector;
  S strategy;
  // Whether it says anything but whom it is for. A strategy may have members that are written
  // even when nobody has set them, and an entry without any must not set those.
  bool says_something = false;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("nodeSelector", self.node_selector);
    S::Fields(self.strategy, field);
  }
};

// {"clusterStrategy": {...}, "nodeStrategies": [...]}
template <class S>
struct NestedDocument {
  S cluster;
  std::vector<NodeEntry<S>> nodes;

  static constexpr std::string_view kNodes = "nodeStrategies";
  static void Fields(auto& self, auto&& field) {
    field("clusterStrategy", self.cluster);
    field(kNodes, self.nodes);
  }
};

// {<members of the strategy>, "nodeConfigs": [...]}
template <class S>
struct InlineDocument {
  S cluster;
  std::vector<NodeEntry<S>> nodes;

  static constexpr std::string_view kNodes = "nodeConfigs";
  static void Fields(auto& self, auto&& field) {
    S::Fields(self.cluster, field);
    field(kNodes, self.nodes);
  }
};

// The same, ready for use: everything merged, selectors compiled.
template <class S>
struct StrategyTable {
  struct Entry {
    std::string name;
    std::string path;  // "nodeConfigs[1]"
    S given;           // as written
    S strategy;        // over the cluster's
    kube::LabelMatcher matcher;
  };

  S given;    // as written
  S cluster;  // over the defaults
  std::vector<Entry> entries;

  // The first entry that is for a node with these labels; null if none is.
  const Entry* Match(const kube::Labels& labels) const {
    for (const Entry& entry : entries) {
      if (entry.matcher.Matches(labels)) return &entry;
    }
    return nullptr;
  }
  const S& For(const kube::Labels& labels) const {
    const Entry* entry = Match(labels);
    return entry != nullptr ? entry->strategy : cluster;
  }
};

template <class S>
StrategyTable<S> DefaultTable(const S& defaults) {
  return {.given = {}, .cluster = defaults, .entries = {}};
}

// Entries that cannot be used are left out and said in `problems`, by their path. One without a
// selector is for no node.
template <class S, class Document>
StrategyTable<S> MakeTable(const S& defaults, Document document,
                           std::vector<std::string>& problems) {
  StrategyTable<S> table{document.cluster, Merged(defaults, document.cluster), {}};
  for (size_t i = 0; i < document.nodes.size(); ++i) {
    NodeEntry<S>& entry = document.nodes[i];
    if (!entry.node_selector) continue;
    std::string path = fmt::format("{}[{}]", Document::kNodes, i);
    auto matcher = kube::LabelMatcher::From(*entry.node_selector);
    if (!matcher.ok()) {
      problems.push_back(fmt::format("{}.nodeSelector: {}", path, Message(matcher.status())));
      continue;
    }
    S strategy = entry.says_something ? Merged(table.cluster, entry.strategy) : table.cluster;
    table.entries.push_back({std::move(entry.name), std::move(path), std::move(entry.strategy),
                             std::move(strategy), *std::move(matcher)});
  }
  return table;
}

}  // namespace koord::manager

template <class S>
struct koord::kube::Codec<koord::manager::NodeEntry<S>> {
  static Status Read(JsonView in, koord::manager::NodeEntry<S>& out) {
    RETURN_IF_ERROR(codec_internal::ReadDescribed(in, out));
    S::Fields(out.strategy, [&](std::string_view member, auto&&) {
      out.says_something |= in.if_object()->contains(member);
    });
    return absl::OkStatus();
  }
  static Json Write(const koord::manager::NodeEntry<S>& value) {
    return codec_internal::WriteDescribed(value);
  }
};
