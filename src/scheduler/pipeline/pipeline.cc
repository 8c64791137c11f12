#include "scheduler/pipeline/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace koord::scheduler {

Pipeline::Pipeline(const PluginLineup& profile, Ledger& ledger, NominatedRows& nominated,
                   NodeOrder& order, Random& random, size_t kept_shapes)
    : plan_(profile),
      ledger_(ledger),
      nominated_(nominated),
      order_(order),
      random_(random),
      kept_shapes_(kept_shapes) {}

void Pipeline::BeginCycle(WallTime now) {
  for (const auto& plugin : plan_.profile.plugins) plugin->BeforeCycle(now);
}

CompiledQuery& Pipeline::QueryFor(const ShapePtr& shape) {
  if (shape->id == last_shape_ && last_query_->IsCurrent()) {
    last_query_->FollowTransformers();
    return *last_query_;
  }
  const auto found = queries_.find(shape->id);
  CompiledQuery& query = found != queries_.end() ? Use(found->second) : Keep(shape);
  if (found != queries_.end() && !query.IsCurrent()) query.Compile(shape);
  query.FollowTransformers();
  last_shape_ = shape->id;
  last_query_ = &query;
  return query;
}

CompiledQuery& Pipeline::Use(Kept& kept) {
  used_.splice(used_.begin(), kept.seen_again ? used_ : new_, kept.use);
  kept.seen_again = true;
  std::unique_ptr<CompiledQuery> pushed_out;
  if (used_.size() > kept_shapes_) PushOutOldest(used_, pushed_out);
  return *kept.query;
}

void Pipeline::PushOutOldest(std::list<uint32_t>& ids, std::unique_ptr<CompiledQuery>& reused) {
  const auto oldest = queries_.find(ids.back());
  reused = std::move(oldest->second.query);
  queries_.erase(oldest);
  ids.pop_back();
}

CompiledQuery& Pipeline::Keep(const ShapePtr& shape) {
  const auto returned = std::ranges::find(pushed_out_, shape->id);
  const bool again = returned != pushed_out_.end();
  if (again) pushed_out_.erase(returned);
  std::list<uint32_t>& ids = again ? used_ : new_;
  std::unique_ptr<CompiledQuery> made;  // from buffers that are used again, if any
  if (!again && new_.size() >= kNewShapes) {
    pushed_out_.push_back(new_.back());
    if (pushed_out_.size() > kRemembered) pushed_out_.pop_front();
    PushOutOldest(new_, made);
  } else if (again && used_.size() >= kept_shapes_) {
    PushOutOldest(used_, made);
  } else {
    made = std::make_unique<CompiledQuery>(plan_, ledger_.nodes(), nominated_, scratch_);
  }
  made->Compile(shape);
  CompiledQuery& query = *made;
  ids.push_front(shape->id);
  queries_.emplace(shape->id, Kept{std::move(made), ids.begin(), again});
  return query;
}

// The query of a shape that waits and is not among those that are kept.
struct Pipeline::Probe final : ProbeState {
  Probe(std::unique_ptr<CompiledQuery> query, std::shared_ptr<size_t> count)
      : query(std::move(query)), count(std::move(count)) {
    ++*this->count;
  }
  ~Probe() override { --*count; }

  std::unique_ptr<CompiledQuery> query;
  std::shared_ptr<size_t> count;
};

CompiledQuery& Pipeline::QueryToProbe(Unfit& unfit) {
  const auto kept = queries_.find(unfit.shape->id);
  CompiledQuery* query = nullptr;
  if (kept != queries_.end()) {
    query = kept->second.query.get();
  } else if (unfit.probe != nullptr) {
    query = static_cast<Probe&>(*unfit.probe).query.get();
  }
  if (query != nullptr) {
    if (!query->IsCurrent()) query->Compile(unfit.shape);
    query->FollowTransformers();
    return *query;
  }
  auto made = std::make_unique<CompiledQuery>(plan_, ledger_.nodes(), nominated_, scratch_);
  made->Compile(unfit.shape);
  CompiledQuery& compiled = *made;
  if (*probes_ < kMostProbes) {
    unfit.probe = std::make_shared<Probe>(std::move(made), probes_);
  } else {
    last_probe_ = std::move(made);
  }
  return compiled;
}

std::vector<NodeRow> Pipeline::RowsOf(const std::vector<std::string>& names) const {
  std::vector<NodeRow> rows;
  for (const std::string& name : names) {
    if (const auto row = ledger_.nodes().Find(name)) rows.push_back(*row);
  }
  return rows;
}

std::vector<NodeRow> Pipeline::RowsLeftTo(CompiledQuery& query) {
  std::vector<NodeRow> rows = query.node_names() ? RowsOf(*query.node_names()) : order_.rows();
  if (query.is_limited()) {
    std::erase_if(rows, [&](NodeRow row) { return !query.IsWithinLimits(row); });
  }
  return rows;
}

std::vector<NodeRow> Pipeline::PreferredRows(CompiledQuery& query) const {
  std::vector<std::string> names;
  for (const std::string& name : plan_.profile.prefer_nodes.front()->PreferNodes(query.query())) {
    const auto& allowed = query.node_names();
    if (!allowed || std::ranges::find(*allowed, name) != allowed->end()) names.push_back(name);
  }
  return RowsOf(names);
}

size_t Pipeline::NumberToFind(size_t candidates) const {
  constexpr size_t kMinimum = 100;
  const auto percent = static_cast<size_t>(plan_.profile.percentage_of_nodes_to_score);
  if (percent == 0 || percent >= 100 || candidates < kMinimum) return candidates;
  return std::max(kMinimum, candidates * percent / 100);
}

Decision Pipeline::Decide(const kube::Pod& pod, const ShapePtr& shape) {
  const size_t nodes = ledger_.nodes().live_rows();
  if (nodes == 0) {
    return {.verdict = Verdict::Unresolvable("no nodes available to schedule pods"),
            .no_nodes = true};
  }
  CompiledQuery& query = QueryFor(shape);
  if (Verdict verdict = query.Admit(pod); !verdict.ok()) {
    return {.verdict = std::move(verdict), .evaluated = nodes};
  }

  if (const Decision first = DecideFirst(query, pod); first.placed()) return first;
  if (query.node_names()) {
    return DecideAmong(query, RowsLeftTo(query), nodes, pod);
  }
  const size_t enough = NumberToFind(nodes);
  if (enough < nodes && !query.is_limited()) {
    const Decision decision = DecideAmong(query, RowsInTurn(), enough, pod);
    LookedAt(decision.evaluated);
    return decision;
  }
  query.Refresh();
  Decision decision{.evaluated = query.RowsWithinLimits(), .feasible = query.best().feasible()};
  if (decision.feasible > 1 && !query.score_error().ok()) {
    decision.verdict = query.score_error();
    return decision;
  }
  if (const auto best = query.best().Pick(random_)) {
    decision.row = best->row;
    decision.total = best->total;
  } else {
    decision.verdict.code = Code::kUnschedulable;
  }
  return decision;
}

Decision Pipeline::DecideFirst(CompiledQuery& query, const kube::Pod& pod,
                               const std::vector<NodeRow>* within) {
  const auto decide = [&](std::vector<NodeRow> rows) {
    if (within != nullptr) {
      std::erase_if(rows,
                    [&](NodeRow row) { return std::ranges::find(*within, row) == within->end(); });
    }
    return rows.empty() ? Decision() : DecideAmong(query, rows, 1, pod);
  };
  if (const std::string& promised = nominated_.NodeOf(pod.metadata.uid); !promised.empty()) {
    const Decision decision = decide(RowsOf({promised}));
    if (decision.placed()) return decision;
  }
  return plan_.profile.prefer_nodes.empty() ? Decision() : decide(PreferredRows(query));
}

std::vector<NodeRow> Pipeline::RowsInTurn() {
  std::vector<NodeRow> rows = order_.rows();
  const auto start = static_cast<ptrdiff_t>(next_start_ % rows.size());
  std::rotate(rows.begin(), rows.begin() + start, rows.end());
  return rows;
}

void Pipeline::LookedAt(size_t rows) { next_start_ = (next_start_ + rows) % order_.rows().size(); }

std::vector<NodeRow> Pipeline::Candidates(const kube::Pod& pod, const ShapePtr& shape) {
  const size_t nodes = ledger_.nodes().live_rows();
  if (nodes == 0) return {};
  CompiledQuery& query = QueryFor(shape);
  if (!query.Admit(pod).ok()) return {};
  size_t looked_at = 0;
  if (query.node_names() || query.is_limited()) {
    return query.Passing(RowsLeftTo(query), nodes, pod.metadata.uid, looked_at);
  }
  std::vector<NodeRow> rows =
      query.Passing(RowsInTurn(), NumberToFind(nodes), pod.metadata.uid, looked_at);
  LookedAt(looked_at);
  return rows;
}

Decision Pipeline::DecideWithin(const kube::Pod& pod, const ShapePtr& shape,
                                const std::vector<NodeRow>& rows, const Bonus& bonus) {
  CompiledQuery& query = QueryFor(shape);
  if (Verdict verdict = query.Admit(pod); !verdict.ok()) {
    return {.verdict = std::move(verdict), .evaluated = ledger_.nodes().live_rows()};
  }
  if (const Decision first = DecideFirst(query, pod, &rows); first.placed()) return first;
  return DecideAmong(query, rows, rows.size(), pod, &bonus);
}

Decision Pipeline::DecideAmong(CompiledQuery& query, const std::vector<NodeRow>& rows,
                               size_t enough, const kube::Pod& pod, const Bonus* bonus) {
  CompiledQuery::Among among = query.ChooseAmong(rows, enough, pod.metadata.uid);
  Decision decision{.evaluated = among.looked_at, .feasible = among.feasible.size()};
  if (among.feasible.empty()) {
    decision.verdict.code = Code::kUnschedulable;
    return decision;
  }
  if (among.feasible.size() > 1 && !query.score_error().ok()) {
    decision.verdict = query.score_error();
    return decision;
  }
  for (size_t i = 0; bonus != nullptr && i < among.feasible.size(); ++i) {
    if (const auto more = bonus->find(among.feasible[i]); more != bonus->end()) {
      among.totals[i] += more->second;
    }
  }
  decision.total = std::ranges::max(among.totals);
  size_t skip =
      random_.Below(static_cast<uint64_t>(std::ranges::count(among.totals, decision.total)));
  for (size_t i = 0; i < among.feasible.size(); ++i) {
    if (among.totals[i] == decision.total && skip-- == 0) {
      decision.row = among.feasible[i];
      break;
    }
  }
  return decision;
}

Pipeline::Ranking Pipeline::Rank(const kube::Pod& pod, const ShapePtr& shape, size_t n) {
  Ranking ranking;
  if (ledger_.nodes().live_rows() == 0) return ranking;
  CompiledQuery& query = QueryFor(shape);
  if (!query.Admit(pod).ok()) return ranking;
  const std::vector<NodeRow> rows = RowsLeftTo(query);
  std::vector<CompiledQuery::ScorerColumn> columns;
  const CompiledQuery::Among among =
      query.ChooseAmong(rows, rows.size(), pod.metadata.uid, &columns);
  ranking.feasible = among.feasible.size();
  for (const CompiledQuery::ScorerColumn& column : columns) {
    ranking.plugins.push_back(column.plugin);
  }
  std::vector<size_t> order(among.feasible.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return among.totals[i]; });
  order.resize(std::min(n, order.size()));
  for (const size_t i : order) {
    Ranking::Row& row = ranking.best.emplace_back(Ranking::Row{among.feasible[i], among.totals[i]});
    for (const CompiledQuery::ScorerColumn& column : columns)
      row.scores.push_back(column.scores[i]);
  }
  return ranking;
}

bool Pipeline::Fits(const kube::Pod& pod, const ShapePtr& shape, const RowView& row) {
  CompiledQuery query(plan_, ledger_.nodes(), nominated_, scratch_);
  query.Compile(shape);
  if (!query.Admit(pod).ok() || !query.IsWithinLimits(row.row)) return false;
  const auto& names = query.node_names();
  const std::string& node = ledger_.nodes().name(row.row);
  if (names && std::ranges::find(*names, node) == names->end()) return false;
  return query.Check(row, pod.metadata.uid).ok();
}

Unfit Pipeline::UnfitNow(const ShapePtr& shape) {
  CompiledQuery& query = QueryFor(shape);
  Unfit unfit{.shape = shape};
  if (const auto at = query.diagnosed_at()) unfit.rows = {*at, query.versions()};
  return unfit;
}

const KnownUnfit* Pipeline::KnownUnfitOf(const kube::Pod& pod, const ShapePtr& shape) {
  if (!nominated_.NodeOf(pod.metadata.uid).empty()) return nullptr;
  return QueryFor(shape).known_unfit();
}

bool Pipeline::MightFit(Unfit& unfit, WallTime now, std::vector<std::string_view>& rejectors) {
  if (!unfit.rows) return true;
  BeginCycle(now);
  CompiledQuery& query = QueryToProbe(unfit);
  const NodeTable& nodes = ledger_.nodes();
  const auto changed = nodes.ChangedSince(unfit.rows->log_position);
  if (!changed || query.versions() != unfit.rows->versions || query.RowsVersion() == 0) return true;
  for (const NodeRow row : *changed) {
    if (!nodes.IsLive(row) || !query.IsWithinLimits(row)) continue;
    RowDiagnosis why;
    const Code code = query.Check({row, nullptr}, "", &why).code;
    const bool happened = nodes.HasHappenedSince(unfit.rows->log_position, row);
    const auto might_help = [&](const PostFilterPlugin* plugin) {
      return happened && plugin->MightHelp(*unfit.shape, row, code);
    };
    if (!IsRejection(code) || std::ranges::any_of(plan_.profile.post_filter, might_help)) {
      return true;
    }
    rejectors.push_back(plan_.profile.NameOfSlot(why.plugin));
  }
  unfit.rows->log_position = nodes.log_end();
  return false;
}

Diagnosis Pipeline::Diagnose(const kube::Pod& pod, const ShapePtr& shape) {
  const NodeTable& nodes = ledger_.nodes();
  Diagnosis diagnosis{.nodes = nodes.live_rows()};
  CompiledQuery& query = QueryFor(shape);
  if (Verdict verdict = query.Admit(pod); verdict.rejected()) {
    diagnosis.pre_filter = std::move(verdict);
    return diagnosis;
  }
  if (query.node_names()) {
    const std::vector<NodeRow> rows = RowsLeftTo(query);
    diagnosis.rows = query.DiagnoseSome(rows, pod.metadata.uid);
    if (rows.size() < diagnosis.nodes) diagnosis.absent_reason = query.AbsentReason();
  } else {
    diagnosis.rows = query.DiagnoseAll(pod.metadata.uid);
    if (query.RowsWithinLimits() < diagnosis.nodes) diagnosis.absent_reason = query.AbsentReason();
  }
  return diagnosis;
}

std::string FitErrorMessage(const Diagnosis& diagnosis, const Reasons& reasons,
                            std::string_view post_filter) {
  std::string message = fmt::format("0/{} nodes are available:", diagnosis.nodes);
  if (diagnosis.pre_filter.rejected()) {
    message += fmt::format(" {}.", diagnosis.pre_filter.Message());
  } else {
    absl::flat_hash_map<ReasonId, size_t> counts;
    for (const auto& [why, rows] : diagnosis.rows.kinds()) {
      if (rows == 0) continue;
      for (const ReasonId reason : why.verdict.reasons) counts[reason] += rows;
    }
    std::vector<std::string> entries;  // sorted below
    for (const auto& [reason, times] : counts) {
      reasons.ForEachText(reason, [&, count = times](std::string_view text) {
        entries.push_back(fmt::format("{} {}", count, text));
      });
    }
    if (!diagnosis.absent_reason.empty() && diagnosis.nodes > diagnosis.explicit_rows()) {
      entries.push_back(fmt::format("{} {}", diagnosis.nodes - diagnosis.explicit_rows(),
                                    diagnosis.absent_reason));
    }
    std::ranges::sort(entries);
    if (!entries.empty()) message += fmt::format(" {}.", fmt::join(entries, ", "));
  }
  if (!post_filter.empty()) message += fmt::format(" {}", post_filter);
  return message;
}

}  // namespace koord::scheduler
