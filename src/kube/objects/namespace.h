#pragma once
#include <string>
#include <vector>

#include "kube/objects/meta.h"

namespace koord::kube {

struct NamespaceSpec {
  std::vector<std::string> finalizers;

  static void Fields(auto& self, auto&& field) { field("finalizers", self.finalizers); }
  bool operator==(const NamespaceSpec&) const = default;
};

struct NamespaceStatus {
  std::string phase;  // Active, Terminating
  std::vector<Condition> conditions;

  static void Fields(auto& self, auto&& field) {
    field("phase", self.phase);
    field("conditions", self.conditions);
  }
  bool operator==(const NamespaceStatus&) const = default;
};

struct Namespace {
  ObjectMeta metadata;
  NamespaceSpec spec;
  NamespaceStatus status;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
    field("status", self.status);
  }
  bool operator==(const Namespace&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::Namespace);
