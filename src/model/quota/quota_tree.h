#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/quota/quota_index.h"
#include "model/quota/quota_level.h"

namespace koord::model {

struct QuotaTreeOptions {
  bool multi_tree = false;       // labels say to which tree a quota belongs
  bool scale_min = true;         // where the mins of siblings are more than there is
  bool guarantee_usage = false;  // nothing that is in use is lent, and nothing else either
};

// What pods ask for, and what of it runs. Those that may not be preempted are counted once more.
struct QuotaSums {
  QuotaAmounts request, used;
  QuotaAmounts non_preemptible_request, non_preemptible_used;
};

// A quota in its tree. Others may look, and charge pods to it through QuotaTree.
struct Quota {
  QuotaInfo info;
  QuotaAmounts min, max, weight;
  bool lends = true;

  QuotaSums self;              // its own pods
  QuotaAmounts child_request;  // its own pods, and what its children ask it for
  QuotaAmounts limited;        // what it asks its parent for: not more than its max
  QuotaAmounts used;           // with all below it; likewise the following
  QuotaAmounts non_preemptible_request, non_preemptible_used;
  QuotaAmounts allocated, guaranteed;  // where usage is guaranteed

  Quota* parent = nullptr;       // null: the root, or one that has lost its parent
  std::vector<Quota*> children;  // by name
  bool is_root = false;          // of all quotas of a tree
  bool is_attached = false;      // there is a way up to the root
  bool is_member = false;        // of the level of its parent, at this place
  size_t place = 0;
  mutable QuotaLevel level;  // what its children get

  const std::string& name() const { return info.name; }
  // At least its min, if that is not lent.
  QuotaAmounts Request() const;
};

// All quotas and what is charged to them: who asks for how much, who uses how much, and how much
// each may use at present (its runtime).
//
// Requests go up the tree as deltas, each level passing on no more than its max; what the cluster
// has goes down, shared at each level by min, weight and request. There is one root per tree; the
// root of the default tree has the whole cluster but for what other trees have. The default and the
// system quota take what they need from the cluster before it is shared and take no part in that.
//
// Quotas may come in any order and may be wrong: those whose parent is not there, and rings, have
// no runtime until that is mended.
class QuotaTree {
 public:
  explicit QuotaTree(QuotaTreeOptions options);
  QuotaTree(const QuotaTree&) = delete;
  QuotaTree& operator=(const QuotaTree&) = delete;

  // ---- Quotas

  // New or changed. What pods are charged stays: whoever charges them has to do it anew if the
  // resources of its max are others.
  void Set(QuotaInfo info);
  // Nothing may be charged to it.
  void Remove(std::string_view name);
  // What all nodes have.
  void SetClusterTotal(const kube::ResourceList& total);

  // Null if there is none. There always are the built-in ones.
  Quota* Find(std::string_view name) const;
  const std::map<std::string, std::unique_ptr<Quota>, std::less<>>& quotas() const {
    return quotas_;
  }
  const QuotaIndex& index() const { return index_; }
  const Dimensions& dimensions() const { return dimensions_; }
  const QuotaTreeOptions& options() const { return options_; }
  // "" for the default tree.
  std::string_view TreeOf(const QuotaInfo& info) const;

  // ---- Pods

  void AddRequest(Quota& quota, const QuotaAmounts& amounts, bool non_preemptible, int sign);
  void AddUsed(Quota& quota, const QuotaAmounts& amounts, bool non_preemptible, int sign);
  // Nothing is charged to anybody.
  void ForgetPods();

  // ---- Answers

  // Moves with every change.
  uint64_t version() const { return version_; }
  // The quota with all sums up to date: those that others point to may be older.
  const Quota& Current(const Quota& quota) const;
  // How much it may use: of the root what is shared, of default and system quota their max.
  QuotaAmounts RuntimeOf(const Quota& quota) const;
  // Its min, scaled down where there is not enough for the mins of all.
  QuotaAmounts CountedMinOf(const Quota& quota) const;

 private:
  struct Tree {
    Quota root;
    QuotaAmounts total;  // what is shared
  };

  Tree& TreeFor(const QuotaInfo& info) const;
  void Compile(Quota& quota);

  // Brings structure, sums and levels up to date after quotas have changed.
  void Settle() const { const_cast<QuotaTree*>(this)->SettleNow(); }
  void SettleNow();
  void Link();
  std::vector<Quota*> TopDown();
  void SumUp(Quota& quota);
  void BuildLevel(Quota& quota, const Tree& tree);
  std::vector<DimensionId> DimensionsBelow(const Quota& quota) const;
  void UpdateTotals();
  void UpdateMainTotal();
  QuotaAmounts LimitedOf(const Quota& quota) const;
  void PassUpRequest(Quota& quota, QuotaAmounts delta);
  void PassUpAllocated(Quota& quota, QuotaAmounts delta);
  void FillLevel(const Quota& quota) const;

  const QuotaTreeOptions options_;
  Dimensions dimensions_;
  QuotaIndex index_;
  std::map<std::string, std::unique_ptr<Quota>, std::less<>> quotas_;
  mutable std::map<std::string, std::unique_ptr<Tree>, std::less<>> trees_;  // "": the default one
  kube::ResourceList cluster_;
  QuotaAmounts of_main_tree_;  // of the cluster, what other trees do not have
  bool is_settled_ = false;
  bool is_main_total_stale_ = false;  // default or system quota use more or less
  uint64_t version_ = 1;
};

}  // namespace koord::model
