#include "scheduler/extender/extender_client.h"

#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "kube/codec.h"

namespace koord::scheduler {
namespace {

using kube::Json;
namespace json = kube::json;

// An extender scores from 0 to 10, a plugin from 0 to 100.
constexpr int64_t kPluginPointsAPoint = 10;
// Scores beyond the range are taken as they come, as long as their sum can be told.
constexpr __int128 kMostPoints = std::numeric_limits<int64_t>::max() / 10'000;

// A member under its name in any case: extenders that are not written in Go differ in it.
const Json* Member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  for (const auto& [key, value] : object.get_object()) {
    if (!value.is_null() && EqualsIgnoreCase({key.data(), key.size()}, name)) return &value;
  }
  return nullptr;
}

std::string_view Text(const Json* value) {
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

const json::array* List(const Json* value) {
  return value == nullptr ? nullptr : value->if_array();
}

void AddRefused(const Json* nodes, bool unresolvable, ExtenderFilterResult& result) {
  if (nodes == nullptr || !nodes->is_object()) return;
  for (const auto& [node, why] : nodes->get_object()) {
    result.refused.push_back({std::string(node), std::string(Text(&why)), unresolvable});
  }
}

// The names that an answer lists, or nothing if it has no list at all.
std::optional<std::vector<std::string>> NamesIn(const Json& answer, bool by_name) {
  std::vector<std::string> names;
  if (const json::array* list = by_name ? List(Member(answer, "NodeNames")) : nullptr) {
    for (const Json& name : *list) names.emplace_back(Text(&name));
    return names;
  }
  const Json* nodes = Member(answer, "Nodes");
  if (nodes == nullptr) return {};
  if (const json::array* items = List(Member(*nodes, "items"))) {
    for (const Json& node : *items)
      names.emplace_back(kube::FindString(node, {"metadata", "name"}));
  }
  return names;
}

bool Mentions(const std::vector<kube::Container>& containers,
              const std::vector<ExtenderManagedResource>& managed) {
  return std::ranges::any_of(containers, [&](const kube::Container& container) {
    const auto mentions = [&](const ExtenderManagedResource& resource) {
      return container.resources.requests.contains(resource.name) ||
             container.resources.limits.contains(resource.name);
    };
    return std::ranges::any_of(managed, mentions);
  });
}

}  // namespace

ExtenderClient::ExtenderClient(Extender settings, std::shared_ptr<kube::Transport> transport)
    : settings_(std::move(settings)), transport_(std::move(transport)) {}

bool ExtenderClient::IsInterestedIn(const kube::Pod& pod) const {
  const auto& managed = settings_.managed_resources;
  return managed.empty() || Mentions(pod.spec.containers, managed) ||
         Mentions(pod.spec.init_containers, managed);
}

// ---- The protocol

Json ExtenderClient::Args(const kube::Pod& pod, const ExtenderNodes& nodes) const {
  json::object args{{"Pod", kube::Encode(pod)}, {"Nodes", nullptr}, {"NodeNames", nullptr}};
  json::array list;
  list.reserve(nodes.size());
  if (settings_.node_cache_capable) {
    for (const auto& node : nodes) list.emplace_back(node->metadata.name);
    args["NodeNames"] = std::move(list);
  } else {
    for (const auto& node : nodes) list.push_back(kube::Encode(*node));
    args["Nodes"] = json::object{{"metadata", json::object()}, {"items", std::move(list)}};
  }
  return args;
}

void ExtenderClient::Filter(const kube::Pod& pod, const ExtenderNodes& nodes,
                            Done<ExtenderFilterResult> done) {
  StringSet shown;
  for (const auto& node : nodes) shown.insert(node->metadata.name);
  Send(settings_.filter_verb, Args(pod, nodes),
       [this, shown = std::move(shown), done = std::move(done)](StatusOr<Json> answer) mutable {
         if (!answer.ok()) return done(std::move(answer).status());
         done(ReadFilterResult(*answer, shown));
       });
}

StatusOr<ExtenderFilterResult> ExtenderClient::ReadFilterResult(const Json& answer,
                                                                const StringSet& shown) const {
  if (const std::string_view error = Text(Member(answer, "Error")); !error.empty()) {
    return Internal("{}", error);
  }
  ExtenderFilterResult result;
  result.nodes = NamesIn(answer, settings_.node_cache_capable).value_or(std::vector<std::string>());
  for (const std::string& node : result.nodes) {
    if (shown.contains(node)) continue;
    return Internal(
        "extender {} claims a filtered node {} which is not found in the input node list",
        Quote(url()), Quote(node, 64));
  }
  AddRefused(Member(answer, "FailedAndUnresolvableNodes"), true, result);
  AddRefused(Member(answer, "FailedNodes"), false, result);
  return result;
}

void ExtenderClient::Prioritize(const kube::Pod& pod, const ExtenderNodes& nodes,
                                Done<Scores> done) {
  Send(settings_.prioritize_verb, Args(pod, nodes),
       [this, done = std::move(done)](StatusOr<Json> answer) mutable {
         if (!answer.ok()) return done(std::move(answer).status());
         done(ReadScores(*answer));
       });
}

StatusOr<ExtenderClient::Scores> ExtenderClient::ReadScores(const Json& answer) const {
  const json::array* list = List(&answer);
  if (list == nullptr) {
    return Internal("{} answered no list of hosts", UrlOf(settings_.prioritize_verb));
  }
  Scores scores;
  for (const Json& each : *list) {
    const Json* score = Member(each, "Score");
    const std::string_view host = Text(Member(each, "Host"));
    if (score == nullptr) continue;  // nothing to add
    if (!score->is_int64()) {
      return Internal("{} answered a score of {} that is no whole number",
                      UrlOf(settings_.prioritize_verb), Quote(host, 64));
    }
    const __int128 points = static_cast<__int128>(score->get_int64()) * settings_.weight;
    scores[std::string(host)] =
        kPluginPointsAPoint * static_cast<int64_t>(std::clamp(points, -kMostPoints, kMostPoints));
  }
  return scores;
}

void ExtenderClient::Preempt(const kube::Pod& pod, const std::vector<EvictionPlan>& plans,
                             FindPod find, Done<std::vector<EvictionPlan>> done) {
  json::object nodes;
  for (const EvictionPlan& plan : plans) {
    json::array victims;
    for (const auto& victim : plan.victims) {
      victims.push_back(settings_.node_cache_capable
                            ? Json(json::object{{"UID", victim->metadata.uid}})
                            : kube::Encode(*victim));
    }
    nodes[plan.node] =
        json::object{{"Pods", std::move(victims)}, {"NumPDBViolations", plan.violations}};
  }
  json::object args{{"Pod", kube::Encode(pod)},
                    {"NodeNameToVictims", nullptr},
                    {"NodeNameToMetaVictims", nullptr}};
  args[settings_.node_cache_capable ? "NodeNameToMetaVictims" : "NodeNameToVictims"] =
      std::move(nodes);
  Send(settings_.preempt_verb, args,
       [this, find = std::move(find), done = std::move(done)](StatusOr<Json> answer) mutable {
         if (!answer.ok()) return done(std::move(answer).status());
         done(ReadPlans(*answer, find));
       });
}

StatusOr<std::vector<EvictionPlan>> ExtenderClient::ReadPlans(const Json& answer,
                                                              const FindPod& find) const {
  std::vector<EvictionPlan> plans;
  const Json* nodes = Member(answer, "NodeNameToMetaVictims");
  if (nodes == nullptr || !nodes->is_object()) return plans;
  for (const auto& [node, victims] : nodes->get_object()) {
    EvictionPlan plan{.node = std::string(node)};
    if (const Json* violations = Member(victims, "NumPDBViolations")) {
      plan.violations = violations->is_int64() ? violations->get_int64() : 0;
    }
    if (const json::array* pods = List(Member(victims, "Pods"))) {
      for (const Json& pod : *pods) {
        const std::string_view uid = Text(Member(pod, "UID"));
        auto victim = find(plan.node, uid);
        if (victim == nullptr) {
          return Internal(
              "extender: {} claims to preempt pod (UID: {}) on node: {}, but the pod is not found "
              "on that node",
              url(), Quote(uid, 64), Quote(plan.node, 64));
        }
        plan.victims.push_back(std::move(victim));
      }
    }
    if (plan.victims.empty() && settings_.ignorable) continue;
    if (plan.victims.empty()) {
      return Internal("expected at least one victim pod on node {}", Quote(plan.node, 64));
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

void ExtenderClient::Bind(const kube::Pod& pod, std::string_view node,
                          absl::AnyInvocable<void(Status)> done) {
  const json::object args{{"PodName", pod.metadata.name},
                          {"PodNamespace", pod.metadata.ns},
                          {"PodUID", pod.metadata.uid},
                          {"Node", node}};
  Send(settings_.bind_verb, args, [done = std::move(done)](StatusOr<Json> answer) mutable {
    if (!answer.ok()) return done(std::move(answer).status());
    const std::string_view error = Text(Member(*answer, "Error"));
    done(error.empty() ? absl::OkStatus() : Internal("{}", error));
  });
}

// ---- Carrying it

std::string ExtenderClient::UrlOf(const std::string& verb) const {
  std::string_view prefix = url();
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return fmt::format("{}/{}", prefix, verb);
}

void ExtenderClient::Send(const std::string& verb, const Json& args, Done<Json> done) {
  kube::HttpRequest request{.method = "POST", .target = "/" + verb, .body = kube::Serialize(args)};
  request.headers.Set("Content-Type", "application/json");
  transport_->Send(std::move(request), settings_.http_timeout,
                   scope_.Wrap([this, verb, done = std::move(done)](
                                   StatusOr<kube::HttpResponse> answer) mutable {
                     done(ReadAnswer(verb, answer));
                   }));
}

StatusOr<Json> ExtenderClient::ReadAnswer(const std::string& verb,
                                          const StatusOr<kube::HttpResponse>& answer) const {
  if (!answer.ok()) {
    return Unavailable("Post {}: {}", Quote(UrlOf(verb)), Message(answer.status()));
  }
  if (answer->status != 200) {
    return Internal("failed {} with extender at URL {}, code {}", verb, UrlOf(verb),
                    answer->status);
  }
  StatusOr<Json> parsed = kube::ParseJson(answer->body);
  if (!parsed.ok()) {
    return Internal("the answer of {} is no JSON: {}", UrlOf(verb), Message(parsed.status()));
  }
  return parsed;
}

}  // namespace koord::scheduler
