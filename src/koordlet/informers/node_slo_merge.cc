#include "koordlet/informers/node_slo_merge.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "api/default_strategies.h"
#include "api/setting_rules.h"
#include "base/log.h"
#include "base/strings.h"
#include "kube/json.h"

namespace koord::koordlet {
namespace {

using api::NodeSloSpec;
using kube::Json;

// --- Settings that make sense ---

struct Section {
  std::string_view member;
  api::StrategyKind kind;
};
constexpr Section kSections[] = {
    {"resourceUsedThresholdWithBE", api::StrategyKind::kThreshold},
    {"resourceQOSStrategy", api::StrategyKind::kResourceQos},
    {"cpuBurstStrategy", api::StrategyKind::kCpuBurst},
    {"systemStrategy", api::StrategyKind::kSystem},
};

// Most settings fall back to their default. That of a class's memory bandwidth is all of it, which
// a slip of the finger must not give away: with 0 a group keeps what it has.
void Neutralize(Json& strategy, std::span<const std::string> path) {
  Json* holder = &strategy;
  for (const std::string& step : path.first(path.size() - 1)) {
    holder =
        holder->is_array() ? &holder->as_array()[*ParseUint(step)] : kube::Find(*holder, {step});
  }
  if (path.back() == "mbaPercent") {
    *kube::Find(*holder, {path.back()}) = 0;
  } else {
    holder->as_object().erase(path.back());
  }
}

// Neutralizes what breaks a rule, and says so once, until it is fine again.
void DropNonsense(Json& spec, std::string_view object, KnownProblems& known_problems) {
  for (const Section& section : kSections) {
    Json* strategy = kube::Find(spec, {section.member});
    if (strategy == nullptr) continue;
    std::vector<std::string> texts;
    for (const api::BrokenRule& broken :
         api::BrokenRulesOf(section.kind, *strategy, api::StrategyState::kInForce)) {
      texts.push_back(fmt::format("{}: {}", broken.Path(), broken.Description()));
      Neutralize(*strategy, broken.path);
    }
    if (texts.empty()) {
      known_problems.Resolve({.object = object, .kind = section.member});
    } else if (known_problems.IsNew({.object = object, .kind = section.member},
                                    Join(texts, "\n"))) {
      for (const std::string& text : texts) {
        LOG_WARNING("NodeSLO asks for something that makes no sense, and it has no effect",
                    {"nodeSLO", object}, {"section", section.member}, {"problem", text});
      }
    }
  }
}

// What is present wins; lists are replaced, and an empty text is as good as none.
void Overlay(Json& base, const Json& over) {
  if (!base.is_object() || !over.is_object()) {
    base = over;
    return;
  }
  for (const auto& [name, value] : over.as_object()) {
    if (value.is_null() || (value.is_string() && value.as_string().empty())) continue;
    Overlay(base.as_object()[name], value);
  }
}

// --- Blocks that are switched off ---

template <class Block>
void DropDisabled(std::optional<Block>& block, const Block& none) {
  if (!block || block->enable.value_or(false)) return;
  *block = none;
  block->enable = false;
}

void DropDisabledBlocks(std::optional<api::ResourceQos>& qos) {
  if (!qos) return;
  DropDisabled(qos->cpu_qos, api::NoCpuQos());
  DropDisabled(qos->resctrl_qos, api::NoResctrlQos());
  DropDisabled(qos->memory_qos, api::NoMemoryQos());
}

}  // namespace

NodeSloSpec MergeNodeSlo(const NodeSloSpec& spec, std::string_view object,
                         KnownProblems& known_problems) {
  Json over = kube::Encode(spec);
  for (const char* as_it_is : {"hostApplications", "extensions"}) over.as_object().erase(as_it_is);
  DropNonsense(over, object, known_problems);
  static const Json& defaults = *new Json(kube::Encode(api::DefaultNodeSlo()));
  Json merged = defaults;
  Overlay(merged, over);
  // Both sides were encoded from the same type, so that decoding cannot fail.
  NodeSloSpec result = kube::Decode<NodeSloSpec>(merged).value_or(api::DefaultNodeSlo());
  result.host_applications = spec.host_applications;
  if (auto& qos = result.resource_qos_strategy) {
    DropDisabledBlocks(qos->lsr_class);
    DropDisabledBlocks(qos->ls_class);
    DropDisabledBlocks(qos->be_class);
  }
  return result;
}

NodeSloSpec MergeNodeSlo(const NodeSloSpec& spec) {
  KnownProblems known_problems;
  return MergeNodeSlo(spec, "", known_problems);
}

}  // namespace koord::koordlet
