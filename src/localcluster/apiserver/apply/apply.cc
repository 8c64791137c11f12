#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "kube/api_error.h"
#include "kube/time.h"
#include "localcluster/apiserver/apply/field_walk.h"
#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/apply/managers.h"

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

std::string ConflictMessage(const std::vector<Conflict>& conflicts) {
  if (conflicts.size() == 1) {
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
  return fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), Join(lines, "\n"));
}

Status ConflictError(std::vector<Conflict> conflicts) {
  std::sort(conflicts.begin(), conflicts.end());
  kube::ApiError error;
  error.code = 409;
  error.reason = "Conflict";
  error.message = ConflictMessage(conflicts);
  error.has_details = true;
  for (const Conflict& conflict : conflicts) {
    error.causes.push_back(
        {"FieldManagerConflict", "conflict with " + conflict.manager, conflict.path});
  }
  return kube::ToStatus(error);
}

class Application {
 public:
  Application(const Json* live, const Json& applied, const ApplyOptions& options,
              const FieldSchema& schema)
      : options_(options), schema_(schema), applied_(applied), is_update_(live != nullptr) {
    if (live == nullptr) return;
    live_ = *live;
    json::object* metadata = Metadata(live_);
    Json* entries = metadata == nullptr ? nullptr : metadata->if_contains("managedFields");
    if (entries == nullptr) return;
    managers_ = Managers::Trusted(std::move(*entries));
    metadata->erase("managedFields");
  }

  StatusOr<Json> Run() {
    if (!applied_.is_object()) return BadRequest("expected an object to apply");
    if (const Json* sent = kube::Find(applied_, {"metadata", "managedFields"});
        sent != nullptr && !sent->is_null()) {
      return BadRequest("metadata.managedFields must be nil");
    }
    if (options_.reset != nullptr) RemoveFromObject(applied_, *options_.reset, {}, schema_);
    if (is_update_ && managers_.empty()) AttributeExistingFields();

    auto merged = Merge(live_, applied_, schema_);
    if (!merged.ok()) return BadRequest(std::string(Message(merged.status())));
    merged_ = *std::move(merged);
    applied_fields_ = FieldsOf(applied_, schema_);
    RemoveWhatIsNoLongerApplied();
    RETURN_IF_ERROR(TakeOwnership());
    UpdateLastApplied();
    managers_.Tidy();
    if (!managers_.empty()) {
      kube::At(merged_, {"metadata", "managedFields"}) = std::move(managers_).ToJson();
    }
    return std::move(merged_);
  }

 private:
  static json::object* Metadata(Json& object) {
    Json* metadata = kube::Find(object, {"metadata"});
    return metadata == nullptr ? nullptr : metadata->if_object();
  }

  // Before anybody applied, nobody had to keep record: what exists belongs to the time before.
  void AttributeExistingFields() {
    FieldWriter before = options_.writer;
    const std::string api_version(kube::FindString(live_, {"apiVersion"}));
    before.manager = "before-first-apply";
    before.api_version = api_version;
    before.subresource = {};
    Manager& manager = managers_.FindOrAdd(before, "Update");
    manager.fields = Compare(nullptr, live_, schema_).changed;
    manager.time = kube::FormatTime(before.time);
  }

  void RemoveWhatIsNoLongerApplied() {
    const Manager* own = managers_.Find(options_.writer, "Apply");
    if (own == nullptr) return;
    FieldSet kept = applied_fields_;
    for (const Manager& manager : managers_.list()) {
      if (&manager != own) kept.Add(manager.fields);
    }
    RemoveFromObject(merged_, own->fields, kept, schema_);
  }

  Status TakeOwnership() {
    const FieldDiff diff = Compare(is_update_ ? &live_ : nullptr, merged_, schema_);
    if (!options_.force) RETURN_IF_ERROR(CheckConflicts(diff));
    for (Manager& manager : managers_.list()) {
      if (manager.Is(options_.writer, "Apply")) continue;
      manager.fields.Remove(diff.changed);
      manager.fields.Remove(diff.removed);
    }
    Manager& own = managers_.FindOrAdd(options_.writer, "Apply");
    const bool same = own.fields == applied_fields_;
    if (!same || !diff.changed.empty() || !diff.removed.empty()) {
      own.time = kube::FormatTime(options_.writer.time);
    }
    if (!same) own.fields = applied_fields_;
    return absl::OkStatus();
  }

  Status CheckConflicts(const FieldDiff& diff) {
    const FieldSet forgiven = ForgivenConflicts();
    std::vector<Conflict> conflicts;
    for (const Manager& manager : managers_.list()) {
      if (manager.Is(options_.writer, "Apply")) continue;
      FieldSet contested = manager.fields.Intersection(diff.changed);
      contested.Remove(forgiven);
      contested.ForEach([&](const std::string& path) {
        conflicts.push_back({ManagerText(manager), path});
      });
    }
    return conflicts.empty() ? absl::OkStatus() : ConflictError(std::move(conflicts));
  }

  // Users of `kubectl apply` who turn to --server-side must not fight with themselves: what the
  // annotation of the client-side way set, and nobody has touched since, is theirs.
  FieldSet ForgivenConflicts() const {
    if (options_.writer.manager != kKubectl) return {};
    const std::string_view text =
        kube::FindString(live_, {"metadata", "annotations", kLastApplied});
    if (text.empty()) return {};
    const auto last = kube::ParseJson(text);
    if (!last.ok() || !last->is_object()) return {};
    FieldSet unchanged = FieldsOf(*last, schema_);
    auto reapplied = Merge(live_, *last, schema_);
    if (!reapplied.ok()) return {};
    unchanged.Remove(Compare(&live_, *reapplied, schema_).changed);
    return unchanged;
  }

  // The annotation of the client-side way, where there is one, keeps saying what was applied.
  void UpdateLastApplied() {
    if (options_.writer.manager != kKubectl || !options_.writer.subresource.empty()) return;
    if (kube::FindString(live_, {"metadata", "annotations", kLastApplied}).empty()) return;
    Json* annotation = kube::Find(merged_, {"metadata", "annotations", kLastApplied});
    if (annotation != nullptr) *annotation = kube::Serialize(applied_) + "\n";
  }

  const ApplyOptions& options_;
  const FieldSchema& schema_;
  Json applied_;
  const bool is_update_;
  Json live_ = json::object();
  Managers managers_;
  Json merged_;
  FieldSet applied_fields_;
};

}  // namespace

StatusOr<Json> Apply(const Json* live, const Json& applied, const ApplyOptions& options,
                     const FieldSchema& schema) {
  return Application(live, applied, options, schema).Run();
}

}  // namespace koord::apiserver
