#pragma once
// For tests: plans as text.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kube/controller/plan.h"
#include "kube/json.h"

namespace koord::kube {

// "delete pods default/web-1": writes without their bodies.
inline std::vector<std::string> StepsOf(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Write& write : plan.writes) {
    Write bare = write;
    bare.body = nullptr;
    lines.push_back(ToString(bare));
  }
  return lines;
}

// The body of the first write of that summary; null if there is none.
inline Json BodyOf(const Plan& plan, std::string_view summary) {
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

}  // namespace koord::kube
