#pragma once
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
#include "scheduler/pipeline/nominated_rows.h"
#include "scheduler/pipeline/plan.h"
#include "scheduler/pipeline/raw_scores.h"

namespace koord::scheduler {

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

  PodQuery& query() { return *query_; }
  const PodShape& shape() const { return query_->shape(); }
  const ShapePtr& shared_shape() const { return query_->shared_shape(); }

  // Asks the PreFilters that want to be asked each time, and sums all up.
  void PreFilter();
  // A rejection or an error ends the cycle.
  const Verdict& pre_filter() const { return pre_filter_; }
  // The only nodes that can do, if PreFilters have named some; and who did.
  const std::optional<std::vector<std::string>>& node_names() const { return node_names_; }
  std::string AbsentReason() const;

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

  // Runs the plugins over all rows one by one, for their times; what they find is dropped.
  using Timed = std::function<void(const Plugin&, std::string_view point, Duration took)>;
  void TimePlugins(const Clock& clock, const Timed& timed);

  // Why rows fell out: of the named ones, or of all. Rows that did not change since they were last
  // asked about are not looked at again, where rows are independent of each other.
  std::span<const RowDiagnosis> DiagnoseAll(std::string_view uid);
  std::span<const RowDiagnosis> DiagnoseSome(const std::vector<NodeRow>& rows,
                                             std::string_view uid);
  // As long as this number stays, what is true of a row stays so until the row changes. 0: it does
  // not, since a filter looks beyond the row at present.
  uint64_t RowsVersion();

 private:
  void RunPreFilter(PreFilterPlugin& plugin, PreFilterResult& result);
  void CombinePreFilters();
  bool IsSkipped(const Plugin& plugin) const { return skipped_[plugin.slot()] != 0; }

  void Resize();
  bool RefreshRows();  // whether anything changed
  void Rebuild();
  bool TakesPart(const PluginLineup::Scorer& scorer);
  void RefreshRow(NodeRow row);
  void FilterSpecialRows(uint8_t* keep);
  bool IsSpecial(NodeRow row) const;
  bool PassesSpecial(NodeRow row, const std::vector<FilterPlugin*>& filters);
  RowDelta DeltaFor(NodeRow row) const;
  int64_t PlainScore(NodeRow row);
  int64_t NormalizedScore(NodeRow row);
  bool RangesMoved();
  bool WideVersionsMoved();
  void TotalRows(const uint8_t* feasible);
  void TotalWide();
  void AddWideScores(const uint8_t* feasible);
  bool IsSilent(FilterPlugin& filter, const RowView& row);
  RowVerdict CheckOnce(const RowView& row, RowDiagnosis* why);
  // The row as the pod sees it; how many of the added pods are promised the node, at the end.
  RowDelta DeltaFor(const RowView& row, std::string_view uid, size_t* promised) const;
  void DiagnoseRow(NodeRow row, std::string_view uid);

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
  std::vector<std::string_view> named_by_;

  std::optional<uint64_t> log_position_;  // nothing: rows were never looked at
  std::vector<uint8_t> ok_;               // passes all row filters
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
  std::vector<RowDiagnosis> diagnoses_;
};

}  // namespace koord::scheduler
