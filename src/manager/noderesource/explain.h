#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "manager/noderesource/node_decision.h"

// Why a node offers as much of a batch or mid resource as it does: the formula with the live
// numbers in it, and the line of the configuration behind each.
namespace koord::manager {

struct ExplainedTerm {
  std::string name;      // as in the formula
  std::string value;     // in the explanation's unit: "35", "111.76"
  std::string quantity;  // exactly: "35", "120G"; empty: it is no amount
  std::string meaning;   // in a user's words
  std::string setting;   // the member of the configuration behind it; empty: there is none

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("value", self.value);
    field("quantity", self.quantity);
    field("meaning", self.meaning);
    field("setting", self.setting);
  }
  bool operator==(const ExplainedTerm&) const = default;
};

struct ExplainedSetting {
  std::string member;  // "cpuReclaimThresholdPercent"
  std::string value;   // "65"
  std::string source;  // "colocation-config, nodeConfigs[0]", "default", ...

  static void Fields(auto& self, auto&& field) {
    field("member", self.member);
    field("value", self.value);
    field("source", self.source);
  }
  bool operator==(const ExplainedSetting&) const = default;
};

struct ResourceExplanation {
  std::string node;
  std::string resource;
  std::string unit;             // of all amounts: "cores", "GiB"
  std::string nothing_because;  // why nothing is offered; empty: the formula holds
  std::string next_step;        // what to do about that
  std::string formula;          // "batch-cpu = capacity - margin - ..."
  std::string calculation;      // the same with its numbers: "100 - 35 - ..."
  std::vector<ExplainedTerm> terms;
  std::vector<ExplainedSetting> settings;
  std::string result;                // of the formula, as the resource counts: "47k"
  std::string published;             // on the node now, likewise; empty: nothing is
  std::string result_in_unit;        // "47"
  std::string published_in_unit;     // "48"
  std::vector<std::string> remarks;  // what else is to be known, a sentence each

  static void Fields(auto& self, auto&& field) {
    field("node", self.node);
    field("resource", self.resource);
    field("unit", self.unit);
    field("nothingBecause", self.nothing_because);
    field("nextStep", self.next_step);
    field("formula", self.formula);
    field("calculation", self.calculation);
    field("terms", self.terms);
    field("settings", self.settings);
    field("result", self.result);
    field("published", self.published);
    field("resultInUnit", self.result_in_unit);
    field("publishedInUnit", self.published_in_unit);
    field("remarks", self.remarks);
  }
  bool operator==(const ResourceExplanation&) const = default;
};

// The resources that can be explained.
const std::vector<std::string>& ExplainableResources();

// An error if the resource is none of these.
StatusOr<ResourceExplanation> ExplainResource(const NodeFacts& facts, const SloConfig& config,
                                              const NodeResourceOptions& options,
                                              std::string_view resource);

// For people.
std::string FormatExplanation(const ResourceExplanation& explanation);

}  // namespace koord::manager
