#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/shorten.h"
#include "base/strings.h"
#include "kube/api_error.h"
#include "kube/time.h"
#include "localcluster/apiserver/apply/field_walk.h"
#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/apply/managers.h"
#include "localcluster/apiserver/registry/json_edit.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view kKubectl = "kubectl";

Status BadRequest(std::string message) {
  kube::ApiError error;
  error.code = 400;
  error.reason = "BadRequest";
  error.message = std::move(message);
  return kube::ToStatus(error);
}

// More conflicts than this are only counted.
constexpr size_t kMaxConflicts = 1000;
constexpr size_t kMaxPath = 1024;

struct Conflict {
  std::string manager;  // as users see it
  std::string path;
  bool operator<(const Conflict& other) const {
    return std::tie(manager, path) < std::tie(other.manager, other.path);
  }
};

// `"foo" using v1 at 2001-02-03T04:05:06Z`
std::string ManagerText(const Manager& manager) {
  std::string text = kube::Serialize(Json(manager.manager));
  if (!manager.subresource.empty()) {
    text += fmt::format(" with subresource {}", kube::Serialize(Json(manager.subresource)));
  }
  if (manager.applies()) return text;
  text += fmt::format(" using {}", manager.api_version);
  if (!manager.time.empty()) text += fmt::format(" at {}", manager.time);
  return text;
}

std::string ConflictMessage(const std::vector<Conflict>& conflicts, size_t count) {
  if (count == 1) {
    return fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].manager,
                       conflicts[0].path);
  }
  std::vector<std::string> lines;
  for (size_t i = 0; i < conflicts.size(); ++i) {
    if (i == 0 || conflicts[i].manager != conflicts[i - 1].manager) {
      lines.push_back(fmt::format("conflicts with {}:", conflicts[i].manager));
    }
    lines.push_back(fmt::format("- {}", conflicts[i].path));
  }
  if (count > conflicts.size()) {
    lines.push_back(fmt::format("and {} more conflicts", count - conflicts.size()));
  }
  return fmt::format("Apply failed with {} conflicts: {}", count, Join(lines, "\n"));
}

// `count` is the number of all conflicts, the others being the first of them.
Status ConflictError(std::vector<Conflict> conflicts, size_t count) {
  std::sort(conflicts.begin(), conflicts.end());
  kube::ApiError error;
  error.code = 409;
  error.reason = "Conflict";
  error.message = ConflictMessage(conflicts, count);
  error.has_details = true;
  for (const Conflict& conflict : conflicts) {
    error.causes.push_back(
        {"FieldManagerConflict", "conflict with " + conflict.manager, conflict.path});
  }
  return kube::ToStatus(error);
}

// Whether the object has one of the fields.
bool HasAny(const Json& value, const FieldSet::Tree& fields) {
  const json::object* object = value.if_object();
  return object != nullptr && std::ranges::any_of(fields, [&](const auto& field) {
           const std::string_view key = field.key();
           const Json* member =
               key.starts_with("f:") ? object->if_contains(key.substr(2)) : nullptr;
           const json::object* below = field.value().if_object();
           return member != nullptr &&
                  (below == nullptr || below->empty() || HasAny(*member, *below));
         });
}

// A copy of what is in it. Its owners are left out, for they may be the larger part.
Json WithoutOwners(const Json& object, const json::storage_ptr& memory) {
  json::object copy(memory);
  for (const auto& member : object.as_object()) {
    const json::object* metadata =
        member.key() == "metadata" ? member.value().if_object() : nullptr;
    if (metadata == nullptr) {
      copy.emplace(member.key(), member.value());
      continue;
    }
    json::object fields(memory);
    for (const auto& field : *metadata) {
      if (field.key() != "managedFields") fields.emplace(field.key(), field.value());
    }
    copy.emplace(member.key(), std::move(fields));
  }
  return copy;
}

// Null if it has not applied any.
const FieldSet::Tree* FieldsAppliedBy(const FieldWriter& writer, const Json& managed_fields) {
  const json::array* entries = managed_fields.if_array();
  if (entries == nullptr) return nullptr;
  for (const Json& entry : *entries) {
    if (Manager::Of(entry).Is(writer, kApplyOperation))
      return kube::FindObject(entry, {"fieldsV1"});
  }
  return nullptr;
}

class Application {
 public:
  Application(const Json* live, const Json& applied, const ApplyOptions& options,
              const FieldSchema& schema)
      : options_(options), schema_(schema), live_(live), applied_(&applied) {}

  StatusOr<Json> Run() {
    if (!applied_->is_object()) return BadRequest("expected an object to apply");
    if (const Json* sent = kube::Find(*applied_, {"metadata", "managedFields"});
        sent != nullptr && !sent->is_null()) {
      return BadRequest("metadata.managedFields must be nil");
    }
    LeaveOutResetFields();
    TakeLiveObject();
    if (const Status merged = Merge(merged_, *applied_, schema_); !merged.ok()) {
      return BadRequest(std::string(Message(merged)));
    }
    applied_fields_ = FieldsOf(*applied_, schema_, memory_);
    RETURN_IF_ERROR(live_ == nullptr ? OwnAll() : TakeOwnership());
    UpdateLastApplied();
    managers_.Tidy();
    if (!managers_.empty()) {
      kube::At(merged_, {"metadata", "managedFields"}) = std::move(managers_).ToJson(memory_);
    }
    return std::move(merged_);
  }

 private:
  void LeaveOutResetFields() {
    if (options_.reset == nullptr || !HasAny(*applied_, options_.reset->tree())) return;
    allowed_ = *applied_;
    applied_ = &allowed_;
    RemoveFromObject(allowed_, options_.reset->tree(), {}, schema_);
  }

  void TakeLiveObject() {
    if (live_ == nullptr) return;
    merged_ = WithoutOwners(*live_, memory_);
    if (const Json* entries = kube::Find(*live_, {"metadata", "managedFields"})) {
      managers_ = Managers::BeforeApply(*entries, options_.writer, memory_);
      applied_before_ = FieldsAppliedBy(options_.writer, *entries);
    }
    if (managers_.empty()) AttributeExistingFields();
  }

  // Before anybody applied, nobody had to keep record: what exists belongs to the time before.
  void AttributeExistingFields() {
    FieldWriter before = options_.writer;
    const std::string api_version(kube::FindString(*live_, {"apiVersion"}));
    before.manager = "before-first-apply";
    before.api_version = api_version;
    before.subresource = {};
    Manager& manager = managers_.FindOrAdd(before, "Update");
    manager.fields = Compare(nullptr, *live_, schema_).changed;
    manager.time = kube::FormatTime(before.time);
  }

  // Of a new object.
  Status OwnAll() {
    Manager& own = managers_.FindOrAdd(options_.writer, kApplyOperation);
    own.time = kube::FormatTime(options_.writer.time);
    own.fields = std::move(applied_fields_);
    return absl::OkStatus();
  }

  void RemoveWhatIsNoLongerApplied() {
    FieldSet kept = applied_fields_;
    for (const Manager& manager : managers_.list()) {
      if (!manager.Is(options_.writer, kApplyOperation)) kept.Add(manager.fields);
    }
    RemoveFromObject(merged_, *applied_before_, kept, schema_);
  }

  Status TakeOwnership() {
    const bool same = applied_before_ != nullptr
                          ? SameMembers(*applied_before_, applied_fields_.tree())
                          : applied_fields_.empty();
    if (applied_before_ != nullptr && !same) RemoveWhatIsNoLongerApplied();
    const FieldDiff diff = Compare(live_, merged_, schema_);
    if (!options_.force) RETURN_IF_ERROR(CheckConflicts(diff));
    for (Manager& manager : managers_.list()) {
      if (manager.Is(options_.writer, kApplyOperation)) continue;
      manager.fields.Remove(diff.changed);
      manager.fields.Remove(diff.removed);
    }
    Manager& own = managers_.FindOrAdd(options_.writer, kApplyOperation);
    if (!same || !diff.changed.empty() || !diff.removed.empty()) {
      own.time = kube::FormatTime(options_.writer.time);
    }
    own.fields = std::move(applied_fields_);
    return absl::OkStatus();
  }

  Status CheckConflicts(const FieldDiff& diff) {
    const FieldSet forgiven = ForgivenConflicts();
    std::vector<Conflict> conflicts;
    size_t count = 0;
    for (const Manager& manager : managers_.list()) {
      if (manager.Is(options_.writer, kApplyOperation)) continue;
      FieldSet contested = manager.fields.Intersection(diff.changed);
      contested.Remove(forgiven);
      contested.ForEach([&](const std::string& path) {
        if (++count > kMaxConflicts) return;
        conflicts.push_back({ManagerText(manager), Shorten(path, kMaxPath)});
      });
    }
    return count == 0 ? absl::OkStatus() : ConflictError(std::move(conflicts), count);
  }

  // Users of `kubectl apply` who turn to --server-side must not fight with themselves: what the
  // annotation of the client-side way set, and nobody has touched since, is theirs.
  FieldSet ForgivenConflicts() const {
    if (options_.writer.manager != kKubectl) return {};
    const std::string_view text =
        kube::FindString(*live_, {"metadata", "annotations", kLastApplied});
    if (text.empty()) return {};
    const auto last = kube::ParseJson(text);
    if (!last.ok() || !last->is_object()) return {};
    FieldSet unchanged = FieldsOf(*last, schema_);
    Json reapplied = *live_;
    if (!Merge(reapplied, *last, schema_).ok()) return {};
    unchanged.Remove(Compare(live_, reapplied, schema_).changed);
    return unchanged;
  }

  // The annotation of the client-side way, where there is one, keeps saying what was applied.
  void UpdateLastApplied() {
    if (options_.writer.manager != kKubectl || !options_.writer.subresource.empty()) return;
    if (live_ == nullptr) return;
    if (kube::FindString(*live_, {"metadata", "annotations", kLastApplied}).empty()) return;
    Json* annotation = kube::Find(merged_, {"metadata", "annotations", kLastApplied});
    if (annotation != nullptr) *annotation = kube::Serialize(*applied_) + "\n";
  }

  const ApplyOptions& options_;
  const FieldSchema& schema_;
  const Json* const live_;  // null: there is none yet
  const Json* applied_;
  Json allowed_;  // what is applied, where the endpoint does not allow all of it
  const FieldSet::Tree* applied_before_ = nullptr;  // in the live object; null: none by this writer
  // The object that is made, and who owns what of it. Nearly all of it lives as long as the object.
  const json::storage_ptr memory_ = json::make_shared_resource<json::monotonic_resource>();
  Managers managers_;
  Json merged_ = json::object(memory_);
  FieldSet applied_fields_;
};

}  // namespace

StatusOr<Json> Apply(const Json* live, const Json& applied, const ApplyOptions& options,
                     const FieldSchema& schema) {
  return Application(live, applied, options, schema).Run();
}

}  // namespace koord::apiserver
