#include "scheduler/testing/plugin_bed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "kube/yaml.h"

namespace koord::scheduler {

void AbortTest(const Status& status, std::string_view text) {
  fmt::print(stderr, "bad test data: {}\n{}\n", Message(status), text);
  std::abort();
}

kube::Json ParseTestYaml(std::string_view text) {
  StatusOr<kube::Json> value = kube::ParseYaml(text);
  if (!value.ok()) AbortTest(value.status(), text);
  return std::move(*value);
}

std::shared_ptr<const kube::Pod> PodOf(std::string_view yaml) {
  kube::Pod pod = *FromYaml<kube::Pod>(yaml);
  if (pod.metadata.ns.empty()) pod.metadata.ns = "default";
  if (pod.metadata.uid.empty()) pod.metadata.uid = pod.metadata.name;
  return std::make_shared<const kube::Pod>(std::move(pod));
}

std::shared_ptr<const kube::Node> NodeOf(std::string_view yaml) {
  kube::Node node = *FromYaml<kube::Node>(yaml);
  node.status.allocatable.Mutable().try_emplace(std::string(kube::kPodCount), kube::Quantity(110));
  return std::make_shared<const kube::Node>(std::move(node));
}

std::vector<std::string_view> WantedEvents(const RequeuePlugin& plugin) {
  std::vector<std::string_view> wanted;
  for (size_t i = 0; i < kEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (kind != EventKind::kForced && plugin.Wants(kind)) wanted.push_back(ToString(kind));
  }
  std::ranges::sort(wanted);
  return wanted;
}

std::unique_ptr<PodQuery> PluginBed::Query(Plugin& plugin, std::string_view pod_yaml) {
  return Query(plugin, PodOf(pod_yaml));
}

std::unique_ptr<PodQuery> PluginBed::Query(Plugin& plugin, std::shared_ptr<const kube::Pod> pod) {
  auto query =
      std::make_unique<PodQuery>(ledger.shapes().Of(pod), ledger.nodes(), plugin.slot() + 1);
  query->SetState(plugin.slot(), plugin.Compile(query->shape()));
  if (auto* filter = dynamic_cast<PreFilterPlugin*>(&plugin)) {
    pre_filter = filter->PreFilter(*query);
  }
  return query;
}

std::string PluginBed::Check(FilterPlugin& plugin, const PodQuery& query, std::string_view node,
                             const RowDelta* delta) {
  const auto row = ledger.nodes().Find(node);
  if (!row) return fmt::format("no node {}", node);
  const RowVerdict verdict = plugin.Check(query, {*row, delta});
  if (delta == nullptr) {
    uint8_t keep = 1;
    plugin.Filter(query, RowRange::Only(*row), &keep);
    EXPECT_EQ(keep == 1, verdict.ok()) << plugin.name() << ": Filter and Check differ on " << node;
  }
  if (verdict.ok()) return "";
  std::string text = fmt::format("{}: ", ToString(verdict.code));
  std::string_view between;
  for (const ReasonId reason : verdict.reasons) {
    reasons.ForEachText(reason, [&](std::string_view each) {
      text += fmt::format("{}{}", between, each);
      between = ", ";
    });
  }
  return text;
}

std::vector<int64_t> PluginBed::RawScores(ScorePlugin& plugin, PodQuery& query) {
  const NodeTable& nodes = ledger.nodes();
  std::vector<int64_t> scores(nodes.rows());
  const Verdict verdict = plugin.PreScore(query, {nodes.live(), nodes.rows()});
  if (verdict.code == Code::kSkip) return {};
  EXPECT_TRUE(verdict.ok()) << verdict.Message();
  plugin.Score(query, nodes.all(), scores.data());
  std::vector<int64_t> live;
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    if (nodes.IsLive(row)) live.push_back(scores[row]);
  }
  return live;
}

std::vector<int64_t> PluginBed::Scores(ScorePlugin& plugin, PodQuery& query) {
  std::vector<int64_t> scores = RawScores(plugin, query);
  if (!plugin.normalizes() || scores.empty()) return scores;
  std::optional<ScoreRange> range;
  for (const int64_t score : scores) {
    if (score == kIgnoredRow) continue;
    if (!range) range = ScoreRange{score, score};
    range = ScoreRange{std::min(range->min, score), std::max(range->max, score)};
  }
  plugin.Normalize(query, range.value_or(ScoreRange{}), scores);
  return scores;
}

}  // namespace koord::scheduler
