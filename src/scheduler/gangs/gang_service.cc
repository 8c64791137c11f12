#include "scheduler/gangs/gang_service.h"

#include <fmt/format.h>

#include <initializer_list>

#include "kube/time.h"

namespace koord::scheduler {
namespace {

namespace json = kube::json;
using kube::Json;
using State = GangBook::State;

// A set, as an object whose members say nothing.
Json PodKeys(const GangBook& book, const GangBook::Gang& gang, std::initializer_list<State> in) {
  json::object keys;
  for (const State state : in) {
    for (const std::string& uid : gang.in(state)) {
      keys[KeyOf(book.Find(uid)->pod->metadata).ToString()] = json::object();
    }
  }
  return keys;
}

Json KeyOfMember(const GangBook& book, const std::string& uid) {
  const GangBook::Member* member = book.Find(uid);
  return member == nullptr ? Json("") : Json(KeyOf(member->pod->metadata).ToString());
}

Json Ids(const std::vector<std::string>& ids) { return json::array(ids.begin(), ids.end()); }

Json DescribeGroup(const GangBook& book, const GangBook::Group& group, bool defined) {
  json::object waiting;
  for (const GangBook::Gang* gang : book.GangsOf(group)) {
    if (gang->waiting() != 0) waiting[gang->id] = json::object();
  }
  json::object binding;
  for (const std::string& uid : group.binding) binding[uid] = json::object();
  return {{"Initialized", defined},
          {"GangGroupId", group.id},
          {"GangGroup", Ids(group.gang_ids)},
          {"OnceResourceSatisfied", group.once_satisfied},
          {"WaitingGangIDs", std::move(waiting)},
          {"RepresentativePodKey", KeyOfMember(book, group.representative)},
          {"BindingMemberPods", std::move(binding)}};
}

Json Describe(const GangBook& book, const GangBook::Gang& gang) {
  const model::GangSpec spec = gang.spec.value_or(model::GangSpec());
  return {{"name", gang.id},
          {"waitTime", spec.wait.count()},
          {"createTime", kube::FormatTime(spec.created)},
          {"mode", ToString(spec.mode)},
          {"gangMatchPolicy", ToString(spec.policy)},
          {"minRequiredNumber", spec.min},
          {"totalChildrenNum", spec.total},
          {"gangGroup", Ids(gang.group->gang_ids)},
          {"children", PodKeys(book, gang, {State::kPending, State::kWaiting, State::kBound})},
          {"pendingChildren", PodKeys(book, gang, {State::kPending})},
          {"waitingForBindChildren", PodKeys(book, gang, {State::kWaiting})},
          {"boundChildren", PodKeys(book, gang, {State::kBound})},
          {"onceResourceSatisfied", gang.group->once_satisfied},
          {"gangGroupInfo", DescribeGroup(book, *gang.group, gang.spec.has_value())},
          {"gangFrom", spec.from_pod_group ? "GangFromPodGroupCrd" : "GangFromPodAnnotation"},
          {"hasGangInit", gang.spec.has_value()}};
}

}  // namespace

std::vector<ServicePlugin::Endpoint> GangEndpoints(const GangBook& book) {
  using Params = ServicePlugin::Params;
  return {{"gang/{namespace}/{name}",
           [&book](const Params& params) -> StatusOr<Json> {
             const std::string id = fmt::format("{}/{}", params.find("namespace")->second,
                                                params.find("name")->second);
             const GangBook::Gang* gang = book.FindGang(id);
             if (gang == nullptr) return NotFound("cannot find gang {}", id);
             return Describe(book, *gang);
           }},
          {"gangs", [&book](const Params&) -> StatusOr<Json> {
             json::object all;
             for (const auto& [id, gang] : book.gangs()) all[id] = Describe(book, *gang);
             return all;
           }}};
}

}  // namespace koord::scheduler
