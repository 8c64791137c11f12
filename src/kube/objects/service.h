#pragma once
#include <string>
#include <vector>

#include "kube/objects/meta.h"

namespace koord::kube {

struct ServicePort {
  std::string name;
  std::string protocol;
  int32_t port = 0;

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("protocol", self.protocol);
    field("port", Always(self.port));
  }
  bool operator==(const ServicePort&) const = default;
};

struct ServiceSpec {
  Labels selector;  // empty: selects nothing
  std::vector<ServicePort> ports;
  std::string cluster_ip;
  std::string type;

  static void Fields(auto& self, auto&& field) {
    field("selector", self.selector);
    field("ports", self.ports);
    field("clusterIP", self.cluster_ip);
    field("type", self.type);
  }
  bool operator==(const ServiceSpec&) const = default;
};

struct Service {
  ObjectMeta metadata;
  ServiceSpec spec;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("spec", self.spec);
  }
  bool operator==(const Service&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::Service);
