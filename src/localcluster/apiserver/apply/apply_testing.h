#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "kube/json.h"
#include "kube/schema/type.h"
#include "kube/time.h"
#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/registry/registry_testing.h"

// What the tests of field ownership share.
namespace koord::apiserver {

inline const FieldSchema& BuiltinSchema(std::string_view api_version, std::string_view kind) {
  return FieldSchema::Of(kube::FindBuiltinType(api_version, kind));
}

// The nth minute of the tests' hour.
inline WallTime Minute(int minute) {
  return kube::ParseTime("2026-07-01T10:00:00Z").value() + std::chrono::minutes(minute);
}

inline FieldWriter Writer(std::string_view manager, int minute = 0,
                          std::string_view subresource = {}, std::string_view api_version = "v1") {
  return {manager, api_version, subresource, Minute(minute)};
}

// "a Update 10:01; b Apply 10:02": the owners without what they own.
inline std::string Owners(const kube::Json& object) {
  std::vector<std::string> texts;
  if (const auto* entries = kube::FindArray(object, {"metadata", "managedFields"})) {
    for (const kube::Json& entry : *entries) {
      const std::string_view time = kube::FindString(entry, {"time"});
      const std::string_view subresource = kube::FindString(entry, {"subresource"});
      texts.push_back(fmt::format("{}{}{} {} {}", kube::FindString(entry, {"manager"}),
                                  subresource.empty() ? "" : "/", subresource,
                                  kube::FindString(entry, {"operation"}),
                                  time.size() < 16 ? time : time.substr(11, 5)));
    }
  }
  return Join(texts, "; ");
}

// What a manager owns: ".spec.replicas .metadata.labels.app"; "none" if it has no entry.
inline std::string Owned(const kube::Json& object, std::string_view manager,
                         std::string_view operation = "Update", std::string_view subresource = {}) {
  if (const auto* entries = kube::FindArray(object, {"metadata", "managedFields"})) {
    for (const kube::Json& entry : *entries) {
      if (kube::FindString(entry, {"manager"}) != manager ||
          kube::FindString(entry, {"operation"}) != operation ||
          kube::FindString(entry, {"subresource"}) != subresource) {
        continue;
      }
      std::vector<std::string> paths;
      const auto set = FieldSet::Parse(*kube::Find(entry, {"fieldsV1"}));
      EXPECT_TRUE(set.ok());
      if (set.ok()) set->ForEach([&](const std::string& path) { paths.push_back(path); });
      return Join(paths, " ");
    }
  }
  return "none";
}

}  // namespace koord::apiserver
