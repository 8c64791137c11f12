#pragma once
#include <absl/container/flat_hash_map.h>

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/framework/plugin_lineup.h"
#include "scheduler/framework/shape_probe.h"
#include "scheduler/pipeline/compiled_query.h"
#include "scheduler/pipeline/node_order.h"
#include "scheduler/pipeline/nominated_rows.h"
#include "scheduler/pipeline/plan.h"

namespace koord::scheduler {

// Where a pod goes.
struct Decision {
  NodeRow row = kNoRow;  // kNoRow: nowhere
  // Why nowhere: a rejection (of the pod as a whole, or because no node is left) or an error.
  Verdict verdict;
  bool no_nodes = false;  // the cluster has none
  size_t evaluated = 0;   // nodes that were looked at
  size_t feasible = 0;
  int64_t total = 0;

  bool placed() const { return row != kNoRow; }
};

// Finds the node for one pod after another, for one profile.
//
// What is found out about a shape is kept for a number of shapes; asking again costs what has
// changed in between. Shapes that are asked about once push out each other only, so that a stream
// of pods without their like neither costs those that have any, nor leaves the processor's cache.
// A shape that comes back soon after it was pushed out is one of many in turn, and is kept.
class Pipeline final : public ShapeProbe {
 public:
  // `kept_shapes`: each costs some 30 bytes a node.
  Pipeline(const PluginLineup& profile, Ledger& ledger, NominatedRows& nominated, NodeOrder& order,
           Random& random, size_t kept_shapes = 64);

  // Never changes the ledger. Call BeforeCycle of the plugins first (BeginCycle).
  Decision Decide(const kube::Pod& pod, const ShapePtr& shape);
  void BeginCycle(WallTime now);

  // For pods about which somebody outside of the profile is asked: the nodes that Decide would
  // choose from (none: Decide says why), and the choice among those that were left, with what was
  // said of them added to their totals.
  std::vector<NodeRow> Candidates(const kube::Pod& pod, const ShapePtr& shape);
  using Bonus = absl::flat_hash_map<NodeRow, int64_t>;
  Decision DecideWithin(const kube::Pod& pod, const ShapePtr& shape,
                        const std::vector<NodeRow>& rows, const Bonus& bonus);

  // Why no node can do, row by row in profile order.
  Diagnosis Diagnose(const kube::Pod& pod, const ShapePtr& shape);

  // For a pod that was just diagnosed and that no PostFilter could help: that no pod of its shape
  // can be placed.
  Unfit UnfitNow(const ShapePtr& shape);
  // What was said of another pod of the shape, if it holds for this one; null: it must be found
  // out.
  const KnownUnfit* KnownUnfitOf(const kube::Pod& pod, const ShapePtr& shape);
  bool MightFit(Unfit& unfit, WallTime now, std::vector<std::string_view>& rejectors) override;

  // The n best nodes for a pod as things are, best first, with what each scorer says of them. For
  // people who ask: looks at every node that PreFilter leaves, and changes nothing.
  struct Ranking {
    struct Row {
      NodeRow row;
      int64_t total;
      std::vector<int64_t> scores;  // weighed, by `plugins`
    };
    size_t feasible = 0;
    std::vector<std::string_view> plugins;  // that took part
    std::vector<Row> best;
  };
  Ranking Rank(const kube::Pod& pod, const ShapePtr& shape, size_t n);

  // Whether a pod could have a node that looks like this. For pods that nobody has created: nothing
  // is kept of them.
  bool Fits(const kube::Pod& pod, const ShapePtr& shape, const RowView& row);

  void TimePlugins(const ShapePtr& shape, const Clock& clock, const CompiledQuery::Timed& timed) {
    QueryFor(shape).TimePlugins(clock, timed);
  }

  // The compiled query of a shape, up to date.
  CompiledQuery& QueryFor(const ShapePtr& shape);

  const PluginLineup& profile() const { return plan_.profile; }
  size_t kept() const { return queries_.size(); }

 private:
  struct Kept {
    std::unique_ptr<CompiledQuery> query;
    std::list<uint32_t>::iterator use;
    bool seen_again = false;
  };
  static constexpr size_t kNewShapes = 4;
  static constexpr size_t kRemembered = 256;
  static constexpr size_t kMostProbes = 1024;  // each is some kilobytes

  CompiledQuery& Use(Kept& kept);
  CompiledQuery& Keep(const ShapePtr& shape);
  void PushOutOldest(std::list<uint32_t>& ids, std::unique_ptr<CompiledQuery>& reused);
  // As QueryFor, but nobody is placed: leaves alone what is kept, and looks at few rows.
  struct Probe;
  CompiledQuery& QueryToProbe(Unfit& unfit);
  Decision DecideAmong(CompiledQuery& query, const std::vector<NodeRow>& rows, size_t enough,
                       const kube::Pod& pod, const Bonus* bonus = nullptr);
  // The promised node, or one that a plugin prefers; of `within` only, if given. kNoRow: neither.
  Decision DecideFirst(CompiledQuery& query, const kube::Pod& pod,
                       const std::vector<NodeRow>* within = nullptr);
  // The rows to look at, in order, and where to go on next time.
  std::vector<NodeRow> RowsInTurn();
  void LookedAt(size_t rows);
  std::vector<NodeRow> RowsOf(const std::vector<std::string>& names) const;
  // All that PreFilter has left.
  std::vector<NodeRow> RowsLeftTo(CompiledQuery& query);
  std::vector<NodeRow> PreferredRows(CompiledQuery& query) const;
  size_t NumberToFind(size_t candidates) const;

  Plan plan_;
  Ledger& ledger_;
  NominatedRows& nominated_;
  NodeOrder& order_;
  Random& random_;
  const size_t kept_shapes_;
  CompiledQuery::Scratch scratch_;
  absl::flat_hash_map<uint32_t, Kept> queries_;  // by shape id
  std::list<uint32_t> new_;                      // ids of shapes that were asked about once
  std::list<uint32_t> used_;                     // of the others; last used first, both
  std::deque<uint32_t> pushed_out_;              // ids of shapes that were new, newest last
  std::shared_ptr<size_t> probes_ = std::make_shared<size_t>(0);  // how many there are
  std::unique_ptr<CompiledQuery> last_probe_;                     // beyond the most
  uint32_t last_shape_ = 0;
  CompiledQuery* last_query_ = nullptr;
  size_t next_start_ = 0;  // where to go on looking, if not all nodes are looked at
};

// "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. <post filter>"
std::string FitErrorMessage(const Diagnosis& diagnosis, const Reasons& reasons,
                            std::string_view post_filter);

}  // namespace koord::scheduler
