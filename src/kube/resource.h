#pragma once
#include <compare>
#include <string>
#include <string_view>

namespace koord::kube {

// Which collection a request is about.
struct Resource {
  std::string group;     // empty for core
  std::string version;   // "v1"
  std::string resource;  // "pods"
  std::string kind;      // "Pod"
  bool namespaced = true;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // "pods", "reservations.scheduling.koordinator.sh": as errors and CRD names spell it.
  std::string qualified() const { return group.empty() ? resource : resource + "." + group; }
  auto operator<=>(const Resource&) const = default;
};

struct ObjectKey {
  std::string ns;  // empty for cluster-scoped objects
  std::string name;

  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
  auto operator<=>(const ObjectKey&) const = default;
};

}  // namespace koord::kube
