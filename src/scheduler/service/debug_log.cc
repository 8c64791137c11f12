#include "scheduler/service/debug_log.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "base/log_text.h"
#include "base/strings.h"
#include "kube/time.h"

namespace koord::scheduler {
namespace {

namespace json = kube::json;

std::string NameOf(const kube::Pod& pod) { return KeyOf(pod.metadata).ToString(); }

std::string ReasonsOf(const RowVerdict& verdict, const Reasons& reasons) {
  std::vector<std::string> texts;
  for (const ReasonId id : verdict.reasons)
    reasons.ForEachText(id, [&](std::string_view text) { texts.emplace_back(text); });
  return Join(texts, ", ");
}

}  // namespace

std::string FormatScores(const kube::Pod& pod, const Pipeline::Ranking& ranking, int top,
                         const NodeTable& nodes) {
  std::string text = fmt::format("Top{} scores for Pod: {}, feasibleNodes: {}, plugins:[{}]\n", top,
                                 NameOf(pod), ranking.feasible, Join(ranking.plugins, " "));
  std::string head = "| # | Pod | Node | Score |";
  std::string line = "| --- | --- | --- | ---:|";
  for (const std::string_view plugin : ranking.plugins) {
    head += fmt::format(" {} |", plugin);
    line += " ---:|";
  }
  text += head + "\n" + line + "\n";
  for (size_t i = 0; i < ranking.best.size(); ++i) {
    const Pipeline::Ranking::Row& row = ranking.best[i];
    text += fmt::format("| {} | {} | {} | {} |", i, NameOf(pod), nodes.name(row.row), row.total);
    for (const int64_t score : row.scores) text += fmt::format(" {} |", score);
    text += "\n";
  }
  return text;
}

kube::Json DescribeDiagnosis(const Attempt& attempt, const PluginLineup& profile,
                             const Diagnosis& diagnosis, const PostFilterOutcome& outcome,
                             const NodeTable& nodes, const Reasons& reasons, WallTime now) {
  using Group = std::tuple<uint32_t, std::string, bool>;  // plugin, reason, preemption might help
  std::map<Group, json::array> groups;
  for (NodeRow row{0}; row < diagnosis.rows.size(); ++row) {
    const RowDiagnosis& found = diagnosis.rows[row];
    if (found.verdict.ok()) continue;
    groups[{found.plugin, ReasonsOf(found.verdict, reasons),
            found.verdict.code != Code::kUnschedulableAndUnresolvable}]
        .emplace_back(nodes.name(row));
  }
  json::array details;
  for (auto& [group, failed] : groups) {
    const auto& [plugin, reason, helps] = group;
    details.push_back(json::object{{"failedPlugin", profile.NameOfSlot(plugin)},
                                   {"reason", reason},
                                   {"preemptMightHelp", helps},
                                   {"failedNodes", std::move(failed)}});
  }
  return json::object{
      {"timestamp", kube::Encode(now)},
      {"questionedKey", NameOf(*attempt.pod)},
      {"nominatedNode", outcome.nominated_node},
      {"preFilterMessage", diagnosis.pre_filter.Message()},
      {"topologyKeyToExplain", ""},
      {"isRootCausePod", false},
      {"scheduleDiagnosis", json::object{{"alreadyWaitForBound", 0},
                                         {"nodeOfferSlot", json::object()},
                                         {"nodeFailedDetails", std::move(details)}}},
      {"preemptionDiagnosis", json::object{{"failedMessage", outcome.message}}}};
}

void DebugLog::OnDecided(const Attempt& attempt, Pipeline& pipeline, const Decision& decision,
                         WallTime, Duration) {
  if (flags_.filter_failures) LogFilterFailures(attempt, pipeline);
  if (flags_.top_scores > 0 && decision.feasible > 1) LogScores(attempt, pipeline);
}

void DebugLog::LogScores(const Attempt& attempt, Pipeline& pipeline) {
  const int top = flags_.top_scores;
  LOG_TEXT(FormatScores(*attempt.pod,
                        pipeline.Rank(*attempt.pod, attempt.shape, static_cast<size_t>(top)), top,
                        nodes_));
}

void DebugLog::LogFilterFailures(const Attempt& attempt, Pipeline& pipeline) {
  if (nodes_.live_rows() == 0) return;
  const Diagnosis diagnosis = pipeline.Diagnose(*attempt.pod, attempt.shape);
  for (NodeRow row{0}; row < diagnosis.rows.size(); ++row) {
    const RowDiagnosis& found = diagnosis.rows[row];
    if (found.verdict.ok()) continue;
    LOG_TEXT(fmt::format(
        "Failed to filter for Pod \"{}\" on Node \"{}\" (pass {}), failedPlugin: {}, reason: {}",
        NameOf(*attempt.pod), nodes_.name(row), found.pass,
        pipeline.profile().NameOfSlot(found.plugin), ReasonsOf(found.verdict, reasons_)));
  }
}

void DebugLog::OnUnfit(const Attempt& attempt, Pipeline& pipeline, const Diagnosis& diagnosis,
                       const PostFilterOutcome& outcome) {
  if (!flags_.diagnosis) return;
  const kube::Pod& pod = *attempt.pod;
  const kube::Json report = DescribeDiagnosis(attempt, pipeline.profile(), diagnosis, outcome,
                                              nodes_, reasons_, loop_.clock().Now());
  std::string line = fmt::format("dump diagnosis for {}, targetPod: {}/{}: ${}", NameOf(pod),
                                 NameOf(pod), pod.metadata.uid, kube::Serialize(report));
  if (flags_.diagnosis_blocking) return LOG_TEXT(line);
  if (lines_.size() >= static_cast<size_t>(flags_.diagnosis_queue_size)) {
    LOG_WARNING("Left out a diagnosis: too many are waiting to be written", {"pod", NameOf(pod)});
    return;
  }
  lines_.push_back(std::move(line));
  if (lines_.size() == 1) loop_.Post(scope_.Wrap([this] { WriteNext(); }));
}

void DebugLog::WriteNext() {
  LOG_TEXT(lines_.front());
  lines_.pop_front();
  if (!lines_.empty()) loop_.Post(scope_.Wrap([this] { WriteNext(); }));
}

}  // namespace koord::scheduler
