#pragma once
#include <absl/functional/any_invocable.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kube/objects/pod.h"
#include "scheduler/framework/cluster_event.h"
#include "scheduler/framework/pod_query.h"
#include "scheduler/framework/row_diagnoses.h"
#include "scheduler/framework/row_limit.h"
#include "scheduler/framework/row_view.h"
#include "scheduler/framework/verdict.h"

// What a plugin is. The extension points have the names that users know; what is different is that
// the ones about nodes work on ranges of rows of the table, and that what they find is kept per pod
// shape and refreshed only where something changed.
//
// A plugin implements the points that it serves by inheriting from their classes, owns its state
// and its columns, hears of pods and nodes through LedgerListener, and is created by one factory in
// the registry.
namespace koord::scheduler {

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;

  // What the plugin knows of a shape, compiled once; null if it needs nothing.
  virtual std::unique_ptr<PluginState> Compile(const PodShape&) { return nullptr; }

  // Whatever was compiled or found for any shape is worth nothing once this moves: objects besides
  // nodes and pods (classes, claims, services) that the plugin reads have changed.
  virtual uint64_t version() const { return 0; }
  // The same for one shape: what most pods do not use must not cost them anything.
  virtual uint64_t VersionFor(const PodShape&) const { return version(); }

  // Called before each cycle, for what depends on time alone: a plugin touches the rows
  // (NodeTable::TouchByTime) for which a moment has passed.
  virtual void BeforeCycle(WallTime) {}

  // How many things it remembers besides what it knows of each node and each pod that holds room.
  // Must stay small however many pods come and go, and whatever they name.
  virtual size_t remembered() const { return 0; }

  size_t slot() const { return slot_; }
  void set_slot(size_t slot) { slot_ = slot; }  // by the profile, once

 private:
  size_t slot_ = 0;
};

// ---- Queue

class PreEnqueuePlugin : public virtual Plugin {
 public:
  // Anything but success keeps the pod out of the active queue, silently.
  virtual Verdict PreEnqueue(const kube::Pod& pod) = 0;
};

struct QueuedPodView {
  const kube::Pod& pod;
  int32_t priority = 0;
  SteadyTime timestamp{};  // when it entered the queue, last
  uint64_t sequence = 0;   // breaks ties
};

class QueueSortPlugin : public virtual Plugin {
 public:
  virtual bool Less(const QueuedPodView& a, const QueuedPodView& b) const = 0;
};

// Knows pods that are to be tried one after the other, with nobody else in between: the members of
// a gang.
class NextPodPlugin : public virtual Plugin {
 public:
  // Asked before each cycle. The uid of the pod to be tried ahead of all others; "": the queue's
  // order will do. It is taken from wherever it waits, unless a gate other than this plugin's own
  // holds it back, and counts as queued and tried like the pod that came out by the queue's order
  // last.
  virtual std::string NextPod() = 0;
  // It could not be taken: a gate holds it back, or with "" it is not in the queue or is being
  // tried. The plugin is asked again, and must not name it again at once.
  virtual void OnRefused(std::string_view uid, std::string_view gate) = 0;
};

// Says which events may cure its rejections. A plugin that does not is asked about none: then every
// event may.
class RequeuePlugin : public virtual Plugin {
 public:
  // The kinds that MightCure may say yes to, so that no pod is looked at for the others. Must
  // always answer the same; kForced is never asked about.
  virtual bool Wants(EventKind) const { return true; }
  virtual bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) = 0;
  // Whether its events may cure rejections by others too: it makes room that was not there before.
  // Then it is asked about every pod that fits nowhere, though it has rejected none.
  virtual bool cures_others() const { return false; }
};

// ---- Which nodes

struct PreFilterResult {
  Verdict verdict;  // Skip: the plugin's filter is left out for this pod
  std::optional<std::vector<std::string>> node_names = {};  // only these can do
  // Only these can do. Unlike named nodes they are not looked at one by one for each pod: what was
  // found of a row is kept.
  std::shared_ptr<const RowLimit> rows = {};

  static PreFilterResult Success() { return {}; }
  static PreFilterResult Skip() { return {Verdict::Skip()}; }
};

class PreFilterPlugin : public virtual Plugin {
 public:
  // Answered once a shape, and again when VersionFor moves.
  virtual PreFilterResult PreFilter(PodQuery& query) = 0;
};

// Has a say in whether a single pod may be placed at all (its quota is used up, its gang has
// failed), whatever its shape and wherever there is room.
class AdmitPlugin : public virtual Plugin {
 public:
  // Asked in every cycle, before any row is looked at and after PreFilter; again when the pod is
  // diagnosed or explained, so it must change nothing. Anything but success ends the cycle, in the
  // order of the PreFilter plugins. Since nothing is said of rows, all that is known of them stays.
  virtual Verdict Admit(const kube::Pod& pod, const PodQuery& query) = 0;
};

// Knows nodes that are worth trying before all others.
class PreferNodesPlugin : public virtual Plugin {
 public:
  // Asked after all PreFilter plugins have agreed. The first of these nodes that PreFilter left and
  // that passes the filters is the pod's; names of no such node are passed over; if none is left,
  // the pod is placed as if nothing had been said.
  virtual std::span<const std::string> PreferNodes(const PodQuery& query) = 0;
};

// Narrows the rows that a pod may run on.
//
// `Filter` and `Check` decide the same: the first quickly for many rows as they are; the second for
// one row, perhaps with a delta, with the reasons. Reasons are needed only when no row is left.
class FilterPlugin : public virtual Plugin {
 public:
  // keep[i] is about row rows.begin + i. Sets it to 0 where the pod cannot run; never to 1. Rows
  // that are 0 already, or not live, may be skipped or looked at, as is quicker.
  virtual void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) = 0;
  virtual RowVerdict Check(const PodQuery& query, const RowView& row) = 0;
  // As Filter, over all rows of the table, and says why of each row that it drops. Worth
  // implementing where whole clusters may fall out.
  virtual void Diagnose(const PodQuery& query, uint8_t* keep, DiagnosisTable& why);

  // What the pods on a row have to do with the answer for one pod. May change with WideVersion.
  enum class PodsRead : uint8_t {
    kNone,  // nothing: no delta makes a difference; a wide filter lets every row pass
    kRoom,  // they take up room, and where enough is left the pod is let in: see RoomFor
    kAny,
  };
  virtual PodsRead Reads(const PodQuery&) { return PodsRead::kAny; }
  // For kRoom: what must be left, of resources that some node offers, besides a place for the pod.
  virtual ResourceAmounts RoomFor(const PodQuery&) { return {}; }

  // A wide filter may change its mind about rows that did not change: what it says rests on a
  // whole topology domain. It is asked about all rows again whenever its version for a query moves;
  // at 0 it has nothing to say about the pod at present.
  virtual bool wide() const { return false; }
  virtual uint64_t WideVersion(const PodQuery&) { return 0; }
};

// ---- Which node

inline constexpr int64_t kMaxScore = 100;
// The raw score of a row that takes no part in normalisation.
inline constexpr int64_t kIgnoredRow = std::numeric_limits<int64_t>::min();

struct ScoreRange {
  int64_t min = 0;
  int64_t max = 0;

  bool operator==(const ScoreRange&) const = default;
};

class ScorePlugin : public virtual Plugin {
 public:
  // Skip leaves the plugin's score out for this pod; anything else that is not success is an
  // internal error. `feasible` (one byte per row) is given to wide plugins only, before each Score.
  virtual Verdict PreScore(PodQuery&, std::span<const uint8_t> /*feasible*/) {
    return Verdict::Success();
  }
  // The raw score, if it is the same for all rows there are or may come to be; then rows are not
  // scored one by one. Must stay true until VersionFor moves. Not asked of wide plugins.
  virtual std::optional<int64_t> SameForAll(const PodQuery&) { return {}; }
  // scores[i] = the raw score of row rows.begin + i. Rows that are not feasible may get anything.
  virtual void Score(const PodQuery& query, RowRange rows, int64_t* scores) = 0;
  // The raw score of one row that looks different for the pod (FilterTransformer). Must be
  // implemented where pods of a row make a difference to its score; as it is, the row is scored as
  // it is. Pods that are promised a node make no difference to scores, as with kube-scheduler.
  virtual int64_t ScoreRow(const PodQuery& query, const RowView& row);

  // Whether raw scores must be brought to 0..100, given the least and largest one of the feasible
  // rows. Without feasible rows both are 0.
  virtual bool normalizes() const { return false; }
  virtual void Normalize(const PodQuery&, ScoreRange, std::span<int64_t> /*scores*/) {}

  // As for filters: a row's score may change without the row.
  virtual bool wide() const { return false; }
  virtual uint64_t WideVersion(const PodQuery&) { return 0; }
};

// ---- A pod and its node

// Something that a plugin remembers of one pod's attempt: reserved CPUs, assumed volumes.
class AttemptState {
 public:
  virtual ~AttemptState() = default;
};

// One pod on its way from the queue to its node.
struct Attempt {
  std::shared_ptr<const kube::Pod> pod;
  ShapePtr shape;
  std::string profile;
  int attempts = 0;            // with this one
  SteadyTime first_attempt{};  // when the first one began
  SteadyTime queued{};         // when it entered the queue, last
  SteadyTime started{};        // when this attempt began
  SteadyTime point_started{};  // when its present part began
  NodeRow row = kNoRow;
  std::string node;                                   // its name
  std::string promised;                               // the node that it was promised before
  std::vector<std::unique_ptr<AttemptState>> states;  // by plugin slot
  // What Reserve plugins give the pod beyond amounts. Charged when all of them have agreed.
  std::unique_ptr<Holdings> held;
  // What PreBind plugins give the pod. Of what a pod is given (api/output_keys.h) the annotations
  // are all there is: keys that are not here are removed from the pod if an earlier attempt has
  // left them. They reach the API server with the binding, in the same write; labels before it.
  kube::Labels labels;
  kube::Annotations annotations;

  template <class State>
  State* state(size_t slot) const {
    return slot < states.size() ? static_cast<State*>(states[slot].get()) : nullptr;
  }
  void SetState(size_t slot, std::unique_ptr<AttemptState> state) {
    if (slot >= states.size()) states.resize(slot + 1);
    states[slot] = std::move(state);
  }
};

class ReservePlugin : public virtual Plugin {
 public:
  // The pod is not in the ledger yet: it is charged what it asks for and attempt.held in one step
  // once all plugins have agreed.
  virtual Verdict Reserve(Attempt& attempt) = 0;
  virtual void Unreserve(Attempt& attempt) = 0;  // also if Reserve was not called or failed
};

struct PermitResult {
  Verdict verdict;  // Wait: until allowed, rejected, or the time is over
  Duration timeout{0};
};

class PermitPlugin : public virtual Plugin {
 public:
  virtual PermitResult Permit(Attempt& attempt) = 0;
  // Whether no other pod was tried since this one, whose permit is refused, was given its node:
  // nobody has failed for the sake of what it gives back. Asked before it is unreserved.
  virtual bool HasSentBackAtOnce(const kube::Pod& /*gives_back*/) const { return false; }
  // Whether what a pod gives back, after its permit was refused, is no news to another one: it
  // failed because both are placed together or not at all, and gains nothing.
  virtual bool AreOne(const kube::Pod& /*gives_back*/, const kube::Pod& /*other*/) const {
    return false;
  }
};

using VerdictDone = absl::AnyInvocable<void(Verdict)>;

// The rest happens after the cycle, on the loop; answers may take their time.
class PreBindPlugin : public virtual Plugin {
 public:
  // Puts what it has decided into attempt.labels and attempt.annotations, or does other work first.
  virtual void PreBind(Attempt& attempt, VerdictDone done) = 0;
};

class BindPlugin : public virtual Plugin {
 public:
  // Gives the pod its node and attempt.annotations, both or neither. Skip: let the next one do it.
  virtual void Bind(Attempt& attempt, VerdictDone done) = 0;
};

class PostBindPlugin : public virtual Plugin {
 public:
  virtual void PostBind(const Attempt& attempt) = 0;
};

// ---- When no node is left

inline constexpr std::string_view kExtenderName = "Extender";

// Why every row fell out; made only when none is left.
struct Diagnosis {
  size_t nodes = 0;           // of the whole cluster
  Verdict pre_filter;         // a rejection applies to all nodes
  RowDiagnoses rows;          // valid until the next diagnosis
  std::string absent_reason;  // why some were not looked at; "" if there are none

  size_t explicit_rows() const { return rows.rejected(); }  // that have a verdict of their own
};

struct PostFilterResult {
  Verdict verdict;
  // The node that the pod is promised; "" clears a promise; nothing leaves it.
  std::optional<std::string> nominated_node = {};
  // A rejection that stands for all pods of the shape, until a row changes for which MightHelp.
  bool of_shape = false;
};

// Pods whose eviction makes room on a node.
struct EvictionPlan {
  std::string node;
  std::vector<std::shared_ptr<const kube::Pod>> victims;
  int64_t violations = 0;  // of disruption budgets
};

class PostFilterPlugin : public virtual Plugin {
 public:
  virtual PostFilterResult PostFilter(Attempt& attempt, PodQuery& query,
                                      const Diagnosis& diagnosis) = 0;
  // After a rejection of the shape: whether a row that has changed since and is still rejected, in
  // this way, may be one that PostFilter can do something about.
  virtual bool MightHelp(const PodShape&, NodeRow, Code) const { return true; }

  // Where somebody outside of the profile has a say in evictions: what PostFilter would choose from
  // (nothing: it evicts nobody), and later the choice among what was left of that.
  virtual std::vector<EvictionPlan> Plans(const Attempt&, PodQuery&, const Diagnosis&) {
    return {};
  }
  virtual PostFilterResult Choose(const Attempt&, const std::vector<EvictionPlan>&) {
    return {Verdict::Unschedulable("")};
  }
};

// Hears what came of each pod that fits nowhere, whatever the PostFilter plugins have said and
// before it goes back to the queue.
class AfterPostFilterPlugin : public virtual Plugin {
 public:
  // `result` is that of all of them: their reasons as one, and the node that the pod is promised.
  virtual void AfterPostFilter(const Attempt& attempt, const Diagnosis& diagnosis,
                               const PostFilterResult& result) = 0;
};

// ---- Koordinator's transformers

// Gives rows another look for some pods: a reservation's room is given back to its owners and
// withheld from all others.
class FilterTransformer : public virtual Plugin {
 public:
  // The rows that look different for this pod, and how (null: not at all). The deltas live as long
  // as the state of the query, and rows are touched when theirs change.
  virtual std::span<const NodeRow> TransformedRows(const PodQuery& query) = 0;
  virtual const RowDelta* DeltaOf(const PodQuery& query, NodeRow row) = 0;

  // The reserve pods that this pod does not see, wherever it goes: those that deltas remove, of all
  // rows. Rules about topology domains do not count them.
  struct AbsentPods {
    std::span<const PodInfo* const> pods = {};
    uint64_t version = 0;  // moves whenever the pods are others
  };
  virtual AbsentPods Absent(const PodQuery&) { return {}; }
};

}  // namespace koord::scheduler
