#pragma once
#include <map>
#include <optional>
#include <string>

#include "kube/objects/bytes.h"
#include "kube/objects/meta.h"

namespace koord::kube {

struct ConfigMap {
  ObjectMeta metadata;
  std::map<std::string, std::string, std::less<>> data;
  std::map<std::string, Bytes, std::less<>> binary_data;
  std::optional<bool> immutable;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("data", self.data);
    field("binaryData", self.binary_data);
    field("immutable", self.immutable);
  }
  bool operator==(const ConfigMap&) const = default;
};

struct Secret {
  ObjectMeta metadata;
  std::string type;
  std::map<std::string, Bytes, std::less<>> data;
  std::optional<bool> immutable;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("type", self.type);
    field("data", self.data);
    field("immutable", self.immutable);
  }
  bool operator==(const Secret&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::ConfigMap);
KOORD_DECLARE_CODEC(koord::kube::Secret);
