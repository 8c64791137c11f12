#include "scheduler/plugins/load_aware_scheduling/load_aware_scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "scheduler/cluster/holdings.h"
#include "scheduler/plugins/load_aware_scheduling/load_description.h"

namespace koord::scheduler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

LoadWeights WeightsIn(const LoadAwareSchedulingArgs& args, const LoadResources& tracked) {
  LoadWeights weights{.weights = std::vector<double>(tracked.size()),
                      .dominant = static_cast<double>(args.dominant_resource_weight),
                      .total = static_cast<double>(args.dominant_resource_weight)};
  for (size_t i = 0; i < tracked.size(); ++i) {
    const auto found = args.resource_weights.find(tracked.name(i));
    if (found == args.resource_weights.end()) continue;
    weights.weights[i] = static_cast<double>(found->second);
    weights.total += weights.weights[i];
  }
  return weights;
}

UsageKind ScoreUsageIn(const LoadAwareSchedulingArgs& args) {
  if (!args.aggregated) return {};
  return {args.aggregated->score_aggregation_type, args.aggregated->score_aggregated_duration};
}

// When a pod got its node, if that is on record.
std::optional<WallTime> ScheduledAt(const kube::Pod& pod) {
  const kube::PodCondition* scheduled = FindCondition(pod.status.conditions, "PodScheduled");
  if (scheduled == nullptr || scheduled->status != "True") return {};
  return scheduled->last_transition_time;
}

bool Put(double& slot, double value) { return std::exchange(slot, value) != value; }

}  // namespace

struct LoadAwareScheduling::Pod final : PluginState {
  std::vector<double> estimate;
  bool prod = false;
  bool runs_anywhere = false;
  LoadColumns::View score_view = LoadColumns::kOthers;
};

LoadAwareScheduling::LoadAwareScheduling(const PluginContext& context, LoadAwareSchedulingArgs args)
    : context_(context),
      args_(std::move(args)),
      tracked_(TrackedResources(args_)),
      estimator_(args_, tracked_, context.ledger.resources()),
      weights_(WeightsIn(args_, tracked_)),
      score_usage_(ScoreUsageIn(args_)),
      expiration_(SecondsOf(args_.node_metric_expiration_seconds)),
      no_limits_(std::make_shared<NodeLimits>(NodeLimits{.capacity = tracked_.Zero()})),
      columns_(tracked_.size()),
      expired_reason_(context.reasons.Intern("node(s) nodeMetric expired")) {
  for (size_t i = 0; i < tracked_.size(); ++i) {
    const auto reason = [&](std::string_view usage) {
      return context.reasons.Intern(
          fmt::format("node(s) {} {} exceed threshold", tracked_.name(i), usage));
    };
    exceeded_.push_back(reason("usage"));
    aggregated_exceeded_.push_back(reason("aggregated usage"));
  }
  const NodeTable& nodes = context_.nodes();
  GrowTo(nodes.rows());
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* pod : nodes.pods(row)) rows_[row].load.AddPod(Load(*pod));
    if (nodes.IsLive(row)) OnNodeAdded(row);
  }
  context_.ledger.AddListener(*this);
  context_.objects.node_metrics.Need();
  context_.objects.node_metrics.AddWatcher(
      [this](const auto& before, const auto& after) { OnMetric(before, after); });
}

std::unique_ptr<PluginState> LoadAwareScheduling::Compile(const PodShape& shape) {
  auto pod = std::make_unique<Pod>();
  const LoadAmounts estimate = estimator_.Estimate(shape);
  pod->estimate.assign(estimate.begin(), estimate.end());
  pod->prod = shape.band == api::PriorityBand::kProd;
  if (pod->prod && args_.score_according_prod_usage) pod->score_view = LoadColumns::kProd;
  pod->runs_anywhere = shape.of_daemon_set;
  return pod;
}

// ---- Decisions

LoadColumns::View LoadAwareScheduling::RoomView(const Pod& pod) const {
  return pod.prod && prod_rooms_ ? LoadColumns::kProd : LoadColumns::kOthers;
}

void LoadAwareScheduling::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const Pod& pod = query.state<Pod>(slot());
  if (pod.runs_anywhere || !has_metrics()) return;
  const LoadColumns::View view = RoomView(pod);
  for (size_t i = 0; i < pod.estimate.size(); ++i) {
    const double* room = columns_.room[view][i].data() + rows.begin;
    KeepWithRoom(room, pod.estimate[i], rows.size(), keep);
  }
}

RowVerdict LoadAwareScheduling::Check(const PodQuery& query, const RowView& row) {
  const Pod& pod = query.state<Pod>(slot());
  if (pod.runs_anywhere) return {};
  const LoadColumns::View view = RoomView(pod);
  const NodeLimits& limits = *rows_[row.row].limits;
  const bool aggregated = (pod.prod ? limits.prod : limits.others).aggregated;
  for (size_t i = 0; i < pod.estimate.size(); ++i) {
    const double room = columns_.room[view][i][row.row];
    if (room >= pod.estimate[i]) continue;
    if (room == -kInfinity) return RowVerdict::Unschedulable(expired_reason_);
    return RowVerdict::Unschedulable((aggregated ? aggregated_exceeded_ : exceeded_)[i]);
  }
  return {};
}

void LoadAwareScheduling::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  const Pod& pod = query.state<Pod>(slot());
  ScoreRows(columns_, pod.score_view, weights_, pod.estimate, rows, scores);
  if (exact_rows_ == 0 || weights_.total == 0) return;
  for (NodeRow at = rows.begin; at < rows.end; ++at) {
    if (rows_[at].exact_score) scores[at - rows.begin] = ExactScore(rows_[at], pod);
  }
}

int64_t LoadAwareScheduling::ExactScore(const Row& row, const Pod& pod) const {
  if (!IsScored(row)) return 0;
  int64_t sum = 0;
  int64_t least = kMaxScore;
  for (size_t i = 0; i < tracked_.size(); ++i) {
    const int64_t capacity = row.limits->capacity[i];
    const int64_t load =
        ExistingLoad(row, pod.score_view == LoadColumns::kProd, row.score_usage, i) +
        static_cast<int64_t>(pod.estimate[i]);
    const int64_t score = capacity == 0 || load > capacity ? 0 : (capacity - load) * 100 / capacity;
    sum += score * static_cast<int64_t>(weights_.weights[i]);
    least = std::min(least, score);
  }
  const auto dominant = static_cast<int64_t>(weights_.dominant);
  return (sum + least * dominant) / static_cast<int64_t>(weights_.total);
}

bool LoadAwareScheduling::Wants(EventKind kind) const {
  switch (kind) {
    case EventKind::kAssignedPodRemoved:
    case EventKind::kNodeMetricChanged:
    case EventKind::kNodeAdded:  // no metric, no threshold
    case EventKind::kNodeUpdated:
      return true;
    default:
      return false;
  }
}

bool LoadAwareScheduling::MightCure(const kube::Pod&, const ClusterEvent& event) {
  if (event.kind != EventKind::kNodeUpdated) return Wants(event.kind);
  return event.node_changes.allocatable || event.node_changes.annotations;
}

// ---- Rows and their columns

void LoadAwareScheduling::GrowTo(size_t rows) {
  if (rows <= rows_.size()) return;
  columns_.Resize(rows);
  while (rows_.size() < rows) {
    Row& row = rows_.emplace_back(tracked_);
    row.limits = no_limits_;
    Publish(static_cast<NodeRow>(rows_.size() - 1));
  }
}

int64_t LoadAwareScheduling::ExistingLoad(const Row& row, bool of_prod,
                                          const std::optional<LoadAmounts>& usage,
                                          size_t resource) const {
  const NodeLoad::Sums& sums = row.load.sums();
  if (of_prod) return sums.prod_usage[resource] + sums.prod_delta[resource];
  if (!usage) return sums.node_estimated[resource];
  return (*usage)[resource] + sums.node_delta[resource];
}

// +infinity: anything goes; -infinity: nothing does, since the usage is out of date.
double LoadAwareScheduling::RoomIn(const Row& row, const LoadLimits& limits,
                                   size_t resource) const {
  if (!limits.active || row.load.metric() == nullptr) return kInfinity;
  if (args_.filter_expired_node_metrics && row.expired) {
    return args_.enable_schedule_when_node_metrics_expired ? kInfinity : -kInfinity;
  }
  if (row.load.usage() == nullptr || limits.most[resource] == kNoLimit) return kInfinity;
  const int64_t existing = ExistingLoad(row, limits.of_prod, row.filter_usage, resource);
  return static_cast<double>(limits.most[resource] - existing);
}

bool LoadAwareScheduling::Publish(NodeRow at) {
  Row& row = rows_[at];
  const bool was_exact = row.exact_score;
  row.exact_score = std::ranges::any_of(
      row.limits->capacity, [](int64_t capacity) { return capacity >= kMostQuickCapacity; });
  exact_rows_ += row.exact_score ? 1 : 0;
  exact_rows_ -= was_exact ? 1 : 0;
  bool changed = row.exact_score || was_exact;  // the columns do not tell then
  for (size_t i = 0; i < tracked_.size(); ++i) {
    const int64_t capacity = row.limits->capacity[i];
    const bool by_columns = IsScored(row) && capacity != 0 && !row.exact_score;
    changed |=
        Put(columns_.percent_per_unit[i][at], by_columns ? 100 / static_cast<double>(capacity) : 0);
  }
  return PublishLoad(at) || changed;
}

bool LoadAwareScheduling::PublishLoad(NodeRow at) {
  using View = LoadColumns::View;
  const Row& row = rows_[at];
  bool changed = false;
  for (size_t i = 0; i < tracked_.size(); ++i) {
    const auto put_room = [&](View view, const LoadLimits& limits) {
      changed |= Put(columns_.room[view][i][at], RoomIn(row, limits, i));
    };
    const auto put_free = [&](View view) {
      const int64_t load = ExistingLoad(row, view == View::kProd, row.score_usage, i);
      changed |=
          Put(columns_.free[view][i][at], static_cast<double>(row.limits->capacity[i] - load));
    };
    put_room(View::kOthers, row.limits->others);
    put_free(View::kOthers);
    if (prod_rooms_) put_room(View::kProd, row.limits->prod);
    if (args_.score_according_prod_usage) put_free(View::kProd);
  }
  return changed;
}

// ---- Nodes and their metrics

void LoadAwareScheduling::OnNodeAdded(NodeRow row) {
  GrowTo(context_.nodes().rows());
  SetLimits(row);
  const auto& metrics = context_.objects.node_metrics.objects();
  const auto metric = metrics.find({"", context_.nodes().name(row)});
  SetMetric(row, metric == metrics.end() ? nullptr : metric->second);
}

void LoadAwareScheduling::OnNodeChanged(NodeRow row, const NodeChanges& changes) {
  if (!changes.allocatable && !changes.annotations) return;
  SetLimits(row);
  ReadUsages(rows_[row]);
  Publish(row);
}

void LoadAwareScheduling::SetLimits(NodeRow at) {
  NodeLimits limits = NodeLimitsOf(context_.nodes().node(at), args_, tracked_);
  if (last_limits_ == nullptr || *last_limits_ != limits) {
    last_limits_ = std::make_shared<NodeLimits>(std::move(limits));
  }
  rows_[at].limits = last_limits_;
  if (prod_rooms_ || !rows_[at].limits->prod.of_prod) return;
  prod_rooms_ = true;
  for (NodeRow row{0}; row < rows_.size(); ++row) PublishLoad(row);
}

void LoadAwareScheduling::OnNodeRemoved(NodeRow row) {
  rows_[row].limits = no_limits_;
  last_removed_ = {};  // of a pod that will be new here if the node comes back
  SetMetric(row, nullptr);
}

void LoadAwareScheduling::OnMetric(const std::shared_ptr<const api::NodeMetric>& before,
                                   const std::shared_ptr<const api::NodeMetric>& after) {
  const auto row = context_.nodes().Find((after ? after : before)->metadata.name);
  if (row) SetMetric(*row, after);
}

void LoadAwareScheduling::SetMetric(NodeRow at, std::shared_ptr<const api::NodeMetric> metric) {
  Row& row = rows_[at];
  row.load.SetMetric(std::move(metric), args_.prod_usage_include_sys);
  ReadUsages(row);
  AwaitExpiry(at, context_.loop.clock().Now());
  if (Publish(at)) context_.ledger.nodes().Touch(at);
}

void LoadAwareScheduling::ReadUsages(Row& row) {
  row.filter_usage.reset();
  row.score_usage.reset();
  const api::NodeUsage* usage = row.load.usage();
  if (usage == nullptr) return;
  const UsageKind& filter_kind = row.limits->others.usage;
  row.filter_usage = UsageOf(*usage, filter_kind, tracked_);
  row.score_usage =
      score_usage_ == filter_kind ? row.filter_usage : UsageOf(*usage, score_usage_, tracked_);
}

void LoadAwareScheduling::AwaitExpiry(NodeRow at, WallTime now) {
  Row& row = rows_[at];
  row.expired = true;
  const api::NodeMetric* metric = row.load.metric();
  if (metric == nullptr || !metric->status.update_time) return;
  row.expires = LaterBy(*metric->status.update_time, expiration_);
  row.expired = row.expires <= now;
  if (row.expired || row.awaited <= row.expires) return;
  row.awaited = row.expires;
  expiries_.emplace(row.expires, at);
}

void LoadAwareScheduling::BeforeCycle(WallTime now) {
  while (!expiries_.empty() && expiries_.top().first <= now) {
    const auto [due, at] = expiries_.top();
    expiries_.pop();
    Row& row = rows_[at];
    if (row.awaited != due) continue;  // has been put forward
    row.awaited = kNever;
    AwaitExpiry(at, now);
    if (Publish(at)) context_.ledger.nodes().TouchByTime(at);
  }
}

// ---- Pods

namespace {

// Neither the spec nor the conditions differ; its node is known here before the object names it.
bool LooksTheSame(const kube::Pod& a, const kube::Pod& b) {
  if (a.metadata.uid != b.metadata.uid || a.status.conditions != b.status.conditions) return false;
  if (a.spec == b.spec) return true;
  kube::PodSpec spec = a.spec;
  spec.node_name = b.spec.node_name;
  return spec == b.spec;
}

}  // namespace

WallTime LoadAwareScheduling::TimestampOf(const kube::Pod& pod, const kube::Pod* seen,
                                          WallTime before) const {
  if (const auto scheduled = ScheduledAt(pod)) return *scheduled;
  return seen != nullptr && LooksTheSame(*seen, pod) ? before : context_.loop.clock().Now();
}

NodeLoad::Pod LoadAwareScheduling::Load(const PodInfo& info) const {
  const kube::Pod& pod = *info.pod;
  NodeLoad::Pod load{.info = &info, .estimate = estimator_.Estimate(*info.shape)};
  const bool again = last_removed_.row == info.row;
  load.timestamp =
      TimestampOf(pod, again ? last_removed_.seen.get() : nullptr, last_removed_.timestamp);
  if (!ScheduledAt(pod)) load.seen = info.pod;
  load.deadline = estimator_.Deadline(pod, load.timestamp);
  load.key_hash = NodeLoad::HashOf(pod.metadata.ns, pod.metadata.name);
  load.counts = !IsReservePod(pod);
  load.estimated = std::ranges::any_of(load.estimate, [](int64_t amount) { return amount != 0; });
  load.prod = info.shape->band == api::PriorityBand::kProd;
  return load;
}

void LoadAwareScheduling::OnPodAdded(const PodInfo& pod) {
  GrowTo(context_.nodes().rows());
  rows_[pod.row].load.AddPod(Load(pod));
  PublishLoad(pod.row);
}

void LoadAwareScheduling::OnPodRefreshed(const PodInfo& pod) {
  NodeLoad& load = rows_[pod.row].load;
  const NodeLoad::Pod& known = load.pods()[pod.place];
  const WallTime timestamp = TimestampOf(*pod.pod, known.seen.get(), known.timestamp);
  load.SetSeen(pod.place, ScheduledAt(*pod.pod) ? nullptr : pod.pod);
  const WallTime deadline = estimator_.Deadline(*pod.pod, timestamp);
  if (timestamp == known.timestamp && deadline == known.deadline) return;
  load.SetTimes(pod.place, timestamp, deadline);
  if (PublishLoad(pod.row)) context_.ledger.nodes().Touch(pod.row);
}

void LoadAwareScheduling::OnPodRemoved(const PodInfo& pod) {
  if (const NodeLoad::Pod& known = rows_[pod.row].load.pods()[pod.place]; known.seen) {
    last_removed_ = {pod.row, known.seen, known.timestamp};
  }
  rows_[pod.row].load.RemovePod(pod.place);
  PublishLoad(pod.row);
}

// ---- Service API

std::vector<ServicePlugin::Endpoint> LoadAwareScheduling::Endpoints() {
  return {{"node/{node}", [this](const Params& params) -> StatusOr<kube::Json> {
             return Describe(params.find("node")->second);
           }}};
}

kube::Json LoadAwareScheduling::Describe(std::string_view node) const {
  const auto at = context_.nodes().Find(node);
  if (!at) return kube::json::object();
  return DescribeLoad(rows_[*at].load, tracked_);
}

}  // namespace koord::scheduler
