#include "localcluster/apiserver/apply/managers.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "kube/time.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

// More writers than this that do not apply are remembered only together.
constexpr size_t kMaxUpdaters = 10;
constexpr std::string_view kAncient = "ancient-changes";

}  // namespace

Manager Manager::Of(const Json& entry) {
  Manager manager;
  manager.manager = kube::FindString(entry, {"manager"});
  manager.operation = kube::FindString(entry, {"operation"});
  manager.api_version = kube::FindString(entry, {"apiVersion"});
  manager.subresource = kube::FindString(entry, {"subresource"});
  manager.time = kube::FindString(entry, {"time"});
  return manager;
}

bool Manager::Is(const FieldWriter& writer, std::string_view wanted_operation) const {
  return manager == writer.manager && operation == wanted_operation &&
         api_version == writer.api_version && subresource == writer.subresource;
}

Managers Managers::Trusted(Json managed_fields) {
  Managers managers;
  json::array* entries = managed_fields.if_array();
  if (entries == nullptr) return managers;
  managers.list_.reserve(entries->size() + 1);
  for (Json& entry : *entries) {
    managers.list_.push_back(Manager::Of(entry));
    Json* fields = kube::Find(entry, {"fieldsV1"});
    if (fields != nullptr && fields->is_object()) {
      managers.list_.back().fields = FieldSet(std::move(fields->get_object()));
    }
  }
  return managers;
}

Managers Managers::BeforeApply(const Json& managed_fields, const FieldWriter& applier,
                               const json::storage_ptr& memory) {
  Managers managers;
  const json::array* entries = managed_fields.if_array();
  if (entries == nullptr) return managers;
  managers.list_.reserve(entries->size() + 1);
  for (const Json& entry : *entries) {
    Manager& manager = managers.list_.emplace_back(Manager::Of(entry));
    const json::object* fields = kube::FindObject(entry, {"fieldsV1"});
    if (fields == nullptr || manager.Is(applier, kApplyOperation)) continue;
    manager.fields = FieldSet(FieldSet::Tree(*fields, memory));
  }
  return managers;
}

StatusOr<Managers> Managers::Parse(const Json& managed_fields) {
  const json::array* entries = managed_fields.if_array();
  if (entries == nullptr) return InvalidArgument("managedFields: expected a list");
  Managers managers;
  using Identity = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Identity, size_t> places;
  for (const Json& entry : *entries) {
    Manager manager = Manager::Of(entry);
    if (manager.operation != kApplyOperation && manager.operation != "Update") {
      return InvalidArgument("managedFields: operation must be Apply or Update");
    }
    const std::string_view type = kube::FindString(entry, {"fieldsType"});
    const Json* fields = kube::Find(entry, {"fieldsV1"});
    if (type != "FieldsV1" || fields == nullptr) {
      return InvalidArgument("managedFields: fieldsType must be FieldsV1");
    }
    ASSIGN_OR_RETURN(manager.fields, FieldSet::Parse(*fields));
    const Identity identity(manager.manager, manager.operation, manager.api_version,
                            manager.subresource);
    const auto [place, is_new] = places.try_emplace(identity, managers.list_.size());
    if (is_new) {
      managers.list_.push_back(std::move(manager));
    } else {
      managers.list_[place->second].fields.Add(manager.fields);
    }
  }
  return managers;
}

Manager* Managers::Find(const FieldWriter& writer, std::string_view operation) {
  const auto found = std::find_if(list_.begin(), list_.end(),
                                  [&](const Manager& m) { return m.Is(writer, operation); });
  return found == list_.end() ? nullptr : &*found;
}

Manager& Managers::FindOrAdd(const FieldWriter& writer, std::string_view operation) {
  if (Manager* found = Find(writer, operation)) return *found;
  Manager& added = list_.emplace_back();
  added.manager = writer.manager;
  added.operation = operation;
  added.api_version = writer.api_version;
  added.subresource = writer.subresource;
  return added;
}

void Managers::Tidy() {
  std::erase_if(list_, [](const Manager& manager) { return manager.fields.empty(); });
  const auto order = [](const Manager& a, const Manager& b) {
    return std::tie(a.operation, a.time, a.manager, a.api_version, a.subresource) <
           std::tie(b.operation, b.time, b.manager, b.api_version, b.subresource);
  };
  std::sort(list_.begin(), list_.end(), order);
  MergeOldest();
  std::sort(list_.begin(), list_.end(), order);
}

// Expects the entries in order: the oldest updater is the first of them.
void Managers::MergeOldest() {
  const auto updaters = static_cast<size_t>(std::count_if(
      list_.begin(), list_.end(), [](const Manager& manager) { return !manager.applies(); }));
  if (updaters <= kMaxUpdaters) return;
  size_t excess = updaters - kMaxUpdaters;
  Manager ancient{std::string(kAncient), "Update", {}, {}, {}, {}};
  std::vector<Manager> kept;
  bool any_ancient = false;
  for (Manager& manager : list_) {
    const bool is_ancient = manager.manager == kAncient;
    // The first merge makes one entry of one; it takes a second to be rid of any.
    if (manager.applies() || (!is_ancient && excess == 0 && any_ancient)) {
      kept.push_back(std::move(manager));
      continue;
    }
    if (any_ancient && excess > 0) --excess;
    any_ancient = true;
    ancient.api_version = manager.api_version;
    ancient.time = manager.time;
    ancient.fields.Add(manager.fields);
  }
  kept.push_back(std::move(ancient));
  list_ = std::move(kept);
}

json::array Managers::ToJson(const json::storage_ptr& memory) && {
  json::array entries(memory);
  entries.reserve(list_.size());
  for (Manager& manager : list_) {
    json::object entry(memory);
    entry.reserve(7);
    entry.emplace("manager", manager.manager);
    entry.emplace("operation", manager.operation);
    entry.emplace("apiVersion", manager.api_version);
    if (!manager.time.empty()) entry.emplace("time", manager.time);
    entry.emplace("fieldsType", "FieldsV1");
    entry.emplace("fieldsV1", std::move(manager.fields).Take());
    if (!manager.subresource.empty()) entry.emplace("subresource", manager.subresource);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace koord::apiserver
