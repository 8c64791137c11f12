#pragma once
#include <deque>
#include <string>

#include "base/event_loop.h"
#include "base/scope.h"
#include "kube/json.h"
#include "scheduler/cycle/attempt_observer.h"
#include "scheduler/framework/verdict.h"

namespace koord::scheduler {

// What to log of every attempt; may be changed at any time.
struct DebugFlags {
  int top_scores = 0;            // the scores of so many nodes; 0: none
  bool filter_failures = false;  // a line for each node that falls out
  bool diagnosis = false;        // why a pod fits nowhere, as JSON
  bool diagnosis_blocking = false;
  int diagnosis_queue_size = 1000;
};

// Writes what the debug flags ask for. Diagnoses are put down when the attempt fails and written
// when the scheduler has time; of too many, some are left out.
class DebugLog final : public AttemptObserver {
 public:
  // Rows and reasons get their names from `nodes` and `reasons`.
  DebugLog(EventLoop& loop, DebugFlags flags, const NodeTable& nodes, const Reasons& reasons)
      : loop_(loop), flags_(flags), nodes_(nodes), reasons_(reasons) {}

  DebugFlags& flags() { return flags_; }

  void OnDecided(const Attempt& attempt, Pipeline& pipeline, const Decision& decision, WallTime now,
                 Duration took) override;
  void OnUnfit(const Attempt& attempt, Pipeline& pipeline, const Diagnosis& diagnosis,
               const PostFilterOutcome& outcome) override;

 private:
  void LogScores(const Attempt& attempt, Pipeline& pipeline);
  void LogFilterFailures(const Attempt& attempt, Pipeline& pipeline);
  void WriteNext();

  EventLoop& loop_;
  DebugFlags flags_;
  const NodeTable& nodes_;
  const Reasons& reasons_;
  std::deque<std::string> lines_;
  Scope scope_;
};

// "Top3 scores for Pod: ns/name, feasibleNodes: 20, plugins:[...]" and a Markdown table.
std::string FormatScores(const kube::Pod& pod, const Pipeline::Ranking& ranking, int top,
                         const NodeTable& nodes);

// Nodes with the same plugin and reason are grouped.
kube::Json DescribeDiagnosis(const Attempt& attempt, const PluginLineup& profile,
                             const Diagnosis& diagnosis, const PostFilterOutcome& outcome,
                             const NodeTable& nodes, const Reasons& reasons, WallTime now);

}  // namespace koord::scheduler
