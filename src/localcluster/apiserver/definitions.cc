#include "localcluster/apiserver/definitions.h"

#include "base/log.h"
#include "kube/resources.h"
#include "localcluster/apiserver/core/object_meta.h"
#include "localcluster/apiserver/write/bootstrap.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

bool HasCondition(const Json& crd, std::string_view type) {
  const json::array* conditions = kube::FindArray(crd, {"status", "conditions"});
  if (conditions == nullptr) return false;
  for (const Json& condition : *conditions) {
    if (kube::FindString(condition, {"type"}) == type) {
      return kube::FindString(condition, {"status"}) == "True";
    }
  }
  return false;
}

// What other definitions need to know of one.
Json NamesOf(const Json& crd) {
  Json names = json::object();
  for (const char* field : {"group", "names"}) {
    if (const Json* value = kube::Find(crd, {"spec", field})) {
      kube::At(names, {"spec", field}) = *value;
    }
  }
  kube::At(names, {"metadata", "name"}) = kube::FindString(crd, {"metadata", "name"});
  if (const Json* status = kube::Find(crd, {"status"})) kube::At(names, {"status"}) = *status;
  return names;
}

}  // namespace

Definitions::Definitions(Core& core, Writer& writer, Watches& watches)
    : core_(core), writer_(writer), watches_(watches) {
  const kube::Resource& resource = kube::kCustomResourceDefinitions;
  definition_info_ = core_.registry.Find(resource.group, resource.version, resource.resource);
  const std::string stored_as = definition_info_->stored_as();
  core_.Observe(stored_as, [this](const EntryPtr& before, const EntryPtr& after) {
    OnWritten(before, after);
  });
  std::vector<EntryPtr> stored;
  core_.store
      .Range(stored_as, "", "", 0,
             [&](const EntryPtr& entry) {
               stored.push_back(entry);
               return true;
             })
      .IgnoreError();
  for (const EntryPtr& entry : stored) OnWritten(nullptr, entry);
}

void Definitions::OnWritten(const EntryPtr& before, const EntryPtr& after) {
  if (after == nullptr) return Uninstall(before->key);
  Install(*after);
}

void Definitions::Install(const Entry& entry) {
  const StatusOr<Json> crd = kube::ParseJson(entry.value);
  if (!crd.ok()) return;
  const std::string name = entry.key;
  core_.definitions[name] = NamesOf(*crd);
  if (!HasCondition(*crd, "Established")) return;

  const int64_t generation = kube::FindInt(*crd, {"metadata", "generation"});
  CustomState& state = core_.customs[name];
  const bool changed = state.resource == nullptr || state.generation != generation;
  if (changed) {
    auto compiled = CustomResource::Compile(*crd);
    if (!compiled.ok()) {
      LOG_ERROR("Cannot serve a custom resource", {"definition", name}, {"err", compiled.status()});
      core_.customs.erase(name);
      return;
    }
    if (observed_.insert(name).second) {
      core_.Observe(name, [this, name](const EntryPtr&, const EntryPtr& after) {
        const auto it = core_.customs.find(name);
        const bool waits = it != core_.customs.end() && it->second.terminating;
        if (after == nullptr && waits) core_.Post([this, name] { FinishDeletion(name); });
      });
    }
    state.resource = std::move(*compiled);
    state.generation = generation;
    state.schema_since = entry.revision;
    state.field_schemas.clear();
    std::vector<ResourceInfoPtr> served;
    for (const CustomVersion& version : state.resource->versions) {
      state.field_schemas[version.info->resource.version] =
          std::make_shared<const OpenApiFieldSchema>(version.info->schema);
      if (version.served) served.push_back(version.info);
    }
    core_.registry.SetCustom(state.resource->group,
                             state.resource->storage().info->resource.resource, std::move(served));
  }
  if (IsBeingDeleted(*crd) && !state.terminating) {
    state.terminating = true;
    core_.Post([this, name] { DeleteObjects(name); });
  }
}

void Definitions::Uninstall(const std::string& name) {
  core_.definitions.erase(name);
  const auto it = core_.customs.find(name);
  std::string group = name.substr(name.find('.') + 1);
  if (it != core_.customs.end()) {
    const CustomResource& resource = *it->second.resource;
    core_.registry.RemoveCustom(resource.group, resource.storage().info->resource.resource);
    core_.customs.erase(it);
    watches_.EndResource(name);
  }
  core_.Post([this, group] { AcceptWaiting(group); });
}

void Definitions::AcceptWaiting(std::string_view group) {
  std::vector<std::string> waiting;
  for (const auto& [name, definition] : core_.definitions) {
    if (kube::FindString(definition, {"spec", "group"}) != group) continue;
    if (!HasCondition(definition, "Established")) waiting.push_back(name);
  }
  for (const std::string& name : waiting) {
    // Every write of a definition judges its names again.
    writer_.Update(
        IntentFor(definition_info_, name), [](const Json& current) { return current; },
        [](const StatusOr<Written>&) {});
  }
}

WriteIntent Definitions::IntentFor(const ResourceInfoPtr& info, std::string_view key) const {
  WriteIntent intent;
  intent.info = info;
  const size_t slash = key.find('/');
  if (slash != std::string_view::npos) intent.ns = key.substr(0, slash);
  intent.name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  intent.user = ServerUser();
  return intent;
}

void Definitions::DeleteObjects(const std::string& name) {
  const auto it = core_.customs.find(name);
  if (it == core_.customs.end()) return;
  const ResourceInfoPtr info = it->second.resource->storage().info;
  std::vector<std::string> keys;
  core_.store
      .Range(name, "", "", 0,
             [&](const EntryPtr& entry) {
               keys.push_back(entry->key);
               return true;
             })
      .IgnoreError();
  for (const std::string& key : keys) {
    writer_.Delete(IntentFor(info, key), {}, [name, key](const StatusOr<Written>& written) {
      if (written.ok() || kube::IsNotFound(written.status())) return;
      LOG_WARNING("Could not delete an object of a deleted definition", {"definition", name},
                  {"key", key}, {"err", written.status()});
    });
  }
  FinishDeletion(name);
}

void Definitions::FinishDeletion(const std::string& name) {
  if (core_.store.Count(name, "") > 0) return;
  writer_.Update(
      IntentFor(definition_info_, name),
      [](const Json& current) {
        Json object = current;
        json::array kept;
        if (const json::array* finalizers = kube::FindArray(object, {"metadata", "finalizers"})) {
          for (const Json& finalizer : *finalizers) {
            if (kube::FindString(finalizer, {}) != kDefinitionCleanupFinalizer) {
              kept.push_back(finalizer);
            }
          }
        }
        kube::At(object, {"metadata", "finalizers"}) = std::move(kept);
        return object;
      },
      [](const StatusOr<Written>&) {});
}

}  // namespace koord::apiserver
