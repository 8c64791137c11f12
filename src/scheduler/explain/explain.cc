#include "scheduler/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration.h"
#include "base/strings.h"
#include "kube/objects/resource_list.h"
#include "kube/quantity.h"

namespace koord::scheduler {
namespace {

constexpr size_t kSampleNodes = 3;
constexpr size_t kNearestMisses = 5;
constexpr size_t kBestNodes = 5;
// Who says that only room is missing, and how.
constexpr std::string_view kFitPlugin = "NodeResourcesFit";
constexpr std::string_view kInsufficient = "Insufficient ";
constexpr std::string_view kTooManyPods = "Too many pods";

std::string InSeconds(Duration duration) {
  return FormatDuration(std::max(std::chrono::ceil<std::chrono::seconds>(duration), 0s));
}

bool IsBytes(std::string_view resource) {
  return resource == kube::kMemory || resource.ends_with("memory") ||
         resource == kube::kEphemeralStorage || resource.starts_with("hugepages-");
}

// As a person would write it; bytes are rounded up to whole Mi.
std::string AmountText(std::string_view resource, int64_t amount) {
  constexpr int64_t kMi = 1 << 20;
  if (resource == kube::kCpu) return kube::Quantity::FromMilli(amount).ToString();
  if (!IsBytes(resource)) return kube::Quantity(amount).ToString();
  if (amount > kMi) amount = (amount + kMi - 1) / kMi * kMi;
  return kube::Quantity(amount, kube::Quantity::Format::kBinarySi).ToString();
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
    DescribeState();
    return std::move(result_);
  }

 private:
  void DescribeDecision() {
    if (held_ != nullptr) result_.node = nodes_.name(held_->row);
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
    pipeline.QueryFor(shape_).PreFilter();
    const Diagnosis diagnosis = pipeline.Diagnose(*pod_, shape_);
    CompiledQuery& query = pipeline.QueryFor(shape_);
    if (!query.pre_filter().ok()) {
      result_.rejected_as_a_whole =
          fmt::format("{}: {}", query.pre_filter().plugin, query.pre_filter().Message());
      return;
    }
    CollectRejections(pipeline, query, diagnosis);
    Rank(pipeline);
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
    std::vector<std::pair<double, Explanation::NearMiss>> misses;
    for (NodeRow row = 0; row < diagnosis.rows.size(); ++row) {
      RowDiagnosis found = diagnosis.rows[row];
      if (found.verdict.ok()) continue;
      if (held_ != nullptr && held_->row == row) {
        const RowDelta own{.removed = {held_}};
        found = {};
        found.verdict = query.Check({row, &own}, uid_, &found);
        if (found.verdict.ok()) continue;
      }
      Count(plugins[found.plugin], row, found.verdict);
      if (pipeline.profile().plugins[found.plugin]->name() == kFitPlugin) {
        ConsiderMiss(query, row, misses);
      }
    }
    WriteRejections(pipeline, plugins);
    if (!diagnosis.absent_reason.empty()) {
      const auto others = static_cast<int64_t>(diagnosis.nodes - diagnosis.explicit_rows);
      result_.rejections.push_back(
          {"PreFilter", others, {{diagnosis.absent_reason, others, false, {}}}});
    }
    std::ranges::stable_sort(misses, {}, [](const auto& miss) { return miss.first; });
    misses.resize(std::min(misses.size(), kNearestMisses));
    for (auto& [shortfall, miss] : misses) result_.nearest_misses.push_back(std::move(miss));
  }

  void Count(ByPlugin& plugin, NodeRow row, const RowVerdict& verdict) const {
    ++plugin.count;
    for (const ReasonId id : verdict.reasons) {
      Reason& reason = plugin.reasons[scheduler_.reasons().TextOf(id)];
      ++reason.count;
      reason.preemption_might_help |= verdict.code != Code::kUnschedulableAndUnresolvable;
      if (reason.nodes.size() < kSampleNodes) reason.nodes.push_back(nodes_.name(row));
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

  // A row that would do if it had more room; the less is missing, measured by what the pod asks
  // for, the nearer it is.
  void ConsiderMiss(CompiledQuery& query, NodeRow row,
                    std::vector<std::pair<double, Explanation::NearMiss>>& misses) const {
    const RowDelta own{.removed = {held_}};
    const bool is_own = held_ != nullptr && held_->row == row;
    const RowView view{row, is_own ? &own : nullptr};
    const std::vector<RowDiagnosis> rejections = query.Rejections(view, uid_);
    if (rejections.size() != 1) return;
    double shortfall = 0;
    Explanation::NearMiss miss{.node = nodes_.name(row), .lacks = {}, .text = {}};
    std::vector<std::string> parts;
    for (const ReasonId id : rejections.front().verdict.reasons) {
      const std::string_view reason = scheduler_.reasons().TextOf(id);
      if (reason == kTooManyPods) {
        miss.lacks.emplace("pods", "1");
        parts.emplace_back("room for another pod");
        shortfall += 1;
      } else if (reason.starts_with(kInsufficient)) {
        const std::string resource(reason.substr(kInsufficient.size()));
        const auto [missing, wanted] = Missing(resource, view);
        shortfall +=
            static_cast<double>(missing) / static_cast<double>(std::max<int64_t>(wanted, 1));
        parts.push_back(fmt::format("{} {}", AmountText(resource, missing), resource));
        miss.lacks.emplace(resource, AmountText(resource, missing));
      }
    }
    miss.text = fmt::format("{} lacks {}", miss.node, Join(parts, " and "));
    misses.emplace_back(shortfall, std::move(miss));
  }

  std::pair<int64_t, int64_t> Missing(const std::string& resource, const RowView& row) const {
    const auto id = scheduler_.ledger().resources().Find(resource);
    if (!id) return {0, 0};
    const int64_t wanted = AmountOf(shape_->requests, *id);
    return {wanted - (nodes_.allocatable(*id)[row.row] - row.Requested(nodes_, *id)), wanted};
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
