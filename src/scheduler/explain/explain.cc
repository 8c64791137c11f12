#include "scheduler/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/duration.h"
#include "base/strings.h"
#include "scheduler/explain/considered_reservations.h"
#include "scheduler/explain/near_misses.h"

namespace koord::scheduler {
namespace {

constexpr size_t kSampleNodes = 3;
constexpr size_t kNearestMisses = 5;
constexpr size_t kBestNodes = 5;

std::string InSeconds(Duration duration) {
  return FormatDuration(std::max(std::chrono::ceil<std::chrono::seconds>(duration), 0s));
}

class Explainer {
 public:
  Explainer(Scheduler& scheduler, const Scheduler::PodPtr& pod, const DecisionLog* decisions)
      : scheduler_(scheduler),
        nodes_(scheduler.ledger().nodes()),
        pod_(pod),
        uid_(pod->metadata.uid),
        decisions_(decisions),
        held_(scheduler.ledger().Find(uid_)) {}

  Explanation Make() {
    result_.ns = pod_->metadata.ns;
    result_.name = pod_->metadata.name;
    result_.uid = uid_;
    result_.scheduler_name = pod_->spec.scheduler_name;
    result_.nominated_node = scheduler_.NominatedNodeOf(uid_);
    result_.nodes = static_cast<int64_t>(nodes_.live_rows());
    DescribeDecision();
    if (Pipeline* pipeline = scheduler_.PipelineFor(*pod_)) LookAtNodes(*pipeline);
    result_.reservations = ReservationsConsidered(scheduler_, pod_);
    DescribeState();
    return std::move(result_);
  }

 private:
  void DescribeDecision() {
    if (held_ != nullptr) result_.node = scheduler_.ledger().NodeOf(*held_);
    const DecisionLog::Entry* entry = decisions_ != nullptr ? decisions_->Find(uid_) : nullptr;
    if (entry == nullptr || entry->node != result_.node) return;  // it was undone since
    result_.decided = {.at = entry->at,
                       .node = entry->node,
                       .total = entry->total,
                       .feasible = static_cast<int64_t>(entry->feasible),
                       .evaluated = static_cast<int64_t>(entry->evaluated)};
  }

  // ---- Where it is

  void DescribeState() {
    if (held_ != nullptr && !held_->assumed) {
      result_.state = "Bound";
      result_.summary = fmt::format("runs on node {}", result_.node);
      if (result_.decided) {
        result_.summary +=
            fmt::format(", the best of {} feasible nodes", result_.decided->feasible);
      }
      return;
    }
    if (const auto waits = scheduler_.waiting_pods().WaitsOf(uid_); !waits.empty()) {
      return DescribePermit(waits);
    }
    if (held_ != nullptr) {
      result_.state = "Binding";
      result_.summary = fmt::format("is being bound to node {}", result_.node);
      return;
    }
    const auto position = scheduler_.queue().Describe(uid_);
    if (!position) {
      result_.state = "Ignored";
      result_.summary = scheduler_.PipelineFor(*pod_) != nullptr
                            ? "is not in the queue"
                            : fmt::format("names the scheduler {}, which no profile here is called",
                                          Quote(pod_->spec.scheduler_name, 64));
      return;
    }
    DescribeQueue(*position);
  }

  void DescribePermit(const std::vector<WaitingPods::Waits>& waits) {
    result_.state = "WaitingForPermit";
    std::vector<std::string> plugins;
    for (const WaitingPods::Waits& wait : waits) {
      result_.waits_for_permit.push_back({std::string(wait.plugin), InSeconds(wait.left)});
      plugins.emplace_back(wait.plugin);
    }
    result_.summary = fmt::format("has node {} and waits for the permit of {}", result_.node,
                                  Join(plugins, ", "));
  }

  void DescribeQueue(const QueuePosition& position) {
    Explanation::Queue& queue = result_.queue.emplace();
    queue.pool = ToString(position.pool);
    if (position.ahead) queue.ahead = static_cast<int64_t>(*position.ahead);
    queue.attempts = position.attempts;
    queue.added_at = position.added_at;
    queue.first_attempt_at = position.first_attempt_at;
    if (position.backoff_left) queue.backoff_left = InSeconds(*position.backoff_left);
    queue.rejected_by = position.rejected_by;
    queue.gated_by = position.gated_by;
    queue.message = position.message;
    queue.waits_for_any_event = position.waits_for_any_event;
    for (const EventKind kind : position.waits_for) queue.waits_for.emplace_back(ToString(kind));
    result_.state = position.pool == QueuePool::kGated ? "Gated" : "Pending";
    result_.summary = QueueSummary(position);
  }

  static std::string QueueSummary(const QueuePosition& position) {
    const size_t ahead = position.ahead.value_or(0);
    switch (position.pool) {
      case QueuePool::kActive:
        return ahead == 0
                   ? "is tried next"
                   : fmt::format("is tried after {} other pod{}", ahead, ahead == 1 ? "" : "s");
      case QueuePool::kBackoff:
        return fmt::format("was rejected and is tried again in {}, or earlier if nobody else waits",
                           InSeconds(position.backoff_left.value_or(0s)));
      case QueuePool::kErrorBackoff:
        return fmt::format("met an error and is tried again in {}",
                           InSeconds(position.backoff_left.value_or(0s)));
      case QueuePool::kUnschedulable:
        return "fits no node and waits for the cluster to change";
      case QueuePool::kGated:
        return fmt::format("is held back by {}: {}", position.gated_by, position.message);
      default:
        return "is being tried";
    }
  }

  // ---- How the nodes look to it

  void LookAtNodes(Pipeline& pipeline) {
    if (nodes_.live_rows() == 0) {
      result_.rejected_as_a_whole = "no nodes available to schedule pods";
      return;
    }
    shape_ = scheduler_.ShapeOf(pod_);
    pipeline.BeginCycle(scheduler_.clock().Now());
    const Diagnosis diagnosis = pipeline.Diagnose(*pod_, shape_);
    CompiledQuery& query = pipeline.QueryFor(shape_);
    if (const Verdict verdict = query.Admit(*pod_); !verdict.ok()) {
      result_.rejected_as_a_whole = fmt::format("{}: {}", verdict.plugin, verdict.Message());
      AddWhatItWaitsFor(pipeline, query, verdict.plugin);
      return;
    }
    CollectRejections(pipeline, query, diagnosis);
    Rank(pipeline);
    const NearMisses misses(scheduler_, pipeline, pod_, shape_, held_);
    result_.nearest_misses = misses.Nearest(kNearestMisses);
    if (result_.feasible == 0) result_.changes = misses.SmallestChanges();
    ExplainTrials(pipeline.profile());
  }

  void AddWhatItWaitsFor(const Pipeline& pipeline, CompiledQuery& query, std::string_view plugin) {
    for (AdmitPlugin* each : pipeline.profile().admit) {
      if (each->name() != plugin) continue;
      const std::string sentence = each->WhatItWaitsFor(*pod_, query.query());
      if (!sentence.empty()) result_.rejected_as_a_whole += fmt::format(" ({})", sentence);
    }
  }

  struct Reason {
    size_t count = 0;
    bool preemption_might_help = false;
    std::vector<std::string> nodes;
  };
  struct ByPlugin {
    size_t count = 0;
    std::map<std::string, Reason> reasons;
  };

  void CollectRejections(Pipeline& pipeline, CompiledQuery& query, const Diagnosis& diagnosis) {
    std::map<uint32_t, ByPlugin> plugins;
    for (NodeRow row{0}; row < diagnosis.rows.size(); ++row) {
      RowDiagnosis found = diagnosis.rows[row];
      if (found.verdict.ok()) continue;
      if (held_ != nullptr && held_->row == row) {
        const RowDelta own{.removed = {held_}};
        found = {};
        found.verdict = query.Check({row, &own}, uid_, &found);
        if (found.verdict.ok()) continue;
      }
      Count(plugins[found.plugin], row, found.verdict);
    }
    WriteRejections(pipeline, plugins);
    if (!diagnosis.absent_reason.empty()) {
      const auto others = static_cast<int64_t>(diagnosis.nodes - diagnosis.explicit_rows());
      result_.rejections.push_back(
          {"PreFilter", others, {{diagnosis.absent_reason, others, false, {}}}});
    }
  }

  void Count(ByPlugin& plugin, NodeRow row, const RowVerdict& verdict) const {
    ++plugin.count;
    for (const ReasonId id : verdict.reasons) {
      scheduler_.reasons().ForEachText(id, [&](std::string_view text) {
        Reason& reason = plugin.reasons[std::string(text)];
        ++reason.count;
        reason.preemption_might_help |= verdict.code != Code::kUnschedulableAndUnresolvable;
        if (reason.nodes.size() < kSampleNodes) reason.nodes.push_back(nodes_.name(row));
      });
    }
  }

  void WriteRejections(const Pipeline& pipeline, std::map<uint32_t, ByPlugin>& plugins) {
    for (const FilterPlugin* filter : pipeline.profile().filter) {
      const auto found = plugins.find(static_cast<uint32_t>(filter->slot()));
      if (found == plugins.end()) continue;
      Explanation::Rejection rejection{
          std::string(filter->name()), static_cast<int64_t>(found->second.count), {}};
      for (auto& [text, reason] : found->second.reasons) {
        rejection.reasons.push_back({text, static_cast<int64_t>(reason.count),
                                     reason.preemption_might_help, std::move(reason.nodes)});
      }
      std::ranges::stable_sort(rejection.reasons, std::greater<>(),
                               &Explanation::Rejection::Reason::count);
      result_.rejections.push_back(std::move(rejection));
    }
  }

  // Of the nodes that matter to whoever asks: its own, the best, or those that nearly do.
  std::vector<std::string> NodesOfInterest() const {
    if (!result_.node.empty()) return {result_.node};
    std::vector<std::string> names;
    for (const Explanation::Score& each : result_.scores) names.push_back(each.node);
    if (names.empty()) {
      for (const Explanation::NearMiss& each : result_.nearest_misses) names.push_back(each.node);
    }
    if (names.size() > kSampleNodes) names.resize(kSampleNodes);
    return names;
  }

  void ExplainTrials(const PluginLineup& profile) {
    if (held_ != nullptr && held_->held != nullptr) {
      result_.holds = ToString(*held_->held, scheduler_.ledger().resources());
    }
    for (const std::string& name : NodesOfInterest()) {
      const auto row = nodes_.Find(name);
      if (!row) continue;
      const RowDelta own{.removed = {held_}};
      const bool is_own = held_ != nullptr && held_->row == *row;
      Explanation::Trial trial{name, {}};
      for (const auto& plugin : profile.plugins) {
        auto* const provider = dynamic_cast<HintProvider*>(plugin.get());
        if (provider == nullptr) continue;
        const RoomSource source = SourceOn(*row);
        std::ranges::move(provider->Explain({*shape_, {*row, is_own ? &own : nullptr}, source}),
                          std::back_inserter(trial.lines));
      }
      if (!trial.lines.empty()) result_.trials.push_back(std::move(trial));
    }
  }
  // The reservation that it draws from.
  RoomSource SourceOn(NodeRow row) const {
    if (held_ == nullptr || held_->row != row || held_->held == nullptr) return {};
    if (!held_->held->draws_from) return {};
    for (const PodInfo* pod : nodes_.pods(row)) {
      if (pod->held != nullptr && pod->held->reserves &&
          pod->held->reserves->uid == held_->held->draws_from->uid) {
        return {.reserve_pod = pod};
      }
    }
    return {};
  }

  void Rank(Pipeline& pipeline) {
    const Pipeline::Ranking ranking = pipeline.Rank(*pod_, shape_, kBestNodes);
    result_.feasible = static_cast<int64_t>(ranking.feasible);
    for (const Pipeline::Ranking::Row& row : ranking.best) {
      Explanation::Score& score =
          result_.scores.emplace_back(Explanation::Score{nodes_.name(row.row), row.total, {}});
      for (size_t i = 0; i < row.scores.size(); ++i) {
        score.plugins.emplace(ranking.plugins[i], row.scores[i]);
      }
    }
  }

  Scheduler& scheduler_;
  const NodeTable& nodes_;
  const Scheduler::PodPtr pod_;
  const std::string& uid_;
  const DecisionLog* const decisions_;
  const PodInfo* const held_;  // null: it has no node
  ShapePtr shape_;
  Explanation result_;
};

}  // namespace

Explanation Explain(Scheduler& scheduler, const Scheduler::PodPtr& pod,
                    const DecisionLog* decisions) {
  return Explainer(scheduler, pod, decisions).Make();
}

}  // namespace koord::scheduler

KOORD_DEFINE_CODEC(koord::scheduler::Explanation);
