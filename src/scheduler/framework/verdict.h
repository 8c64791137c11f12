#pragma once
#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/cluster/counted_texts.h"

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

// What a pod is promised once it is rejected after it was given a node.
enum class PromiseAfter : uint8_t {
  kNothing,
  kAsBefore,  // what it was promised before it was given the node
  kItsNode,   // the node that it was given
};

// The answer to a question about a pod as a whole.
struct Verdict {
  Code code = Code::kSuccess;
  std::vector<std::string> reasons;  // of an error: one text
  std::string plugin = {};           // who said so; filled in by the framework
  PromiseAfter promise = PromiseAfter::kNothing;

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
using ReasonId = CountedTexts::Id;
using ReasonHold = CountedTexts::Hold;

class Reasons {
 public:
  // For texts that a plugin knows from the start. Texts that pods or others have a part in last as
  // long as their hold.
  ReasonId Intern(std::string_view text) { return texts_.Intern(text); }
  ReasonId Intern(std::string_view text, ReasonHold& hold) { return texts_.Intern(text, hold); }
  // Several reasons that rows can only have together, as one.
  ReasonId InternAll(const std::vector<std::string>& texts, ReasonHold& hold);

  // Calls f(std::string_view) with each text of a reason: most have one.
  template <class F>
  void ForEachText(ReasonId id, F f) const {
    std::string_view rest = texts_.TextOf(id);
    for (size_t end; (end = rest.find(kBetween)) != std::string_view::npos;) {
      f(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    f(rest);
  }
  // Of a reason with one text.
  const std::string& TextOf(ReasonId id) const { return texts_.TextOf(id); }
  size_t used() const { return texts_.used(); }

 private:
  static constexpr char kBetween = '\x1f';  // the separator of units, which no text has

  CountedTexts texts_;
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
