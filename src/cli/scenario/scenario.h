#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/json.h"

// A scenario as its file states it: what is given, what happens, what must then hold.
// docs/scenarios.md explains the format to users.
namespace koord::scenario {

// A kind and how to choose among its objects.
struct Target {
  std::string api_version;  // may be empty where the kind is unique
  std::string kind;
  std::string name;
  std::string ns;      // empty: the scenario's own
  std::string labels;  // label selector
  std::string node;    // pods only: spec.nodeName
};

struct EventPattern {
  std::string reason, type, message;  // exact, or /regex/; empty: any
  std::string kind, name;             // of the object concerned
  std::optional<int64_t> times;       // how often, repetitions included; absent: at least once
};

struct Expectation {
  enum class Kind { kGet, kAbsent, kCount, kEvent };
  Kind kind = Kind::kGet;
  int line = 0;
  Target target;
  kube::Json match;   // kGet
  int64_t count = 0;  // kCount
  EventPattern event;
};

struct Step {
  enum class Kind { kApply, kCreate, kDelete, kPatch, kEvict, kAdvance, kExpect };
  Kind kind = Kind::kApply;
  int line = 0;
  kube::Json manifest;                    // kApply, kCreate
  Target target;                          // kDelete, kPatch, kEvict
  kube::Json merge;                       // kPatch
  std::string subresource;                // kPatch: "status", ...
  Duration span{0};                       // kAdvance
  std::vector<Expectation> expectations;  // kExpect
  std::string error;  // the cluster must refuse the step with this text; empty: it must not
};

struct Manifest {
  int line = 0;
  kube::Json object;
};

struct Scenario {
  std::string file;
  int line = 0;
  std::string name;
  uint64_t seed = 1;
  kube::Json scheduler_config;    // null if not given
  kube::Json descheduler_config;  // likewise
  // Whether koord-manager runs: it would take batch resources off nodes that state them.
  bool runs_manager = false;
  std::vector<std::string> manager_flags;  // as on its command line
  std::vector<Manifest> given;
  std::vector<Step> when;
  std::vector<Expectation> then;
};

// Every document of the text is a scenario, but for a first one that says what all of them begin
// with. An error reads "FILE:LINE: KEY: what is wrong".
StatusOr<std::vector<Scenario>> ParseScenarios(const std::string& file, std::string_view text);

}  // namespace koord::scenario
