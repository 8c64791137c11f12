#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/pipeline/best_rows.h"
#include "scheduler/pipeline/needs_columns.h"
#include "scheduler/pipeline/nominated_rows.h"
#include "scheduler/pipeline/plan.h"
#include "scheduler/pipeline/raw_scores.h"

namespace koord::scheduler {

// What was said of a pod that fits nowhere.
struct KnownUnfit {
  std::vector<uint32_t> rejectors;  // slots of the plugins
  std::string post_filter;
  std::optional<std::string> nominated_node;
  std::string message;
};

// A shape with everything that was found out about it: what the plugins compiled, which rows it may
// use, and what each is worth. Refreshing looks only at rows that have changed since.
//
// Three layers, from rarely to often recomputed:
//   rows    what row filters and scorers say, a row at a time, from the log of changed rows
//   ranges  normalised scores, when the least or largest raw score of the feasible rows moved
//   wide    filters and scorers about topology domains, in one pass over all rows
class CompiledQuery {
 public:
  // Shared by all queries: buffers for passes over all rows.
  struct Scratch {
    std::vector<int64_t> scores;
    std::vector<uint8_t> feasible;
    uint64_t compiled = 0;  // how often any query was
  };

  CompiledQuery(const Plan& plan, const NodeTable& nodes, const NominatedRows& nominated,
                Scratch& scratch);

  // Makes it one for this shape. Buffers are kept.
  void Compile(ShapePtr shape);
  // Nothing that was compiled or found by PreFilter is out of date.
  bool IsCurrent() const;
  // A number for the versions of the plugins that it was compiled with.
  uint64_t versions() const;

  PodQuery& query() { return *query_; }
  const PodShape& shape() const { return query_->shape(); }
  const ShapePtr& shared_shape() const { return query_->shared_shape(); }

  // What PreFilters say of the shape.
  const Verdict& pre_filter() const { return pre_filter_; }
  // Whether this pod may be placed at all: what PreFilters say, or else those that are asked about
  // every single pod. A rejection or an error ends the cycle.
  Verdict Admit(const kube::Pod& pod) const;
  // The only nodes that can do, if PreFilters have named some; and who did.
  const std::optional<std::vector<std::string>>& node_names() const { return node_names_; }
  std::string AbsentReason() const;
  // PreFilters have limited the rows to sets that are followed.
  bool is_limited() const { return !limits_.empty(); }
  bool IsWithinLimits(NodeRow row) const {
    return limits_.empty() ||
           std::ranges::all_of(limits_, [&](const Limit& limit) { return limit.rows->Has(row); });
  }
  size_t RowsWithinLimits() const;

  // Looks at what transformers say by now of pods that the shape does not see. Before any question
  // about rows.
  void FollowTransformers();

  // Brings rows and totals up to date.
  void Refresh();
  const BestRows& best() const { return best_; }
  // Scoring failed: matters if there is more than one node to choose from.
  const Verdict& score_error() const { return score_error_; }

  // Of these rows those that pass all filters, looking at them in order until there are `enough`.
  std::vector<NodeRow> Passing(const std::vector<NodeRow>& rows, size_t enough,
                               std::string_view uid, size_t& looked_at);
  // Chooses among these rows only, looking at them in order until `enough` are feasible. Returns
  // how many were looked at.
  struct Among {
    std::vector<NodeRow> feasible;
    std::vector<int64_t> totals;
    size_t looked_at = 0;
  };
  // The weighted scores of a scorer, in the order of Among::feasible.
  struct ScorerColumn {
    std::string_view plugin;
    std::vector<int64_t> scores;
  };
  // `columns`, if given, gets one for each scorer that took part.
  Among ChooseAmong(const std::vector<NodeRow>& rows, size_t enough, std::string_view uid,
                    std::vector<ScorerColumn>* columns = nullptr);

  // One row, with reasons: the first rejection in profile order, and whose it is. Pods that are
  // promised the node and at least as important are taken for present, unless that alone lets the
  // pod in.
  RowVerdict Check(const RowView& row, std::string_view uid, RowDiagnosis* why = nullptr);
  // Everybody who would reject the row, in profile order, with the pods that are promised it.
  std::vector<RowDiagnosis> Rejections(const RowView& row, std::string_view uid);

  // What Check asks of rows, taken apart; null if it cannot be. Good until anything changes.
  const RowNeeds* Needs(std::string_view uid) { return needs_.Refresh(*query_, skipped_, uid); }

  // Runs the plugins over all rows one by one, for their times; what they find is dropped.
  using Timed = std::function<void(const Plugin&, std::string_view point, Duration took)>;
  void TimePlugins(const Clock& clock, const Timed& timed);

  // Why rows fell out: of the named ones, or of all. Rows that did not change since they were last
  // asked about are not looked at again, where rows are independent of each other.
  RowDiagnoses DiagnoseAll(std::string_view uid);
  RowDiagnoses DiagnoseSome(const std::vector<NodeRow>& rows, std::string_view uid);
  // As long as this number stays, what is true of a row stays so until the row changes. 0: it does
  // not, since a filter looks beyond the row at present.
  uint64_t RowsVersion();
  // Where in the log the kept diagnosis of all rows stands; nothing if it is not kept.
  std::optional<uint64_t> diagnosed_at() const { return diagnosed_at_; }
  // What was said when all rows were diagnosed last and holds for all pods of the shape, until any
  // row changes; null if nothing was, or one has.
  const KnownUnfit* known_unfit() const;
  void SetKnownUnfit(KnownUnfit unfit);

 private:
  void RunPreFilter(PreFilterPlugin& plugin, PreFilterResult& result);
  void CombinePreFilters();
  bool IsSkipped(const Plugin& plugin) const { return skipped_[plugin.slot()] != 0; }

  void Resize();
  bool RefreshRows();  // whether anything changed
  void Rebuild();
  void KeepWithinLimits(uint8_t* keep) const;
  void FilterRows();
  void ScoreRows();
  bool TakesPart(const PluginLineup::Scorer& scorer);
  void RefreshRow(NodeRow row);
  void FilterSpecialRows(uint8_t* keep);
  // The row as pods of the shape see it, apart from promises: with what transformers say. `merged`
  // is room for several deltas in one.
  RowView Seen(NodeRow row, RowDelta& merged) const;
  // visit(RowView) for all live rows that look different, some more than once.
  template <class Visit>
  void ForEachTransformed(Visit visit) const;
  bool PassesTransformed(const RowView& seen, const std::vector<FilterPlugin*>& filters);
  std::vector<FilterPlugin*> MindingPods(const std::vector<FilterPlugin*>& filters);
  bool PassesPromised(NodeRow row, const std::vector<FilterPlugin*>& minding) const;
  int64_t RawScore(ScorePlugin& plugin, const RowView& seen);
  int64_t PlainScore(const RowView& seen);
  int64_t NormalizedScore(NodeRow row);
  bool RangesMoved();
  bool WideVersionsMoved();
  // What rows are worth: scores[row] + more each.
  struct Sums {
    const int64_t* scores;  // base_, until more than that is added
    int64_t more;
  };
  Sums SumRows(const uint8_t* feasible);
  void AddScores(Sums& sums, int64_t weight);
  void TotalRows(const uint8_t* feasible);
  void TotalWide();
  void AddWideScores(const uint8_t* feasible, Sums& sums);
  bool IsSilent(FilterPlugin& filter, const RowView& row);
  RowVerdict CheckOnce(const RowView& row, RowDiagnosis* why);
  // The row as the pod sees it; how many of the added pods are promised the node, at the end.
  RowDelta DeltaFor(const RowView& row, std::string_view uid, size_t* promised) const;
  void DiagnoseRow(NodeRow row, std::string_view uid);
  void DiagnoseColumns();

  const Plan& plan_;
  const NodeTable& nodes_;
  const NominatedRows& nominated_;
  Scratch& scratch_;
  std::unique_ptr<PodQuery> query_;
  std::vector<uint64_t> versions_;  // of the plugins, by slot
  uint64_t compilation_ = 0;        // its number among those of all queries

  std::vector<PreFilterResult> pre_filters_;
  std::vector<uint8_t> skipped_;  // by slot: the filter has nothing to say
  Verdict pre_filter_;
  std::optional<std::vector<std::string>> node_names_;
  std::vector<std::string_view> named_by_;  // or limited
  struct Limit {
    std::shared_ptr<const RowLimit> rows;
    uint64_t version;
  };
  std::vector<Limit> limits_;
  std::vector<uint64_t> absent_versions_;  // by transformer

  NeedsColumns needs_;

  std::optional<uint64_t> log_position_;  // nothing: rows were never looked at
  std::vector<uint8_t> ok_;               // passes all row filters
  std::vector<FilterPlugin*> minding_;    // row filters that read the pods of a row
  std::vector<int64_t> base_;             // sum of the plain scores, weighed, without constant_
  int64_t constant_ = 0;                  // what scorers add to every row alike, weighed
  std::vector<RawScores> raw_;            // of the normalised scorers
  std::vector<ScoreRange> ranges_;        // that the totals rest on
  std::vector<uint8_t> scores_;           // by slot: the scorer takes part
  Verdict score_error_;
  std::vector<uint64_t> wide_versions_;
  bool wide_active_ = false;
  BestRows best_;

  std::optional<uint64_t> diagnosed_at_;  // position in the log; nothing: never
  DiagnosisTable diagnoses_;
  std::optional<KnownUnfit> known_unfit_;
  uint64_t known_at_ = 0;
};

}  // namespace koord::scheduler
