#include "cli/scenario/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/scenario/kinds.h"
#include "cli/scenario/manifest.h"
#include "cli/scenario/match.h"
#include "kube/eviction/pod_eviction.h"
#include "kube/resources.h"

namespace koord::scenario {
namespace {

using kube::Json;
using kube::ObjectKey;
using kube::Resource;
using Lines = std::vector<std::string>;

constexpr char kFieldManager[] = "koord-test";
// How long what was just made may take to reach all who decide by it.
constexpr Duration kSpread = std::chrono::seconds(30);

std::string Describe(const Target& target, const std::string& ns) {
  std::string text = target.kind;
  if (!target.name.empty()) text += " " + ObjectKey{ns, target.name}.ToString();
  if (!target.labels.empty()) text += " with labels " + target.labels;
  if (!target.node.empty()) text += " on node " + target.node;
  return text;
}

Lines Shorten(const Lines& names) {
  constexpr size_t kMost = 10;
  if (names.size() <= kMost) return names;
  Lines shorter(names.begin(), names.begin() + kMost);
  shorter.push_back(fmt::format("... and {} more", names.size() - kMost));
  return shorter;
}

class Run {
 public:
  Run(const Scenario& scenario, Environment& environment, const Progress& progress)
      : scenario_(scenario), environment_(environment), progress_(progress), kinds_(environment) {}

  Outcome Execute();

 private:
  struct Found {
    Resource resource;
    ObjectKey key;
  };

  Status RunStep(const Step& step);
  Status RunRefused(const Step& step);
  Status Apply(const Json& manifest, bool create_only);
  bool MayBeThere(const Found& found) const;
  StatusOr<Json> Admitted(const std::function<void(kube::Client::Done)>& call);
  Status WriteStatus(const Found& found, const Json& object);
  Status Delete(const Target& target);
  Status Patch(const Step& step);
  Status Evict(const Target& target);
  bool IsRefusedAsStated(const Step& step, const Status& status) const;
  bool CheckRefusal(const std::string& where, const Step& step, const Status& status);

  // Nothing found wrong: empty.
  StatusOr<Lines> Check(const Expectation& expectation);
  StatusOr<Lines> CheckOnce(const Expectation& expectation);
  StatusOr<Lines> CheckGet(const Expectation& expectation);
  StatusOr<Lines> CheckAbsent(const Expectation& expectation);
  StatusOr<Lines> CheckCount(const Expectation& expectation);
  StatusOr<Lines> CheckEvent(const EventPattern& pattern);
  bool CheckAll(const std::vector<Expectation>& expectations, const std::string& where);

  StatusOr<Resource> FindKind(std::string_view api_version, std::string_view kind);
  StatusOr<Found> Find(const Target& target);
  Status CheckOwned(const Found& found);
  StatusOr<Json> Get(const Found& found);
  StatusOr<Json> List(const Resource& resource, const std::string& ns,
                      const kube::ListOptions& options);
  bool Fail(const std::string& where, const Status& status);
  // Calls `attempt` until `enough` holds for what it returns, or for so long.
  template <class Attempt, class Enough>
  auto Retry(Duration most, Attempt attempt, Enough enough) {
    constexpr Duration kInterval = std::chrono::milliseconds(200);
    auto result = attempt();
    for (Duration waited{0}; waited < most && !enough(result); waited += kInterval) {
      if (environment_.interrupted()) break;
      environment_.Advance(kInterval);
      result = attempt();
    }
    return result;
  }

  const Scenario& scenario_;
  Environment& environment_;
  const Progress& progress_;
  Kinds kinds_;
  Outcome outcome_;
  bool rehearsing_ = false;        // what is created, applied or patched is not kept
  bool is_to_be_refused_ = false;  // the step under way
};

// A definition that was just made may take a moment to be served.
StatusOr<Resource> Run::FindKind(std::string_view api_version, std::string_view kind) {
  return Retry(
      std::min(environment_.patience(), kSpread), [&] { return kinds_.Find(api_version, kind); },
      [](const StatusOr<Resource>& found) { return found.ok(); });
}

StatusOr<Run::Found> Run::Find(const Target& target) {
  ASSIGN_OR_RETURN(const Resource resource, FindKind(target.api_version, target.kind));
  std::string ns;
  if (resource.namespaced) ns = target.ns.empty() ? environment_.default_namespace() : target.ns;
  return Found{resource, {ns, target.name}};
}

Status Run::CheckOwned(const Found& found) {
  if (environment_.Owns(found.resource.kind, found.key)) return absl::OkStatus();
  return FailedPrecondition(
      "{} {} was not made by this scenario; on a live cluster nothing else is changed",
      found.resource.kind, found.key.ToString());
}

StatusOr<Json> Run::Get(const Found& found) {
  return Await(environment_, [&](kube::Client::Done done) {
    environment_.client().Get(found.resource, found.key, std::move(done));
  });
}

StatusOr<Json> Run::List(const Resource& resource, const std::string& ns,
                         const kube::ListOptions& options) {
  return Await(environment_, [&](kube::Client::Done done) {
    environment_.client().List(resource, ns, options, std::move(done));
  });
}

// Whoever brings a node may say what belongs to it, although the cluster may have made that
// already; and so with the manager and its namespace.
bool Run::MayBeThere(const Found& found) const {
  if (scenario_.runs_manager && found.resource.kind == "Namespace") {
    return found.key.name == "koordinator-system";
  }
  constexpr std::string_view kKinds[] = {"NodeMetric", "NodeSLO", "NodeResourceTopology", "Device"};
  return std::find(std::begin(kKinds), std::end(kKinds), found.resource.kind) != std::end(kKinds) &&
         environment_.Owns("Node", found.key);
}

Status Run::Apply(const Json& manifest, bool create_only) {
  ASSIGN_OR_RETURN(const Resource resource, FindKind(kube::FindString(manifest, {"apiVersion"}),
                                                     kube::FindString(manifest, {"kind"})));
  const Json object = CompleteManifest(manifest, resource, environment_.default_namespace());
  const Found found{resource, kube::ObjectKeyOf(object)};
  if (found.key.name.empty() && kube::FindString(object, {"metadata", "generateName"}).empty()) {
    return InvalidArgument("a {} needs metadata.name", resource.kind);
  }
  if (resource.namespaced) {
    RETURN_IF_ERROR(CheckOwned(found));
  } else if (!create_only && !environment_.Owns(resource.kind, found.key) && Get(found).ok()) {
    return CheckOwned(found);
  }
  const bool create = create_only && !MayBeThere(found);
  const StatusOr<Json> written = Admitted([&](kube::Client::Done done) {
    const kube::WriteOptions options{
        .field_manager = kFieldManager, .force = !create, .dry_run = rehearsing_};
    if (create) {
      environment_.client().Create(resource, found.key.ns, object, options, std::move(done));
    } else {
      environment_.client().Patch(resource, found.key, kube::PatchType::kApply, object, options,
                                  std::move(done));
    }
  });
  if (!written.ok() || rehearsing_) return written.status();
  const Found made{resource, kube::ObjectKeyOf(*written)};
  environment_.Created(resource, *written);
  return WriteStatus(made, object);
}

// Those who admit an object may not know yet what it needs, such as the priority class that a pod
// names; asked again, they do.
StatusOr<Json> Run::Admitted(const std::function<void(kube::Client::Done)>& call) {
  const Duration most =
      is_to_be_refused_ ? Duration::zero() : std::min(environment_.patience(), kSpread);
  return Retry(
      most, [&] { return Await(environment_, call); },
      [](const StatusOr<Json>& written) { return kube::HttpCode(written.status()) != 403; });
}

// Most kinds ignore status on their main endpoint; a scenario may state it all the same.
Status Run::WriteStatus(const Found& found, const Json& object) {
  const Json* status = kube::Find(object, {"status"});
  if (status == nullptr) return absl::OkStatus();
  return Await(environment_,
               [&](kube::Client::Done done) {
                 environment_.client().Patch(found.resource, found.key, kube::PatchType::kMerge,
                                             Json{{"status", *status}}, {.subresource = "status"},
                                             std::move(done));
               })
      .status();
}

Status Run::Delete(const Target& target) {
  ASSIGN_OR_RETURN(const Found found, Find(target));
  RETURN_IF_ERROR(CheckOwned(found));
  return Await(environment_,
               [&](kube::Client::Done done) {
                 environment_.client().Delete(found.resource, found.key,
                                              {.propagation_policy = "Background"},
                                              std::move(done));
               })
      .status();
}

Status Run::Patch(const Step& step) {
  ASSIGN_OR_RETURN(const Found found, Find(step.target));
  RETURN_IF_ERROR(CheckOwned(found));
  return Await(environment_,
               [&](kube::Client::Done done) {
                 environment_.client().Patch(found.resource, found.key, kube::PatchType::kMerge,
                                             step.merge,
                                             {.subresource = step.subresource,
                                              .field_manager = kFieldManager,
                                              .dry_run = rehearsing_},
                                             std::move(done));
               })
      .status();
}

Status Run::Evict(const Target& target) {
  ASSIGN_OR_RETURN(const Found found, Find(target));
  RETURN_IF_ERROR(CheckOwned(found));
  const Json eviction = kube::EvictionOf(found.key, {});
  return Await(environment_,
               [&](kube::Client::Done done) {
                 environment_.client().CreateSubresource(found.resource, found.key, eviction,
                                                         {.subresource = "eviction"},
                                                         std::move(done));
               })
      .status();
}

bool Run::IsRefusedAsStated(const Step& step, const Status& status) const {
  return !status.ok() && MatchText(step.error, Message(status));
}

// A step that is to be refused is an expectation, too.
bool Run::CheckRefusal(const std::string& where, const Step& step, const Status& status) {
  if (IsRefusedAsStated(step, status)) return true;
  outcome_.kind = Outcome::Kind::kFailed;
  outcome_.report = {
      where + ": the step is not refused as expected", "  error", "    - expected " + step.error,
      "    + found    " + (status.ok() ? "(accepted)" : std::string(Message(status)))};
  return false;
}

Status Run::RunStep(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kApply:
      return Apply(step.manifest, false);
    case Step::Kind::kCreate:
      return Apply(step.manifest, true);
    case Step::Kind::kDelete:
      return Delete(step.target);
    case Step::Kind::kPatch:
      return Patch(step);
    case Step::Kind::kEvict:
      return Evict(step.target);
    case Step::Kind::kAdvance:
      environment_.Advance(step.span);
      return absl::OkStatus();
    case Step::Kind::kExpect:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

// What refuses it, such as a quota that was just made, may reach a live API server a moment later.
// Until then the step is rehearsed: once accepted, it could not be tried again.
Status Run::RunRefused(const Step& step) {
  is_to_be_refused_ = true;
  const Duration most = std::min(environment_.patience(), kSpread);
  const bool can_rehearse = step.kind == Step::Kind::kCreate || step.kind == Step::Kind::kApply ||
                            step.kind == Step::Kind::kPatch;
  if (can_rehearse && most > Duration::zero()) {
    rehearsing_ = true;
    (void)Retry(
        most, [&] { return RunStep(step); },
        [&](const Status& status) { return IsRefusedAsStated(step, status); });
    rehearsing_ = false;
  }
  const Status status = RunStep(step);
  is_to_be_refused_ = false;
  return status;
}

StatusOr<Lines> Run::CheckGet(const Expectation& expectation) {
  ASSIGN_OR_RETURN(const Found found, Find(expectation.target));
  const StatusOr<Json> object = Get(found);
  const std::string what = Describe(expectation.target, found.key.ns);
  if (kube::IsNotFound(object.status())) return Lines{what + " does not exist"};
  RETURN_IF_ERROR(object.status());
  const std::vector<Mismatch> mismatches =
      expectation.match.is_null() ? std::vector<Mismatch>() : Match(expectation.match, *object);
  if (mismatches.empty()) return Lines();
  Lines lines{what + " is not as expected"};
  for (const Mismatch& mismatch : mismatches) {
    lines.push_back("  " + mismatch.path);
    lines.push_back("    - expected " + mismatch.expected);
    lines.push_back("    + found    " + mismatch.actual);
  }
  return lines;
}

StatusOr<Lines> Run::CheckAbsent(const Expectation& expectation) {
  ASSIGN_OR_RETURN(const Found found, Find(expectation.target));
  const StatusOr<Json> object = Get(found);
  if (kube::IsNotFound(object.status())) return Lines();
  RETURN_IF_ERROR(object.status());
  return Lines{Describe(expectation.target, found.key.ns) + " exists, but should be absent"};
}

StatusOr<Lines> Run::CheckCount(const Expectation& expectation) {
  const Target& target = expectation.target;
  ASSIGN_OR_RETURN(const Found found, Find(target));
  kube::ListOptions options{.label_selector = target.labels};
  if (!target.node.empty()) options.field_selector = "spec.nodeName=" + target.node;
  ASSIGN_OR_RETURN(const Json list, List(found.resource, found.key.ns, options));
  Lines names;
  for (const Json& item : *kube::FindArray(list, {"items"})) {
    const std::string name(kube::FindString(item, {"metadata", "name"}));
    if (target.name.empty() || target.name == name) names.push_back(name);
  }
  if (static_cast<int64_t>(names.size()) == expectation.count) return Lines();
  return Lines{fmt::format("{}: expected {}, found {}", Describe(target, found.key.ns),
                           expectation.count, names.size()),
               "  found " + (names.empty() ? "none" : Join(Shorten(names), ", "))};
}

bool EventMatches(const EventPattern& pattern, const Json& event) {
  const auto matches = [&](const std::string& expected,
                           std::initializer_list<std::string_view> path) {
    return expected.empty() || MatchText(expected, kube::FindString(event, path));
  };
  return matches(pattern.reason, {"reason"}) && matches(pattern.type, {"type"}) &&
         matches(pattern.message, {"message"}) &&
         matches(pattern.kind, {"involvedObject", "kind"}) &&
         matches(pattern.name, {"involvedObject", "name"});
}

// An event that repeats is counted by its recorder, in one of two places.
int64_t TimesOf(const Json& event) {
  int64_t times = 1;
  for (const Json* count : {kube::Find(event, {"count"}), kube::Find(event, {"series", "count"})}) {
    if (count != nullptr && count->is_int64()) times = std::max(times, count->get_int64());
  }
  return times;
}

StatusOr<Lines> Run::CheckEvent(const EventPattern& pattern) {
  ASSIGN_OR_RETURN(const Json list, List(kube::kEvents, "", {}));
  int64_t times = 0;
  Lines others;
  for (const Json& event : *kube::FindArray(list, {"items"})) {
    const Json* about = kube::Find(event, {"involvedObject"});
    if (about == nullptr || !environment_.OwnsReferenced(*about)) continue;
    if (EventMatches(pattern, event)) times += TimesOf(event);
    others.push_back(fmt::format("  {} {}/{}: {}", kube::FindString(event, {"reason"}),
                                 kube::FindString(event, {"involvedObject", "kind"}),
                                 kube::FindString(event, {"involvedObject", "name"}),
                                 Trim(kube::FindString(event, {"message"}))));
  }
  if (pattern.times ? times == *pattern.times : times > 0) return Lines();
  const std::string what =
      fmt::format("event with reason {} for {}/{} and message {}", Quote(pattern.reason),
                  pattern.kind, pattern.name, Quote(pattern.message));
  Lines lines{pattern.times
                  ? fmt::format("{} recorded {} times, expected {}", what, times, *pattern.times)
                  : "no " + what};
  if (!others.empty()) lines.push_back("  events there are:");
  for (const std::string& line : Shorten(others)) lines.push_back("  " + line);
  return lines;
}

StatusOr<Lines> Run::CheckOnce(const Expectation& expectation) {
  switch (expectation.kind) {
    case Expectation::Kind::kGet:
      return CheckGet(expectation);
    case Expectation::Kind::kAbsent:
      return CheckAbsent(expectation);
    case Expectation::Kind::kCount:
      return CheckCount(expectation);
    case Expectation::Kind::kEvent:
      return CheckEvent(expectation.event);
  }
  return Lines();
}

StatusOr<Lines> Run::Check(const Expectation& expectation) {
  return Retry(
      environment_.patience(), [&] { return CheckOnce(expectation); },
      [](const StatusOr<Lines>& lines) { return !lines.ok() || lines->empty(); });
}

bool Run::Fail(const std::string& where, const Status& status) {
  outcome_.kind = Outcome::Kind::kError;
  outcome_.report = {where + ": " + std::string(Message(status))};
  return false;
}

bool Run::CheckAll(const std::vector<Expectation>& expectations, const std::string& where) {
  for (size_t i = 0; i < expectations.size(); ++i) {
    const std::string at = fmt::format("{}[{}] (line {})", where, i, expectations[i].line);
    progress_(at);
    const StatusOr<Lines> wrong = Check(expectations[i]);
    if (!wrong.ok()) return Fail(at, wrong.status());
    if (wrong->empty()) continue;
    outcome_.kind = Outcome::Kind::kFailed;
    outcome_.report = *wrong;
    outcome_.report.front() = at + ": " + outcome_.report.front();
    return false;
  }
  return true;
}

Outcome Run::Execute() {
  for (size_t i = 0; i < scenario_.given.size(); ++i) {
    const Manifest& manifest = scenario_.given[i];
    const std::string at = fmt::format("given[{}] (line {})", i, manifest.line);
    progress_(at);
    if (Status status = Apply(manifest.object, true); !status.ok()) {
      Fail(at, status);
      return outcome_;
    }
  }
  environment_.Settle();
  for (size_t i = 0; i < scenario_.when.size(); ++i) {
    const Step& step = scenario_.when[i];
    const std::string at = fmt::format("when[{}] (line {})", i, step.line);
    progress_(at);
    const Status status = step.error.empty() ? RunStep(step) : RunRefused(step);
    if (!step.error.empty()) {
      if (!CheckRefusal(at, step, status)) return outcome_;
    } else if (!status.ok()) {
      Fail(at, status);
      return outcome_;
    }
    environment_.Settle();
    if (!CheckAll(step.expectations, fmt::format("when[{}].expect", i))) return outcome_;
  }
  CheckAll(scenario_.then, "then");
  return outcome_;
}

}  // namespace

Outcome RunScenario(const Scenario& scenario, Environment& environment, const Progress& progress) {
  return Run(scenario, environment, progress).Execute();
}

}  // namespace koord::scenario
