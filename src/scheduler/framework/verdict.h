#pragma once
#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"

namespace koord::scheduler {

// What a plugin says; the names are those that users read in logs and metrics.
enum class Code : uint8_t {
  kSuccess,
  kError,                         // something is broken; says nothing about the pod
  kUnschedulable,                 // no, but preemption might help
  kUnschedulableAndUnresolvable,  // no, and preemption would not help
  kWait,                          // Permit: not yet
  kSkip,                          // the plugin has nothing to say about this pod
  kPending,                       // no, until somebody outside acts
};
std::string_view ToString(Code code);

inline bool IsRejection(Code code) {
  return code == Code::kUnschedulable || code == Code::kUnschedulableAndUnresolvable ||
         code == Code::kPending;
}

// The answer to a question about a pod as a whole.
struct Verdict {
  Code code = Code::kSuccess;
  std::vector<std::string> reasons;  // of an error: one text
  std::string plugin;                // who said so; filled in by the framework

  static Verdict Success() { return {}; }
  static Verdict Skip() { return {.code = Code::kSkip}; }
  static Verdict Wait() { return {.code = Code::kWait}; }
  static Verdict Error(std::string text) { return {Code::kError, {std::move(text)}, {}}; }
  static Verdict Unschedulable(std::string reason) {
    return {Code::kUnschedulable, {std::move(reason)}, {}};
  }
  static Verdict Unresolvable(std::string reason) {
    return {Code::kUnschedulableAndUnresolvable, {std::move(reason)}, {}};
  }

  bool ok() const { return code == Code::kSuccess; }
  bool rejected() const { return IsRejection(code); }
  std::string Message() const;  // the reasons, joined with ", "
};

// Why a row fell out, by number: rows are many, texts are few.
using ReasonId = uint32_t;

class Reasons {
 public:
  ReasonId Intern(std::string_view text);
  const std::string& TextOf(ReasonId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  StringMap<ReasonId> ids_;
};

// The answer to a question about a pod on one node.
struct RowVerdict {
  Code code = Code::kSuccess;
  absl::InlinedVector<ReasonId, 2> reasons;

  static RowVerdict Unschedulable(ReasonId reason) { return {Code::kUnschedulable, {reason}}; }
  static RowVerdict Unresolvable(ReasonId reason) {
    return {Code::kUnschedulableAndUnresolvable, {reason}};
  }
  static RowVerdict Error(ReasonId reason) { return {Code::kError, {reason}}; }

  bool ok() const { return code == Code::kSuccess; }
};

}  // namespace koord::scheduler
