#include "cli/scenario/scenario.h"

#include <re2/re2.h>

#include "base/duration.h"
#include "cli/scenario/document_reader.h"

namespace koord::scenario {
namespace {

using kube::Json;

StatusOr<Json> ReadManifest(const Reader& at) {
  if (!at.value().is_object()) return at.Error("expected a manifest");
  if (kube::FindString(at.value(), {"kind"}).empty()) return at.Error("a manifest needs a kind");
  return at.value();
}

StatusOr<Target> ReadTarget(const Reader& at, bool named) {
  if (named) {
    RETURN_IF_ERROR(
        at.CheckMembers({"apiVersion", "kind", "name", "namespace", "merge", "subresource"}));
  } else {
    RETURN_IF_ERROR(at.CheckMembers({"apiVersion", "kind", "name", "namespace", "labels", "node"}));
  }
  Target target;
  ASSIGN_OR_RETURN(target.api_version, at.String("apiVersion"));
  ASSIGN_OR_RETURN(target.kind, at.String("kind", true));
  ASSIGN_OR_RETURN(target.name, at.String("name", named));
  ASSIGN_OR_RETURN(target.ns, at.String("namespace"));
  ASSIGN_OR_RETURN(target.labels, at.String("labels"));
  ASSIGN_OR_RETURN(target.node, at.String("node"));
  return target;
}

// A string between slashes must be a regular expression that compiles, wherever it stands.
Status CheckPatterns(const Reader& at) {
  const Json& value = at.value();
  if (const auto* object = value.if_object()) {
    for (const auto& [name, member] : *object) {
      RETURN_IF_ERROR(CheckPatterns(at.At(std::string_view(name), member)));
    }
  } else if (const auto* list = value.if_array()) {
    for (size_t i = 0; i < list->size(); ++i) RETURN_IF_ERROR(CheckPatterns(at.At(i, (*list)[i])));
  } else if (value.is_string()) {
    const std::string_view text = value.get_string();
    if (text.size() < 2 || text.front() != '/' || text.back() != '/') return absl::OkStatus();
    const RE2 pattern(re2::StringPiece(text.data() + 1, text.size() - 2), RE2::Quiet);
    if (!pattern.ok()) return at.Error("not a regular expression: " + pattern.error());
  }
  return absl::OkStatus();
}

StatusOr<EventPattern> ReadEvent(const Reader& at) {
  RETURN_IF_ERROR(at.CheckMembers({"reason", "type", "message", "object", "times"}));
  RETURN_IF_ERROR(CheckPatterns(at));
  EventPattern event;
  ASSIGN_OR_RETURN(event.reason, at.String("reason"));
  ASSIGN_OR_RETURN(event.type, at.String("type"));
  ASSIGN_OR_RETURN(event.message, at.String("message"));
  if (at.Member("times") != nullptr) {
    ASSIGN_OR_RETURN(event.times, at.Integer("times"));
  }
  ASSIGN_OR_RETURN(const std::string object, at.String("object"));
  if (object.empty()) return event;
  const size_t slash = object.find('/');
  if (slash == std::string::npos) return at.Error("object: expected KIND/NAME");
  event.kind = object.substr(0, slash);
  event.name = object.substr(slash + 1);
  return event;
}

StatusOr<Expectation> ReadExpectation(const Reader& at) {
  RETURN_IF_ERROR(at.CheckMembers({"get", "match", "absent", "count", "is", "event"}));
  Expectation expectation;
  expectation.line = at.line();
  if (const Json* get = at.Member("get")) {
    ASSIGN_OR_RETURN(expectation.target, ReadTarget(at.At("get", *get), true));
    if (const Json* match = at.Member("match")) {
      RETURN_IF_ERROR(CheckPatterns(at.At("match", *match)));
      expectation.match = *match;
    }
  } else if (const Json* absent = at.Member("absent")) {
    expectation.kind = Expectation::Kind::kAbsent;
    ASSIGN_OR_RETURN(expectation.target, ReadTarget(at.At("absent", *absent), true));
  } else if (const Json* count = at.Member("count")) {
    expectation.kind = Expectation::Kind::kCount;
    ASSIGN_OR_RETURN(expectation.target, ReadTarget(at.At("count", *count), false));
    ASSIGN_OR_RETURN(expectation.count, at.Integer("is"));
  } else if (const Json* event = at.Member("event")) {
    expectation.kind = Expectation::Kind::kEvent;
    ASSIGN_OR_RETURN(expectation.event, ReadEvent(at.At("event", *event)));
  } else {
    return at.Error("expected one of get, absent, count, event");
  }
  return expectation;
}

StatusOr<std::vector<Expectation>> ReadExpectations(const Reader& at, std::string_view member) {
  std::vector<Expectation> expectations;
  RETURN_IF_ERROR(at.ForEach(member, [&](const Reader& item) -> Status {
    ASSIGN_OR_RETURN(Expectation expectation, ReadExpectation(item));
    expectations.push_back(std::move(expectation));
    return absl::OkStatus();
  }));
  return expectations;
}

StatusOr<Duration> ReadSpan(const Reader& at) {
  if (!at.value().is_string()) return at.Error("expected a duration such as 30s or 5m");
  const auto span = ParseDuration(std::string_view(at.value().get_string()));
  if (!span.ok() || *span < Duration::zero()) {
    return at.Error("expected a duration such as 30s or 5m");
  }
  return *span;
}

StatusOr<Step> ReadPatch(const Reader& at, Step step) {
  step.kind = Step::Kind::kPatch;
  ASSIGN_OR_RETURN(step.target, ReadTarget(at, true));
  ASSIGN_OR_RETURN(step.subresource, at.String("subresource"));
  const Json* merge = at.Member("merge");
  if (merge == nullptr || !merge->is_object()) return at.Error("a patch needs merge: {...}");
  step.merge = *merge;
  return step;
}

// What an eviction names is always a pod.
StatusOr<Target> ReadPod(const Reader& at) {
  RETURN_IF_ERROR(at.CheckMembers({"name", "namespace"}));
  Target target;
  target.kind = "Pod";
  ASSIGN_OR_RETURN(target.name, at.String("name", true));
  ASSIGN_OR_RETURN(target.ns, at.String("namespace"));
  return target;
}

// Beside its verb a step may say how the cluster refuses it.
Status ReadError(const Reader& at, Step& step) {
  const Json* error = at.Member("error");
  if (error == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPatterns(at.At("error", *error)));
  ASSIGN_OR_RETURN(step.error, at.String("error"));
  if (step.error.empty()) return at.At("error", *error).Error("expected a text or /regex/");
  if (at.Member("advance") != nullptr || at.Member("expect") != nullptr) {
    return at.At("error", *error).Error("only what changes the cluster can be refused");
  }
  return absl::OkStatus();
}

StatusOr<std::string_view> VerbOf(const Reader& at) {
  std::string_view verb;
  for (const auto& [name, value] : at.value().get_object()) {
    if (name == "error") continue;
    if (!verb.empty()) verb = "several";
    if (verb.empty()) verb = name;
  }
  if (!verb.empty() && verb != "several") return verb;
  return at.Error("a step is one of apply, create, delete, patch, evict, advance, expect");
}

StatusOr<Step> ReadStep(const Reader& at) {
  RETURN_IF_ERROR(at.CheckMembers(
      {"apply", "create", "delete", "patch", "evict", "advance", "expect", "error"}));
  Step step;
  step.line = at.line();
  RETURN_IF_ERROR(ReadError(at, step));
  ASSIGN_OR_RETURN(const std::string_view verb, VerbOf(at));
  const Json& value = *at.Member(verb);
  const Reader below = at.At(verb, value);
  if (verb == "apply" || verb == "create") {
    step.kind = verb == "apply" ? Step::Kind::kApply : Step::Kind::kCreate;
    ASSIGN_OR_RETURN(step.manifest, ReadManifest(below));
  } else if (verb == "delete") {
    step.kind = Step::Kind::kDelete;
    ASSIGN_OR_RETURN(step.target, ReadTarget(below, true));
  } else if (verb == "patch") {
    return ReadPatch(below, std::move(step));
  } else if (verb == "evict") {
    step.kind = Step::Kind::kEvict;
    ASSIGN_OR_RETURN(step.target, ReadPod(below));
  } else if (verb == "advance") {
    step.kind = Step::Kind::kAdvance;
    ASSIGN_OR_RETURN(step.span, ReadSpan(below));
  } else {
    step.kind = Step::Kind::kExpect;
    if (value.is_array()) {
      ASSIGN_OR_RETURN(step.expectations, ReadExpectations(at, "expect"));
    } else {
      ASSIGN_OR_RETURN(Expectation expectation, ReadExpectation(below));
      step.expectations.push_back(std::move(expectation));
    }
  }
  return step;
}

Status ReadManager(const Reader& config, Scenario& scenario) {
  const Json* manager = config.Member("manager");
  if (manager == nullptr) return absl::OkStatus();
  scenario.runs_manager = true;
  const Reader below = config.At("manager", *manager);
  RETURN_IF_ERROR(below.CheckMembers({"flags"}));
  return below.ForEach("flags", [&](const Reader& flag) -> Status {
    if (!flag.value().is_string()) return flag.Error("expected a flag, such as \"--name=value\"");
    scenario.manager_flags.emplace_back(std::string_view(flag.value().get_string()));
    return absl::OkStatus();
  });
}

Status ReadConfig(const Reader& at, Scenario& scenario) {
  const Json* config = at.Member("config");
  if (config == nullptr) return absl::OkStatus();
  const Reader below = at.At("config", *config);
  RETURN_IF_ERROR(below.CheckMembers({"scheduler", "descheduler", "manager", "seed"}));
  if (const Json* scheduler = below.Member("scheduler")) scenario.scheduler_config = *scheduler;
  if (const Json* descheduler = below.Member("descheduler")) {
    scenario.descheduler_config = *descheduler;
  }
  RETURN_IF_ERROR(ReadManager(below, scenario));
  if (below.Member("seed") != nullptr) {
    ASSIGN_OR_RETURN(const int64_t seed, below.Integer("seed"));
    scenario.seed = static_cast<uint64_t>(seed);
  }
  return absl::OkStatus();
}

Status ReadGiven(const Reader& at, Scenario& scenario) {
  return at.ForEach("given", [&](const Reader& item) -> Status {
    ASSIGN_OR_RETURN(Json manifest, ReadManifest(item));
    scenario.given.push_back({item.line(), std::move(manifest)});
    return absl::OkStatus();
  });
}

// What all scenarios of a file begin with.
StatusOr<Scenario> ReadBackground(const std::string& file, const Reader& at) {
  RETURN_IF_ERROR(at.CheckMembers({"background"}));
  const Reader below = at.At("background", *at.Member("background"));
  RETURN_IF_ERROR(below.CheckMembers({"config", "given"}));
  Scenario background;
  background.file = file;
  RETURN_IF_ERROR(ReadConfig(below, background));
  RETURN_IF_ERROR(ReadGiven(below, background));
  return background;
}

StatusOr<Scenario> ReadScenario(const Scenario& background, const Reader& at) {
  RETURN_IF_ERROR(at.CheckMembers({"name", "config", "given", "when", "then"}));
  Scenario scenario = background;
  scenario.line = at.line();
  ASSIGN_OR_RETURN(scenario.name, at.String("name", true));
  RETURN_IF_ERROR(ReadConfig(at, scenario));
  RETURN_IF_ERROR(ReadGiven(at, scenario));
  RETURN_IF_ERROR(at.ForEach("when", [&](const Reader& item) -> Status {
    ASSIGN_OR_RETURN(Step step, ReadStep(item));
    scenario.when.push_back(std::move(step));
    return absl::OkStatus();
  }));
  ASSIGN_OR_RETURN(scenario.then, ReadExpectations(at, "then"));
  const bool expects = !scenario.then.empty() ||
                       std::any_of(scenario.when.begin(), scenario.when.end(),
                                   [](const Step& s) { return s.kind == Step::Kind::kExpect; });
  if (!expects) return at.Error("a scenario that expects nothing cannot fail: add then:");
  return scenario;
}

}  // namespace

StatusOr<std::vector<Scenario>> ParseScenarios(const std::string& file, std::string_view text) {
  auto documents = kube::ParseYamlDocuments(text);
  if (!documents.ok()) return InvalidArgument("{}:{}", file, Message(documents.status()));
  Scenario background;
  background.file = file;
  std::vector<Scenario> scenarios;
  bool first = true;
  for (const kube::YamlDocument& document : *documents) {
    if (document.value.is_null()) continue;
    const Reader at(file, document);
    if (std::exchange(first, false) && at.Member("background") != nullptr) {
      ASSIGN_OR_RETURN(background, ReadBackground(file, at));
      continue;
    }
    ASSIGN_OR_RETURN(Scenario scenario, ReadScenario(background, at));
    scenarios.push_back(std::move(scenario));
  }
  if (scenarios.empty()) return InvalidArgument("{}:1: no scenario in this file", file);
  return scenarios;
}

}  // namespace koord::scenario
