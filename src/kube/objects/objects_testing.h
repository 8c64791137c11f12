#pragma once
// For tests: objects from text, and pods in the states that matter.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/virtual_loop.h"
#include "kube/codec.h"
#include "kube/json.h"
#include "kube/objects/pod.h"

namespace koord::kube {

inline constexpr WallTime kTestNow = VirtualLoop::kStart + std::chrono::hours(1);

inline Json ParseTestJson(std::string_view text) {
  StatusOr<Json> json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << Message(json.status()) << " in " << text;
  return json.ok() ? *std::move(json) : Json(json::object{});
}

template <class T>
T FromText(std::string_view text) {
  StatusOr<T> object = Decode<T>(ParseTestJson(text));
  EXPECT_TRUE(object.ok()) << Message(object.status()) << " in " << text;
  return object.ok() ? *std::move(object) : T{};
}

template <class T>
std::shared_ptr<const T> SharedOf(T object) {
  return std::make_shared<const T>(std::move(object));
}

// A pod that has been Running and ready for an hour; tests change what matters to them.
inline Pod ReadyPod(const std::string& name, const std::string& node = "n1") {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.ns = "default";
  pod.metadata.uid = "uid-" + name;
  pod.metadata.creation_timestamp = VirtualLoop::kStart;
  pod.spec.node_name = node;
  pod.spec.containers.Mutable().resize(1);
  pod.spec.containers.Mutable()[0].name = "main";
  pod.status.phase = "Running";
  pod.status.start_time = VirtualLoop::kStart;
  PodCondition ready;
  ready.type = "Ready";
  ready.status = "True";
  ready.last_transition_time = VirtualLoop::kStart;
  pod.status.conditions.push_back(ready);
  return pod;
}

inline Pod PendingPod(const std::string& name) {
  Pod pod = ReadyPod(name, "");
  pod.status = {};
  pod.status.phase = "Pending";
  return pod;
}

inline Pod Deleting(Pod pod) {
  pod.metadata.deletion_timestamp = kTestNow;
  pod.metadata.deletion_grace_period_seconds = 30;
  return pod;
}

inline Pod Ended(Pod pod, std::string phase) {
  pod.status.phase = std::move(phase);
  pod.status.conditions.clear();
  return pod;
}

}  // namespace koord::kube
