#include "cli/scenario/live_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>

#include "base/duration.h"
#include "base/version.h"
#include "cli/scenario/manifest.h"
#include "kube/resources.h"
#include "kube/transport/kubeconfig.h"

namespace koord::scenario {
namespace {

using kube::Json;

constexpr Duration kLongestWait = std::chrono::minutes(2);
// How long controllers may take to make ready what a scenario has made.
constexpr Duration kLongestDelay = std::chrono::seconds(30);
constexpr char kManagersNamespace[] = "koordinator-system";
constexpr Duration kInterval = std::chrono::milliseconds(100);

// The first Node that the scenario makes or changes; nothing if it leaves them alone.
std::optional<std::string> NodeOf(const Scenario& scenario) {
  const auto describe = [](std::string_view name, int line) {
    return fmt::format("Node {} (line {})", name, line);
  };
  const auto is_node = [](const Json& manifest) {
    return kube::FindString(manifest, {"kind"}) == "Node";
  };
  for (const Manifest& manifest : scenario.given) {
    if (is_node(manifest.object))
      return describe(kube::ObjectKeyOf(manifest.object).name, manifest.line);
  }
  for (const Step& step : scenario.when) {
    if (is_node(step.manifest)) return describe(kube::ObjectKeyOf(step.manifest).name, step.line);
    if (step.target.kind == "Node") return describe(step.target.name, step.line);
  }
  return {};
}

// Whether the scenario writes the manager's namespace or something in it.
bool ChangesManagersNamespace(const Scenario& scenario) {
  const auto is_there = [](const Json& manifest) {
    const kube::ObjectKey key = kube::ObjectKeyOf(manifest);
    const bool is_namespace = kube::FindString(manifest, {"kind"}) == "Namespace";
    return (is_namespace ? key.name : key.ns) == kManagersNamespace;
  };
  return std::any_of(scenario.given.begin(), scenario.given.end(),
                     [&](const Manifest& manifest) { return is_there(manifest.object); }) ||
         std::any_of(scenario.when.begin(), scenario.when.end(), [&](const Step& step) {
           return is_there(step.manifest) || step.target.ns == kManagersNamespace;
         });
}

// Whether the list there has an item with these members.
bool HasItem(const Json& object, std::initializer_list<std::string_view> list,
             std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  const kube::json::array* items = kube::FindArray(object, list);
  if (items == nullptr) return false;
  return std::any_of(items->begin(), items->end(), [&](const Json& item) {
    return std::all_of(members.begin(), members.end(), [&](const auto& member) {
      return kube::FindString(item, {member.first}) == member.second;
    });
  });
}

Status Clarified(std::string_view what, const Status& status) {
  return Internal("{}: {}", what, Message(status));
}

}  // namespace

std::optional<std::string> NeedsOwnCluster(const Scenario& scenario) {
  for (const auto& [name, config] : {std::pair("scheduler", &scenario.scheduler_config),
                                     std::pair("descheduler", &scenario.descheduler_config)}) {
    if (!config->is_null()) {
      return fmt::format("it configures the {}; a live cluster's runs already", name);
    }
  }
  if (!scenario.manager_flags.empty()) {
    return "it configures the manager; a live cluster's runs already";
  }
  if (scenario.runs_manager && ChangesManagersNamespace(scenario)) {
    return fmt::format("it changes {}, where a live cluster's manager lives", kManagersNamespace);
  }
  Duration total{0};
  for (const Step& step : scenario.when) total += step.span;
  if (total <= kLongestWait) return {};
  return fmt::format("it lets {} pass; in real time at most {} are waited for",
                     FormatDuration(total), FormatDuration(kLongestWait));
}

// Ctrl-C ends the scenario, not the clean-up.
class LiveEnvironment::Signals {
 public:
  explicit Signals(LiveEnvironment& environment)
      : environment_(environment), set_(environment.loop_.context(), SIGINT, SIGTERM) {
    Wait();
  }

 private:
  void Wait() {
    set_.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      environment_.interrupted_ = true;
      Wait();
    });
  }

  LiveEnvironment& environment_;
  boost::asio::signal_set set_;
};

LiveEnvironment::LiveEnvironment() : signals_(std::make_unique<Signals>(*this)) {}

LiveEnvironment::~LiveEnvironment() = default;

StatusOr<std::unique_ptr<LiveEnvironment>> LiveEnvironment::Connect(const std::string& kubeconfig) {
  std::unique_ptr<LiveEnvironment> environment(new LiveEnvironment());
  ASSIGN_OR_RETURN(const kube::ClientConfig config,
                   kube::LoadClientConfig({.kubeconfig = kubeconfig}));
  ASSIGN_OR_RETURN(auto transport, kube::MakeTransport(environment->loop_, config));
  environment->client_ = std::make_unique<kube::Client>(
      environment->loop_, std::move(transport),
      kube::Client::Options{.user_agent = fmt::format("koord-test/{}", kVersion)});
  return environment;
}

StatusOr<std::optional<std::string>> LiveEnvironment::WhyNot(const Scenario& scenario) {
  if (auto reason = NeedsOwnCluster(scenario)) return reason;
  if (scenario.runs_manager && !HasManager()) return "it is about koord-manager, which nobody runs";
  const auto node = NodeOf(scenario);
  if (!node) return std::nullopt;
  ASSIGN_OR_RETURN(const Json nodes, Await(*this, [&](kube::Client::Done done) {
                     client_->List(kube::kNodes, "", {}, std::move(done));
                   }));
  const kube::json::array* items = kube::FindArray(nodes, {"items"});
  if (items == nullptr || items->empty()) return std::nullopt;
  return fmt::format(
      "it is about {}, but the cluster has nodes already, such as {}: pods would mix", *node,
      kube::FindString(items->front(), {"metadata", "name"}));
}

// One that leads renews its lease, and gives it back when it ends.
bool LiveEnvironment::HasManager() {
  const StatusOr<Json> lease = Await(*this, [&](kube::Client::Done done) {
    client_->Get(kube::kLeases, {kManagersNamespace, "koordinator-manager"}, std::move(done));
  });
  return lease.ok() && !kube::FindString(*lease, {"spec", "holderIdentity"}).empty();
}

Status LiveEnvironment::MakeNamespace() {
  const Json manifest{{"apiVersion", "v1"},
                      {"kind", "Namespace"},
                      {"metadata",
                       {{"generateName", "koord-test-"},
                        {"labels", {{"app.kubernetes.io/managed-by", "koord-test"}}}}}};
  const StatusOr<Json> made = Await(*this, [&](kube::Client::Done done) {
    client_->Create(kube::kNamespaces, "", manifest, {}, std::move(done));
  });
  if (!made.ok()) return Clarified("cannot make a namespace", made.status());
  ns_ = kube::ObjectKeyOf(*made).name;
  Created(kube::kNamespaces, *made);
  return absl::OkStatus();
}

// Pods are refused until the account exists that they run as. A cluster without the controller that
// makes it may not need it either.
void LiveEnvironment::WaitForServiceAccount(const std::string& ns) {
  WaitUntil([&] { return !IsGone({kube::kServiceAccounts, {ns, "default"}}); }, kLongestDelay);
}

// Expectations wait for what the cluster does. But a node takes no pods until a controller has seen
// that it is ready, and where pods go depends on which nodes take some.
void LiveEnvironment::Settle() {
  for (const std::string& node : std::exchange(new_nodes_, {})) {
    WaitUntil([&] { return !IsHeldBack(node); }, kLongestDelay);
  }
}

bool LiveEnvironment::IsHeldBack(const std::string& node) {
  const StatusOr<Json> found = Await(*this, [&](kube::Client::Done done) {
    client_->Get(kube::kNodes, {"", node}, std::move(done));
  });
  if (!found.ok()) return false;
  return HasItem(*found, {"spec", "taints"}, {{"key", "node.kubernetes.io/not-ready"}}) &&
         HasItem(*found, {"status", "conditions"}, {{"type", "Ready"}, {"status", "True"}});
}

void LiveEnvironment::Created(const kube::Resource& resource, const Json& object) {
  const kube::ObjectKey key = kube::ObjectKeyOf(object);
  const kube::json::array* finalizers = kube::FindArray(object, {"metadata", "finalizers"});
  auto known = std::find_if(made_.begin(), made_.end(), [&](const Made& made) {
    return made.resource == resource && made.key == key;
  });
  if (known == made_.end()) {
    known = made_.insert(known, {resource, key, finalizers != nullptr && !finalizers->empty()});
  }
  known->uids.emplace(kube::FindString(object, {"metadata", "uid"}));
  if (resource == kube::kNodes) new_nodes_.push_back(key.name);
  if (resource == kube::kNamespaces && namespaces_.insert(key.name).second) {
    WaitForServiceAccount(key.name);
  }
}

bool LiveEnvironment::Owns(std::string_view kind, const kube::ObjectKey& key) const {
  if (!key.ns.empty()) return namespaces_.contains(key.ns);
  return std::any_of(made_.begin(), made_.end(), [&](const Made& made) {
    return made.resource.kind == kind && made.key == key;
  });
}

// What has no namespace may have the name of what the scenario before has made. Kubelets put a
// node's name where its uid belongs.
bool LiveEnvironment::OwnsReferenced(const Json& reference) const {
  if (!Environment::OwnsReferenced(reference)) return false;
  const std::string_view uid = kube::FindString(reference, {"uid"});
  const std::string_view name = kube::FindString(reference, {"name"});
  if (!kube::FindString(reference, {"namespace"}).empty() || uid.empty() || uid == name)
    return true;
  return std::any_of(made_.begin(), made_.end(), [&](const Made& made) {
    return made.key.name == name && made.uids.contains(uid);
  });
}

Status LiveEnvironment::CleanUp() {
  interrupted_ = false;
  for (const Made& made : made_) {
    if (made.has_finalizers && made.resource != kube::kNamespaces) ReleaseFinalizers(made);
  }
  Status outcome = DeleteNamespaces();
  std::vector<Made> removed;
  // Last made, first removed: a definition outlives its objects, a class those that name it.
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    if (made->resource.namespaced || made->resource == kube::kNamespaces) continue;
    if (Status status = Delete(*made); !status.ok() && outcome.ok()) outcome = status;
    removed.push_back(*made);
  }
  RETURN_IF_ERROR(outcome);
  // The next scenario may use the same names.
  for (const Made& made : removed) {
    if (!WaitUntil([&] { return IsGone(made); })) {
      return Internal("{} {} is still being deleted", made.resource.kind, made.key.name);
    }
  }
  return absl::OkStatus();
}

void LiveEnvironment::ReleaseFinalizers(const Made& made) {
  (void)Await(*this, [&](kube::Client::Done done) {
    client_->Patch(made.resource, made.key, kube::PatchType::kMerge,
                   Json{{"metadata", {{"finalizers", nullptr}}}}, {}, std::move(done));
  });
}

// A namespace that the scenario names may be named by the next, which must not find it. That made
// for the scenario alone may go in its own time, but not what its nodes and volumes are used by.
Status LiveEnvironment::DeleteNamespaces() {
  for (const std::string& ns : namespaces_) RETURN_IF_ERROR(Delete({kube::kNamespaces, {"", ns}}));
  for (const std::string& ns : namespaces_) {
    const auto is_empty = [&] {
      return IsEmpty(kube::kPods, ns) && IsEmpty(kube::kPersistentVolumeClaims, ns);
    };
    // Nobody needs these pods to end in peace.
    for (const kube::Resource& resource : {kube::kPods, kube::kPersistentVolumeClaims}) {
      (void)Await(*this, [&](kube::Client::Done done) {
        client_->DeleteCollection(resource, ns, {}, {.grace_period_seconds = 0}, std::move(done));
      });
    }
    const bool gone = ns == ns_ ? WaitUntil(is_empty) : WaitUntil([&] {
      return IsGone({kube::kNamespaces, {"", ns}});
    });
    if (!gone) return Internal("Namespace {} is still being deleted", ns);
  }
  return absl::OkStatus();
}

bool LiveEnvironment::WaitUntil(const std::function<bool()>& done, Duration most) {
  const SteadyTime end = loop_.clock().Steady() + most;
  bool so = done();
  while (!so && !interrupted_ && loop_.clock().Steady() < end) {
    Advance(kInterval);
    so = done();
  }
  return so;
}

bool LiveEnvironment::IsEmpty(const kube::Resource& resource, const std::string& ns) {
  const StatusOr<Json> list = Await(*this, [&](kube::Client::Done done) {
    client_->List(resource, ns, {.limit = 1}, std::move(done));
  });
  const kube::json::array* items = list.ok() ? kube::FindArray(*list, {"items"}) : nullptr;
  return list.ok() && (items == nullptr || items->empty());
}

bool LiveEnvironment::IsGone(const Made& made) {
  return kube::IsNotFound(Await(*this, [&](kube::Client::Done done) {
                            client_->Get(made.resource, made.key, std::move(done));
                          }).status());
}

Status LiveEnvironment::Delete(const Made& made) {
  const Status status = Await(*this, [&](kube::Client::Done done) {
                          client_->Delete(made.resource, made.key,
                                          {.propagation_policy = "Background"}, std::move(done));
                        }).status();
  if (status.ok() || kube::IsNotFound(status)) return absl::OkStatus();
  return Clarified(fmt::format("{} {} cannot be deleted", made.resource.kind, made.key.name),
                   status);
}

bool LiveEnvironment::RunUntil(const std::function<bool()>& done) {
  const SteadyTime deadline = loop_.clock().Steady() + std::chrono::minutes(1);
  while (!done() && !interrupted_ && loop_.clock().Steady() < deadline) loop_.RunOnce(kInterval);
  return done();
}

void LiveEnvironment::Advance(Duration span) {
  const SteadyTime end = loop_.clock().Steady() + span;
  while (!interrupted_ && loop_.clock().Steady() < end) {
    loop_.RunOnce(end - loop_.clock().Steady());
  }
}

}  // namespace koord::scenario
