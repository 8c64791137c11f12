#include "localcluster/apiserver/apply/managed_fields.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kube/time.h"
#include "localcluster/apiserver/apply/field_walk.h"
#include "localcluster/apiserver/apply/managers.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

constexpr size_t kMaxManagerName = 128;

const Json* ManagedFieldsOf(const Json* object) {
  return object == nullptr ? nullptr : kube::Find(*object, {"metadata", "managedFields"});
}

Json Copy(const Json* value) { return value == nullptr ? Json() : *value; }

// [] and [{}]: the client asks to forget all owners.
bool IsReset(const Json& managed_fields) {
  const json::array* entries = managed_fields.if_array();
  if (entries == nullptr) return false;
  if (entries->empty()) return true;
  return entries->size() == 1 && entries->front().is_object() &&
         entries->front().get_object().empty();
}

// The owners before the write.
Managers ManagersBefore(const Json* live, Json& updated, const FieldWriter& writer) {
  const Json* stored = ManagedFieldsOf(live);
  Json* sent = kube::Find(updated, {"metadata", "managedFields"});
  if (sent != nullptr && stored != nullptr && kube::Equal(*sent, *stored)) {
    return Managers::Trusted(std::exchange(*sent, nullptr));
  }
  // Only the main endpoint lets clients edit them.
  if (sent == nullptr || !writer.subresource.empty()) return Managers::Trusted(Copy(stored));
  if (IsReset(*sent)) return {};
  auto parsed = Managers::Parse(*sent);
  if (!parsed.ok() || parsed->empty()) return Managers::Trusted(Copy(stored));
  return *std::move(parsed);
}

void SetManagedFields(Json& object, Managers managers) {
  json::object* metadata =
      object.is_object() ? kube::At(object, {"metadata"}).if_object() : nullptr;
  if (metadata == nullptr) return;
  if (managers.empty()) {
    metadata->erase("managedFields");
  } else {
    (*metadata)["managedFields"] = std::move(managers).ToJson(metadata->storage());
  }
}

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

// Entries that differ in nothing but their times.
bool SameEntries(const Json* a, const Json* b) {
  const json::array* first = a == nullptr ? nullptr : a->if_array();
  const json::array* second = b == nullptr ? nullptr : b->if_array();
  const size_t size = first == nullptr ? 0 : first->size();
  if (size != (second == nullptr ? 0 : second->size())) return false;
  for (size_t i = 0; i < size; ++i) {
    const json::object *x = (*first)[i].if_object(), *y = (*second)[i].if_object();
    if (x == nullptr || y == nullptr) return false;
    for (const std::string_view member :
         {"manager", "operation", "apiVersion", "subresource", "fieldsV1"}) {
      const Json *p = x->if_contains(member), *q = y->if_contains(member);
      if ((p == nullptr) != (q == nullptr)) return false;
      if (p != nullptr && !kube::Equal(*p, *q)) return false;
    }
  }
  return true;
}

// Every member of `a` is in `b` and equal, but for those that `skip` names.
template <class Skip>
bool Covers(const json::object& a, const json::object& b, Skip skip) {
  return std::all_of(a.begin(), a.end(), [&](const auto& member) {
    if (skip(member.key())) return true;
    const Json* counterpart = b.if_contains(member.key());
    return counterpart != nullptr && kube::Equal(member.value(), *counterpart);
  });
}

template <class Skip>
bool SameMembers(const json::object& a, const json::object& b, Skip skip) {
  const auto absent = [&](const auto& member) {
    return !skip(member.key()) && !a.contains(member.key());
  };
  return Covers(a, b, skip) && std::none_of(b.begin(), b.end(), absent);
}

}  // namespace

void TrackUpdate(const Json* live, Json& updated, const FieldWriter& writer,
                 const FieldSchema& schema) {
  Managers managers = ManagersBefore(live, updated, writer);
  if (managers.empty() && live != nullptr) return SetManagedFields(updated, {});
  FieldDiff diff = Compare(live, updated, schema);
  for (Manager& manager : managers.list()) {
    if (!diff.removed.empty()) manager.fields.Remove(diff.removed);
    if (!diff.changed.empty() && !manager.Is(writer, "Update")) manager.fields.Remove(diff.changed);
  }
  if (!diff.changed.empty()) {
    Manager& own = managers.FindOrAdd(writer, "Update");
    own.fields.Add(std::move(diff.changed));
    own.time = kube::FormatTime(writer.time);
  }
  managers.Tidy();
  SetManagedFields(updated, std::move(managers));
}

FieldErrors ValidateFieldManager(std::string_view manager, bool apply) {
  if (manager.empty() && apply) return {Required("fieldManager", "is required for apply patch")};
  if (manager.size() > kMaxManagerName) return {TooLong("fieldManager", kMaxManagerName)};
  if (!IsPrintable(manager)) {
    return {Invalid("fieldManager", Json(manager), "should only contain printable characters")};
  }
  return {};
}

std::string_view ManagerFromUserAgent(std::string_view user_agent) {
  const std::string_view name = user_agent.substr(0, user_agent.find('/'));
  return name.substr(0, kMaxManagerName);
}

bool UnchangedButForTimes(const Json& live, const Json& updated) {
  const json::object *a = live.if_object(), *b = updated.if_object();
  if (a == nullptr || b == nullptr) return kube::Equal(live, updated);
  if (!SameMembers(*a, *b, [](std::string_view name) { return name == "metadata"; })) return false;
  const json::object* old_metadata = kube::FindObject(live, {"metadata"});
  const json::object* new_metadata = kube::FindObject(updated, {"metadata"});
  if (old_metadata == nullptr || new_metadata == nullptr) return old_metadata == new_metadata;
  return SameMembers(*old_metadata, *new_metadata,
                     [](std::string_view name) {
                       return name == "managedFields" || name == "resourceVersion";
                     }) &&
         SameEntries(ManagedFieldsOf(&live), ManagedFieldsOf(&updated));
}

}  // namespace koord::apiserver
