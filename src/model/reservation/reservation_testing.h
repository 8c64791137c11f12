#pragma once
// For tests: objects from YAML.
#include <gtest/gtest.h>

#include <string_view>

#include "api/reservation.h"
#include "kube/objects/pod.h"
#include "kube/yaml.h"

namespace koord::model {

template <class T>
T FromYaml(std::string_view yaml) {
  const StatusOr<kube::Json> json = kube::ParseYaml(yaml);
  EXPECT_TRUE(json.ok()) << Message(json.status()) << " in " << yaml;
  StatusOr<T> object = json.ok() ? kube::Decode<T>(*json) : T{};
  EXPECT_TRUE(object.ok()) << Message(object.status()) << " in " << yaml;
  return object.ok() ? *std::move(object) : T{};
}

inline api::Reservation ReservationOf(std::string_view yaml) {
  return FromYaml<api::Reservation>(yaml);
}
inline kube::Pod PodOf(std::string_view yaml) { return FromYaml<kube::Pod>(yaml); }
inline kube::ResourceList ListOf(std::string_view yaml) {
  return FromYaml<kube::ResourceList>(yaml);
}

}  // namespace koord::model
