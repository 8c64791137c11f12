#include "scheduler/pipeline/compiled_query.h"

#include <absl/container/inlined_vector.h>
#include <absl/hash/hash.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

// Rows of a block: as much as the nearest cache holds of all columns that filters and scorers read.
constexpr uint32_t kBlock = 512;

template <class F>
void ForEachBlock(RowRange rows, F f) {
  for (NodeRow begin = rows.begin; begin < rows.end; begin += kBlock) {
    f(RowRange{begin, NodeRow(std::min<uint32_t>(begin + kBlock, rows.end))});
  }
}

KOORD_HOT void AddProducts(int64_t* sum, const int64_t* scores, int64_t weight, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += weight * scores[i];
}

KOORD_HOT void Add(int64_t* sum, const int64_t* scores, size_t n) {
  for (size_t i = 0; i < n; ++i) sum[i] += scores[i];
}

// Most weights are 1, and multiplying 64-bit numbers costs several times what adding them does.
void AddWeighted(int64_t* sum, const int64_t* scores, int64_t weight, size_t n) {
  if (weight == 1) return Add(sum, scores, n);
  AddProducts(sum, scores, weight, n);
}

KOORD_HOT void CopyPlus(int64_t* to, const int64_t* from, int64_t more, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = from[i] + more;
}

// The least and largest score of feasible rows.
KOORD_HOT ScoreRange RangeOf(const int64_t* scores, const uint8_t* feasible, size_t n) {
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < n; ++i) {
    const bool counts = feasible[i] && scores[i] != kIgnoredRow;
    min = counts && scores[i] < min ? scores[i] : min;
    max = counts && scores[i] > max ? scores[i] : max;
  }
  return min > max ? ScoreRange{} : ScoreRange{min, max};
}

}  // namespace

CompiledQuery::CompiledQuery(const Plan& plan, const NodeTable& nodes,
                             const NominatedRows& nominated, Scratch& scratch)
    : plan_(plan),
      nodes_(nodes),
      nominated_(nominated),
      scratch_(scratch),
      pre_filters_(plan.profile.pre_filter.size()),
      needs_(plan, nodes, nominated),
      raw_(plan.normalized_scorers.size()),
      ranges_(plan.normalized_scorers.size()) {}

void CompiledQuery::Compile(ShapePtr shape) {
  const auto& plugins = plan_.profile.plugins;
  query_ = std::make_unique<PodQuery>(std::move(shape), nodes_, plugins.size());
  compilation_ = ++scratch_.compiled;
  versions_.clear();
  for (const auto& plugin : plugins) {
    versions_.push_back(plugin->VersionFor(query_->shape()));
    query_->SetState(plugin->slot(), plugin->Compile(query_->shape()));
  }
  for (size_t i = 0; i < pre_filters_.size(); ++i) {
    RunPreFilter(*plan_.profile.pre_filter[i], pre_filters_[i]);
  }
  CombinePreFilters();
  absent_versions_.clear();
  FollowTransformers();
  log_position_.reset();
  diagnosed_at_.reset();
  known_unfit_.reset();
  needs_.Forget();
}

bool CompiledQuery::IsCurrent() const {
  const auto& plugins = plan_.profile.plugins;
  for (size_t slot = 0; slot < plugins.size(); ++slot) {
    if (plugins[slot]->VersionFor(query_->shape()) != versions_[slot]) return false;
  }
  return std::ranges::all_of(
      limits_, [](const Limit& limit) { return limit.rows->version() == limit.version; });
}

uint64_t CompiledQuery::versions() const {
  uint64_t hash = absl::HashOf(versions_);
  for (const Limit& limit : limits_) hash = absl::HashOf(hash, limit.version);
  return hash;
}

// ---- PreFilter

void CompiledQuery::RunPreFilter(PreFilterPlugin& plugin, PreFilterResult& result) {
  result = plugin.PreFilter(*query_);
  result.verdict.plugin = plugin.name();
}

Verdict CompiledQuery::Admit(const kube::Pod& pod) const {
  if (!pre_filter_.ok()) return pre_filter_;
  for (AdmitPlugin* plugin : plan_.profile.admit) {
    Verdict verdict = plugin->Admit(pod, *query_);
    if (verdict.ok()) continue;
    if (!verdict.rejected()) {
      verdict = Verdict::Error(
          fmt::format("running PreFilter plugin \"{}\": {}", plugin->name(), verdict.Message()));
    }
    verdict.plugin = plugin->name();
    return verdict;
  }
  return Verdict::Success();
}

void CompiledQuery::CombinePreFilters() {
  skipped_.assign(plan_.profile.plugins.size(), 0);
  pre_filter_ = Verdict::Success();
  node_names_.reset();
  named_by_.clear();
  limits_.clear();
  for (size_t i = 0; i < pre_filters_.size(); ++i) {
    const PreFilterPlugin& plugin = *plan_.profile.pre_filter[i];
    const PreFilterResult& result = pre_filters_[i];
    switch (result.verdict.code) {
      case Code::kSuccess:
        break;
      case Code::kSkip:
        skipped_[plugin.slot()] = 1;
        break;
      case Code::kUnschedulable:
      case Code::kPending:
        pre_filter_ = result.verdict;  // the last one counts
        break;
      case Code::kUnschedulableAndUnresolvable:
        pre_filter_ = result.verdict;
        return;
      default:
        pre_filter_ = Verdict::Error(fmt::format("running PreFilter plugin \"{}\": {}",
                                                 plugin.name(), result.verdict.Message()));
        pre_filter_.plugin = plugin.name();
        return;
    }
    if (!result.node_names && result.rows == nullptr) continue;
    named_by_.push_back(plugin.name());
    if (result.rows != nullptr) limits_.push_back({result.rows, result.rows->version()});
    if (!result.node_names) continue;
    std::set<std::string> names(result.node_names->begin(), result.node_names->end());
    if (node_names_) {
      std::erase_if(names, [&](const std::string& name) {
        return std::ranges::find(*node_names_, name) == node_names_->end();
      });
    }
    node_names_.emplace(names.begin(), names.end());
    if (node_names_->empty()) {
      std::ranges::sort(named_by_);
      pre_filter_ = Verdict::Unresolvable(
          named_by_.size() == 1
              ? fmt::format("node(s) didn't satisfy plugin {}", named_by_[0])
              : fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously",
                            fmt::join(named_by_, " ")));
      pre_filter_.plugin = plugin.name();
      return;
    }
  }
}

std::string CompiledQuery::AbsentReason() const {
  std::vector<std::string_view> names = named_by_;
  std::ranges::sort(names);
  return fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(names, " "));
}

size_t CompiledQuery::RowsWithinLimits() const {
  size_t least = nodes_.live_rows();
  for (const Limit& limit : limits_) least = std::min(least, limit.rows->size());
  return least;
}

void CompiledQuery::FollowTransformers() {
  const auto& transformers = plan_.profile.filter_transformers;
  if (transformers.empty()) return;
  absl::InlinedVector<FilterTransformer::AbsentPods, 2> said;
  for (FilterTransformer* each : transformers) said.push_back(each->Absent(*query_));
  const auto version_of = [](const auto& absent) { return absent.version; };
  if (std::ranges::equal(said, absent_versions_, {}, version_of)) return;
  absent_versions_.resize(said.size());
  std::ranges::transform(said, absent_versions_.begin(), version_of);
  std::vector<const PodInfo*> pods;
  for (const auto& absent : said) pods.insert(pods.end(), absent.pods.begin(), absent.pods.end());
  query_->SetAbsent(pods, query_->absent_version() + 1);
}

// ---- Rows

void CompiledQuery::Refresh() {
  const bool rows_changed = RefreshRows();
  const bool was_wide = wide_active_;
  const bool wide_moved = WideVersionsMoved();
  if (wide_active_) {
    if (rows_changed || wide_moved) TotalWide();
  } else if (was_wide) {
    RangesMoved();
    TotalRows(ok_.data());
  }
}

void CompiledQuery::Resize() {
  const size_t rows = nodes_.rows();
  ok_.resize(rows, 0);
  base_.resize(rows, 0);
  for (RawScores& raw : raw_) raw.Resize(rows);
  best_.Resize(rows);
  scratch_.scores.resize(rows);
  scratch_.feasible.resize(rows);
}

bool CompiledQuery::RefreshRows() {
  const auto changed = log_position_ ? nodes_.ChangedSince(*log_position_) : std::nullopt;
  log_position_ = nodes_.log_end();
  if (!changed) {
    Rebuild();
    return true;
  }
  if (changed->empty()) return false;
  if (nodes_.rows() != ok_.size()) Resize();
  // Of many shapes in turn none is in the nearest caches.
  for (const NodeRow row : *changed) {
    __builtin_prefetch(&ok_[row]);
    __builtin_prefetch(&base_[row]);
    __builtin_prefetch(best_.Where(row));
  }
  for (const NodeRow row : *changed) RefreshRow(row);
  if (wide_active_) return true;
  if (RangesMoved()) {
    TotalRows(ok_.data());
    return true;
  }
  for (const NodeRow row : *changed) {
    best_.Set(row,
              ok_[row] ? constant_ + base_[row] + NormalizedScore(row) : BestRows::kInfeasible);
  }
  return true;
}

void CompiledQuery::KeepWithinLimits(uint8_t* keep) const {
  if (!is_limited()) return;
  for (NodeRow row{0}; row < nodes_.rows(); ++row) {
    if (!IsWithinLimits(row)) keep[row] = 0;
  }
}

// In blocks, so that all filters have what one of them has read in the nearest cache.
void CompiledQuery::FilterRows() {
  std::copy_n(nodes_.live(), nodes_.rows(), ok_.begin());
  KeepWithinLimits(ok_.data());
  ForEachBlock(nodes_.all(), [&](RowRange block) {
    for (FilterPlugin* filter : plan_.row_filters) {
      if (!IsSkipped(*filter)) filter->Filter(*query_, block, ok_.data() + block.begin);
    }
  });
  minding_ = MindingPods(plan_.row_filters);
  FilterSpecialRows(ok_.data());
}

void CompiledQuery::ScoreRows() {
  ForEachBlock(nodes_.all(), [&](RowRange block) {
    int64_t* const base = base_.data() + block.begin;
    bool has_base = false;
    for (const PluginLineup::Scorer& scorer : plan_.plain_scorers) {
      if (!scores_[scorer.plugin->slot()]) continue;
      if (!has_base && scorer.weight == 1) {
        scorer.plugin->Score(*query_, block, base);
      } else {
        if (!has_base) std::fill_n(base, block.size(), 0);
        scorer.plugin->Score(*query_, block, scratch_.scores.data());
        AddWeighted(base, scratch_.scores.data(), scorer.weight, block.size());
      }
      has_base = true;
    }
    if (!has_base) std::fill_n(base, block.size(), 0);
  });
  ForEachTransformed([&](const RowView& seen) {
    if (ok_[seen.row]) base_[seen.row] = PlainScore(seen);
  });
}

void CompiledQuery::Rebuild() {
  Resize();
  const size_t rows = nodes_.rows();
  FilterRows();
  // Rows that become feasible later are scored then.
  const bool any = std::memchr(ok_.data(), 1, rows) != nullptr;

  scores_.assign(plan_.profile.plugins.size(), 0);
  constant_ = 0;
  score_error_ = Verdict::Success();
  for (const PluginLineup::Scorer& scorer : plan_.plain_scorers) TakesPart(scorer);
  if (any) ScoreRows();
  for (size_t i = 0; i < raw_.size(); ++i) {
    if (!TakesPart(plan_.normalized_scorers[i])) continue;
    if (!any) {
      raw_[i].CountNone();
      continue;
    }
    ScorePlugin& plugin = *plan_.normalized_scorers[i].plugin;
    plugin.Score(*query_, nodes_.all(), raw_[i].data());
    ForEachTransformed([&](const RowView& seen) {
      if (ok_[seen.row]) raw_[i].Set(seen.row, RawScore(plugin, seen));
    });
    raw_[i].CountAll(ok_.data(), RangeOf(raw_[i].data(), ok_.data(), rows));
  }
  // Totals follow, unless a wide pass makes them.
  wide_active_ = true;
  wide_versions_.clear();
}

// Whether a scorer must look at rows. One that has the same to say of all of them is done here.
bool CompiledQuery::TakesPart(const PluginLineup::Scorer& scorer) {
  ScorePlugin& plugin = *scorer.plugin;
  const Verdict verdict = plugin.PreScore(*query_, {});
  if (verdict.code == Code::kSkip) return false;
  if (!verdict.ok()) {
    if (score_error_.ok()) {
      score_error_ = Verdict::Error(
          fmt::format("running PreScore plugin \"{}\": {}", plugin.name(), verdict.Message()));
    }
    return false;
  }
  if (const std::optional<int64_t> same = plugin.SameForAll(*query_)) {
    int64_t score = *same;
    if (plugin.normalizes()) plugin.Normalize(*query_, {*same, *same}, {&score, 1});
    constant_ += scorer.weight * score;
    return false;
  }
  scores_[plugin.slot()] = 1;
  return true;
}

void CompiledQuery::RefreshRow(NodeRow row) {
  if (ok_[row]) {
    for (size_t i = 0; i < raw_.size(); ++i) {
      if (scores_[plan_.normalized_scorers[i].plugin->slot()]) raw_[i].Uncount(row);
    }
  }
  RowDelta merged;
  const RowView seen = Seen(row, merged);
  uint8_t keep = nodes_.live()[row] && IsWithinLimits(row) ? 1 : 0;
  if (seen.delta != nullptr) {
    keep = keep && PassesTransformed(seen, plan_.row_filters) ? 1 : 0;
  } else {
    for (FilterPlugin* filter : plan_.row_filters) {
      if (!keep) break;
      if (!IsSkipped(*filter)) filter->Filter(*query_, RowRange::Only(row), &keep);
    }
    if (keep) keep = PassesPromised(row, minding_) ? 1 : 0;
  }
  ok_[row] = keep;
  if (!keep) return;
  base_[row] = PlainScore(seen);
  for (size_t i = 0; i < raw_.size(); ++i) {
    ScorePlugin& plugin = *plan_.normalized_scorers[i].plugin;
    if (!scores_[plugin.slot()]) continue;
    raw_[i].Set(row, RawScore(plugin, seen));
    raw_[i].Count(row);
  }
}

RowView CompiledQuery::Seen(NodeRow row, RowDelta& merged) const {
  RowView seen{row, nullptr};
  for (FilterTransformer* each : plan_.profile.filter_transformers) {
    const RowDelta* delta = each->DeltaOf(*query_, row);
    if (delta == nullptr) continue;
    if (seen.delta == nullptr) {
      seen.delta = delta;
      continue;
    }
    if (seen.delta != &merged) merged = *seen.delta;
    merged.Add(*delta);
    seen.delta = &merged;
  }
  return seen;
}

template <class Visit>
void CompiledQuery::ForEachTransformed(Visit visit) const {
  for (FilterTransformer* each : plan_.profile.filter_transformers) {
    for (const NodeRow row : each->TransformedRows(*query_)) {
      if (!nodes_.IsLive(row)) continue;
      RowDelta merged;
      visit(Seen(row, merged));
    }
  }
}

// Those that are promised to others, and those that look different for this pod.
void CompiledQuery::FilterSpecialRows(uint8_t* keep) {
  for (const NodeRow row : nominated_.rows()) {
    if (keep[row]) keep[row] = PassesPromised(row, minding_) ? 1 : 0;
  }
  ForEachTransformed([&](const RowView& seen) {
    const bool passes = IsWithinLimits(seen.row) && PassesTransformed(seen, plan_.row_filters);
    keep[seen.row] = passes ? 1 : 0;
  });
}

// Of filters, those that have something to say and to which the pods of a row make a difference.
std::vector<FilterPlugin*> CompiledQuery::MindingPods(const std::vector<FilterPlugin*>& filters) {
  std::vector<FilterPlugin*> minding;
  for (FilterPlugin* filter : filters) {
    if (!IsSkipped(*filter) && filter->Reads(*query_) != FilterPlugin::PodsRead::kNone) {
      minding.push_back(filter);
    }
  }
  return minding;
}

// A row that passes as it is, also with the pods that are promised it.
bool CompiledQuery::PassesPromised(NodeRow row, const std::vector<FilterPlugin*>& minding) const {
  const RowDelta* delta = nominated_.DeltaAt(row, shape().priority);
  return delta == nullptr || std::ranges::all_of(minding, [&](FilterPlugin* filter) {
           return filter->Check(*query_, {row, delta}).ok();
         });
}

bool CompiledQuery::PassesTransformed(const RowView& seen,
                                      const std::vector<FilterPlugin*>& filters) {
  const auto passes = [&](const RowView& row) {
    return std::ranges::all_of(filters, [&](FilterPlugin* filter) {
      return IsSkipped(*filter) || filter->Check(*query_, row).ok();
    });
  };
  if (!passes(seen)) return false;
  const RowDelta* promised = nominated_.DeltaAt(seen.row, shape().priority);
  if (promised == nullptr) return true;
  RowDelta with_promised = *seen.delta;
  with_promised.Add(*promised);
  return passes({seen.row, &with_promised});
}

int64_t CompiledQuery::RawScore(ScorePlugin& plugin, const RowView& seen) {
  if (seen.delta != nullptr) return plugin.ScoreRow(*query_, seen);
  int64_t score = 0;
  plugin.Score(*query_, RowRange::Only(seen.row), &score);
  return score;
}

int64_t CompiledQuery::PlainScore(const RowView& seen) {
  int64_t sum = 0;
  for (const PluginLineup::Scorer& scorer : plan_.plain_scorers) {
    if (!scores_[scorer.plugin->slot()]) continue;
    sum += scorer.weight * RawScore(*scorer.plugin, seen);
  }
  return sum;
}

// ---- Totals

int64_t CompiledQuery::NormalizedScore(NodeRow row) {
  int64_t sum = 0;
  for (size_t i = 0; i < raw_.size(); ++i) {
    const PluginLineup::Scorer& scorer = plan_.normalized_scorers[i];
    if (!scores_[scorer.plugin->slot()]) continue;
    int64_t score = raw_[i].At(row);
    scorer.plugin->Normalize(*query_, ranges_[i], {&score, 1});
    sum += scorer.weight * score;
  }
  return sum;
}

bool CompiledQuery::RangesMoved() {
  bool moved = false;
  for (size_t i = 0; i < raw_.size(); ++i) {
    const ScoreRange range = raw_[i].range();
    moved = moved || range != ranges_[i];
    ranges_[i] = range;
  }
  return moved;
}

bool CompiledQuery::WideVersionsMoved() {
  bool moved = false;
  bool active = false;
  size_t i = 0;
  const auto look = [&](uint64_t version) {
    if (i == wide_versions_.size()) {
      wide_versions_.push_back(version);
      moved = true;
    } else if (wide_versions_[i] != version) {
      wide_versions_[i] = version;
      moved = true;
    }
    active = active || version != 0;
    ++i;
  };
  for (FilterPlugin* filter : plan_.wide_filters) look(filter->WideVersion(*query_));
  for (const auto& scorer : plan_.wide_scorers) look(scorer.plugin->WideVersion(*query_));
  // Pods that are promised a node may be of a kind that nothing else in the cluster is.
  wide_active_ = active || (!nominated_.rows().empty() && !MindingPods(plan_.wide_filters).empty());
  return moved;
}

// Totals without the wide scorers' part.
void CompiledQuery::TotalRows(const uint8_t* feasible) {
  const Sums sums = SumRows(feasible);
  best_.SetAll(sums.scores, sums.more, feasible);
}

// Of all rows, feasible or not, without the wide scorers' part.
CompiledQuery::Sums CompiledQuery::SumRows(const uint8_t* feasible) {
  const size_t rows = ok_.size();
  // A score that all rows share is the same number for every row.
  int64_t shared = constant_;
  for (size_t i = 0; i < raw_.size(); ++i) {
    const PluginLineup::Scorer& scorer = plan_.normalized_scorers[i];
    if (!scores_[scorer.plugin->slot()] || !raw_[i].uniform()) continue;
    ranges_[i] = raw_[i].range();
    int64_t score = ranges_[i].max;
    scorer.plugin->Normalize(*query_, ranges_[i], {&score, 1});
    shared += scorer.weight * score;
  }
  Sums sums{base_.data(), shared};
  for (size_t i = 0; i < raw_.size(); ++i) {
    const PluginLineup::Scorer& scorer = plan_.normalized_scorers[i];
    if (!scores_[scorer.plugin->slot()] || raw_[i].uniform()) continue;
    if (feasible != ok_.data()) ranges_[i] = RangeOf(raw_[i].data(), feasible, rows);
    std::copy_n(raw_[i].data(), rows, scratch_.scores.data());
    scorer.plugin->Normalize(*query_, ranges_[i], {scratch_.scores.data(), rows});
    AddScores(sums, scorer.weight);
  }
  return sums;
}

// Of all rows, from the scratch buffer.
void CompiledQuery::AddScores(Sums& sums, int64_t weight) {
  if (sums.scores == base_.data()) {
    CopyPlus(best_.data(), base_.data(), sums.more, ok_.size());
    sums = {best_.data(), 0};
  }
  AddWeighted(best_.data(), scratch_.scores.data(), weight, ok_.size());
}

void CompiledQuery::TotalWide() {
  const size_t rows = ok_.size();
  uint8_t* feasible = scratch_.feasible.data();
  std::copy_n(ok_.data(), rows, feasible);
  size_t wide = 0;
  for (FilterPlugin* filter : plan_.wide_filters) {
    if (wide_versions_[wide++] != 0) filter->Filter(*query_, nodes_.all(), feasible);
  }
  if (const auto minding = MindingPods(plan_.wide_filters); !minding.empty()) {
    for (const NodeRow row : nominated_.rows()) {
      if (feasible[row]) feasible[row] = PassesPromised(row, minding) ? 1 : 0;
    }
  }
  ForEachTransformed([&](const RowView& seen) {
    if (!ok_[seen.row]) return;
    feasible[seen.row] = PassesTransformed(seen, plan_.wide_filters) ? 1 : 0;
  });
  Sums sums = SumRows(feasible);
  AddWideScores(feasible, sums);
  best_.SetAll(sums.scores, sums.more, feasible);
}

void CompiledQuery::AddWideScores(const uint8_t* feasible, Sums& sums) {
  const size_t rows = ok_.size();
  size_t wide = plan_.wide_filters.size();
  for (const PluginLineup::Scorer& scorer : plan_.wide_scorers) {
    scores_[scorer.plugin->slot()] = 0;
    if (wide_versions_[wide++] == 0) continue;
    const Verdict verdict = scorer.plugin->PreScore(*query_, {feasible, rows});
    if (verdict.code == Code::kSkip) continue;
    if (!verdict.ok()) {
      score_error_ = Verdict::Error(fmt::format("running PreScore plugin \"{}\": {}",
                                                scorer.plugin->name(), verdict.Message()));
      return;
    }
    scores_[scorer.plugin->slot()] = 1;
    scorer.plugin->Score(*query_, nodes_.all(), scratch_.scores.data());
    ForEachTransformed([&](const RowView& seen) {
      if (!feasible[seen.row]) return;
      scratch_.scores[seen.row] = RawScore(*scorer.plugin, seen);
    });
    if (scorer.plugin->normalizes()) {
      const ScoreRange range = RangeOf(scratch_.scores.data(), feasible, rows);
      scorer.plugin->Normalize(*query_, range, {scratch_.scores.data(), rows});
    }
    AddScores(sums, scorer.weight);
  }
}

// ---- Some rows only

std::vector<NodeRow> CompiledQuery::Passing(const std::vector<NodeRow>& rows, size_t enough,
                                            std::string_view uid, size_t& looked_at) {
  std::vector<NodeRow> passing;
  for (const NodeRow row : rows) {
    if (passing.size() == enough) break;
    ++looked_at;
    if (!nodes_.IsLive(row) || !IsWithinLimits(row)) continue;
    if (Check({row, nullptr}, uid).ok()) passing.push_back(row);
  }
  return passing;
}

CompiledQuery::Among CompiledQuery::ChooseAmong(const std::vector<NodeRow>& rows, size_t enough,
                                                std::string_view uid,
                                                std::vector<ScorerColumn>* columns) {
  Among among;
  among.feasible = Passing(rows, enough, uid, among.looked_at);
  const size_t n = among.feasible.size();
  among.totals.assign(n, 0);
  if (n <= 1) return among;
  scratch_.feasible.assign(nodes_.rows(), 0);
  for (const NodeRow row : among.feasible) scratch_.feasible[row] = 1;
  const std::vector<uint8_t> mask(n, 1);
  std::vector<int64_t> scores(n);
  score_error_ = Verdict::Success();
  for (const PluginLineup::Scorer& scorer : plan_.profile.score) {
    ScorePlugin& plugin = *scorer.plugin;
    if (plugin.wide() && plugin.WideVersion(*query_) == 0) continue;
    const Verdict verdict = plugin.PreScore(*query_, scratch_.feasible);
    if (verdict.code == Code::kSkip) continue;
    if (!verdict.ok()) {
      score_error_ = Verdict::Error(
          fmt::format("running PreScore plugin \"{}\": {}", plugin.name(), verdict.Message()));
      return among;
    }
    for (size_t i = 0; i < n; ++i) {
      RowDelta merged;
      scores[i] = RawScore(plugin, Seen(among.feasible[i], merged));
    }
    if (plugin.normalizes()) {
      plugin.Normalize(*query_, RangeOf(scores.data(), mask.data(), n), scores);
    }
    AddWeighted(among.totals.data(), scores.data(), scorer.weight, n);
    if (columns == nullptr) continue;
    columns->push_back({plugin.name(), scores});
    for (int64_t& score : columns->back().scores) score *= scorer.weight;
  }
  return among;
}

bool CompiledQuery::IsSilent(FilterPlugin& filter, const RowView& row) {
  if (IsSkipped(filter)) return true;
  return filter.wide() && filter.WideVersion(*query_) == 0 && row.delta == nullptr;
}

RowVerdict CompiledQuery::CheckOnce(const RowView& row, RowDiagnosis* why) {
  for (FilterPlugin* filter : plan_.profile.filter) {
    if (IsSilent(*filter, row)) continue;
    RowVerdict verdict = filter->Check(*query_, row);
    if (verdict.ok()) continue;
    if (why != nullptr) why->plugin = static_cast<uint32_t>(filter->slot());
    return verdict;
  }
  return {};
}

RowDelta CompiledQuery::DeltaFor(const RowView& row, std::string_view uid, size_t* promised) const {
  RowDelta delta;
  RowDelta merged;
  if (const RowDelta* seen = Seen(row.row, merged).delta) delta = *seen;
  if (row.delta != nullptr) delta.Add(*row.delta);
  const size_t own = delta.added.size();
  if (!nominated_.empty()) {
    const auto pods = nominated_.On(row.row, shape().priority, uid);
    delta.added.insert(delta.added.end(), pods.begin(), pods.end());
  }
  *promised = delta.added.size() - own;
  return delta;
}

RowVerdict CompiledQuery::Check(const RowView& row, std::string_view uid, RowDiagnosis* why) {
  size_t promised = 0;
  RowDelta delta = DeltaFor(row, uid, &promised);
  if (promised > 0) {
    RowVerdict verdict = CheckOnce({row.row, &delta}, why);
    if (!verdict.ok()) return verdict;
    if (why != nullptr) why->pass = 1;
    delta.added.resize(delta.added.size() - promised);
  }
  return CheckOnce({row.row, delta.empty() ? nullptr : &delta}, why);
}

std::vector<RowDiagnosis> CompiledQuery::Rejections(const RowView& row, std::string_view uid) {
  size_t promised = 0;
  const RowDelta delta = DeltaFor(row, uid, &promised);
  const RowView view{row.row, delta.empty() ? nullptr : &delta};
  std::vector<RowDiagnosis> rejections;
  for (FilterPlugin* filter : plan_.profile.filter) {
    if (IsSilent(*filter, view)) continue;
    RowVerdict verdict = filter->Check(*query_, view);
    if (verdict.ok()) continue;
    rejections.push_back({static_cast<uint32_t>(filter->slot()), std::move(verdict)});
  }
  return rejections;
}

void CompiledQuery::TimePlugins(const Clock& clock, const Timed& timed) {
  const size_t rows = nodes_.rows();
  std::vector<uint8_t> keep(rows);
  std::vector<int64_t> scores(rows);
  for (FilterPlugin* filter : plan_.profile.filter) {
    if (IsSilent(*filter, {})) continue;
    std::copy_n(nodes_.live(), rows, keep.begin());
    const SteadyTime began = clock.Steady();
    filter->Filter(*query_, nodes_.all(), keep.data());
    timed(*filter, "Filter", clock.Steady() - began);
  }
  for (const PluginLineup::Scorer& scorer : plan_.profile.score) {
    ScorePlugin& plugin = *scorer.plugin;
    if (plugin.slot() >= scores_.size() || !scores_[plugin.slot()]) continue;
    const SteadyTime began = clock.Steady();
    plugin.Score(*query_, nodes_.all(), scores.data());
    timed(plugin, "Score", clock.Steady() - began);
  }
}

// ---- Why not

const KnownUnfit* CompiledQuery::known_unfit() const {
  return known_unfit_ && diagnosed_at_ == nodes_.log_end() && known_at_ == nodes_.log_end()
             ? &*known_unfit_
             : nullptr;
}

void CompiledQuery::SetKnownUnfit(KnownUnfit unfit) {
  if (!diagnosed_at_) return;
  known_unfit_ = std::move(unfit);
  known_at_ = *diagnosed_at_;
}

uint64_t CompiledQuery::RowsVersion() {
  const bool independent = std::ranges::all_of(plan_.wide_filters, [&](FilterPlugin* filter) {
    return IsSkipped(*filter) || filter->WideVersion(*query_) == 0;
  });
  return independent ? compilation_ : 0;
}

void CompiledQuery::DiagnoseRow(NodeRow row, std::string_view uid) {
  RowDiagnosis diagnosis;
  if (nodes_.IsLive(row) && IsWithinLimits(row)) {
    diagnosis.verdict = Check({row, nullptr}, uid, &diagnosis);
  }
  diagnoses_.Set(row, diagnosis);
}

// All rows, as pods see them that no node is promised to.
void CompiledQuery::DiagnoseColumns() {
  const size_t rows = nodes_.rows();
  diagnoses_.Reset(rows);
  std::vector<uint8_t>& keep = scratch_.feasible;
  keep.assign(nodes_.live(), nodes_.live() + rows);
  KeepWithinLimits(keep.data());
  for (FilterPlugin* filter : plan_.profile.filter) {
    if (!IsSilent(*filter, {})) filter->Diagnose(*query_, keep.data(), diagnoses_);
  }
  for (const NodeRow row : nominated_.rows()) DiagnoseRow(row, "");
  ForEachTransformed([&](const RowView& seen) { DiagnoseRow(seen.row, ""); });
}

RowDiagnoses CompiledQuery::DiagnoseAll(std::string_view uid) {
  const bool keeps = RowsVersion() != 0;
  const auto changed = diagnosed_at_ && keeps ? nodes_.ChangedSince(*diagnosed_at_) : std::nullopt;
  if (changed) {
    diagnoses_.Resize(nodes_.rows());
    for (const NodeRow row : *changed) DiagnoseRow(row, uid);
  } else {
    DiagnoseColumns();
  }
  // What rests on other rows, as long as it does, is not kept until it no longer does.
  diagnosed_at_ = keeps ? std::optional(nodes_.log_end()) : std::nullopt;
  // A row that is promised to the pod itself looks different to it than to its like.
  if (const auto own = nodes_.Find(nominated_.NodeOf(uid))) {
    DiagnoseRow(*own, uid);
    diagnosed_at_.reset();
  }
  return diagnoses_;
}

RowDiagnoses CompiledQuery::DiagnoseSome(const std::vector<NodeRow>& rows, std::string_view uid) {
  diagnoses_.Reset(nodes_.rows());
  diagnosed_at_.reset();
  for (const NodeRow row : rows) DiagnoseRow(row, uid);
  return diagnoses_;
}

}  // namespace koord::scheduler
