#include "localcluster/apiserver/core/event_versions.h"

#include <string_view>
#include <utility>

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

struct Renamed {
  std::string_view core;
  std::string_view events;
};

constexpr Renamed kRenamed[] = {
    {"message", "note"},
    {"involvedObject", "regarding"},
    {"reportingComponent", "reportingController"},
    {"count", "deprecatedCount"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"source", "deprecatedSource"},
};

void Rename(Json& event, std::string_view Renamed::*from, std::string_view Renamed::*to) {
  json::object* members = event.if_object();
  if (members == nullptr) return;
  for (const Renamed& names : kRenamed) {
    const auto it = members->find(names.*from);
    if (it == members->end()) continue;
    Json value = std::move(it->value());
    members->erase(it);
    (*members)[names.*to] = std::move(value);
  }
}

}  // namespace

void EventToCore(Json& event) { Rename(event, &Renamed::events, &Renamed::core); }
void EventFromCore(Json& event) { Rename(event, &Renamed::core, &Renamed::events); }

}  // namespace koord::apiserver
