#pragma once
// For tests: objects from text, and plans as text.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/virtual_loop.h"
#include "kube/codec.h"
#include "kube/json.h"
#include "kube/objects/pod.h"
#include "localcluster/shared/plan.h"

namespace koord::localcluster {

inline constexpr WallTime kTestNow = VirtualLoop::kStart + std::chrono::hours(1);

inline kube::Json ParseTestJson(std::string_view text) {
  StatusOr<kube::Json> json = kube::ParseJson(text);
  EXPECT_TRUE(json.ok()) << Message(json.status()) << " in " << text;
  return json.ok() ? *std::move(json) : kube::Json(kube::json::object{});
}

template <class T>
T FromText(std::string_view text) {
  StatusOr<T> object = kube::Decode<T>(ParseTestJson(text));
  EXPECT_TRUE(object.ok()) << Message(object.status()) << " in " << text;
  return object.ok() ? *std::move(object) : T{};
}

template <class T>
std::shared_ptr<const T> Shared(T object) {
  return std::make_shared<const T>(std::move(object));
}

// A pod that has been Running and ready for an hour; tests change what matters to them.
inline kube::Pod ReadyPod(const std::string& name, const std::string& node = "n1") {
  kube::Pod pod;
  pod.metadata.name = name;
  pod.metadata.ns = "default";
  pod.metadata.uid = "uid-" + name;
  pod.metadata.creation_timestamp = VirtualLoop::kStart;
  pod.spec.node_name = node;
  pod.spec.containers.resize(1);
  pod.spec.containers[0].name = "main";
  pod.status.phase = "Running";
  pod.status.start_time = VirtualLoop::kStart;
  kube::PodCondition ready;
  ready.type = "Ready";
  ready.status = "True";
  ready.last_transition_time = VirtualLoop::kStart;
  pod.status.conditions.push_back(ready);
  return pod;
}

inline kube::Pod PendingPod(const std::string& name) {
  kube::Pod pod = ReadyPod(name, "");
  pod.status = {};
  pod.status.phase = "Pending";
  return pod;
}

inline kube::Pod Deleting(kube::Pod pod) {
  pod.metadata.deletion_timestamp = kTestNow;
  pod.metadata.deletion_grace_period_seconds = 30;
  return pod;
}

inline kube::Pod Ended(kube::Pod pod, std::string phase) {
  pod.status.phase = std::move(phase);
  pod.status.conditions.clear();
  return pod;
}

// "delete pods default/web-1": writes without their bodies.
inline std::vector<std::string> Summary(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Write& write : plan.writes) {
    Write bare = write;
    bare.body = nullptr;
    lines.push_back(ToString(bare));
  }
  return lines;
}

// The body of the first write of that summary; null if there is none.
inline kube::Json BodyOf(const Plan& plan, std::string_view summary) {
  for (const Write& write : plan.writes) {
    Write bare = write;
    bare.body = nullptr;
    if (ToString(bare) == summary) return write.body;
  }
  ADD_FAILURE() << "no write: " << summary;
  return nullptr;
}

inline std::vector<std::string> Messages(const Plan& plan) {
  std::vector<std::string> lines;
  for (const EventRecorder::Note& note : plan.notes)
    lines.push_back(note.reason + ": " + note.message);
  return lines;
}

}  // namespace koord::localcluster
