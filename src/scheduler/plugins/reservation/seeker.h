#pragma once
#include <absl/container/flat_hash_map.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/reservation/reservation_matching.h"
#include "model/reservation/reservation_score.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/matching/node_matcher.h"
#include "scheduler/plugins/reservation/offers.h"

namespace koord::scheduler {

// What pods of one shape find among the offers: which are for them, on which rows, and how these
// rows look without the pods that hold what is for them. Follows the offers one by one, so that a
// row that did not change is not looked at again.
class Seeker final : private OfferFollower {
 public:
  struct Context {
    std::shared_ptr<Offers> offers;
    NodeTable& nodes;
    const ResourceNames& resources;
    model::MatchOptions options;
    // Called once, when the first offer comes that is for pods of a shape for which there was none.
    std::function<void(uint32_t shape)> found_first = {};
    std::function<void(uint32_t shape)> forget_first = {};  // once, at the end, after that
  };

  // Of what pods of the shape say of reservations.
  Seeker(const PodShape& shape, model::ReservationSeeker terms, Context context);
  ~Seeker() override;
  Seeker(const Seeker&) = delete;
  Seeker& operator=(const Seeker&) = delete;

  bool has_affinity() const { return terms_.has_affinity(); }
  bool ignores_all() const { return terms_.ignores_all; }
  const model::ReservationSeeker& terms() const { return terms_; }
  const PodShape& shape() const { return shape_; }

  // An offer whose owners pods of the shape are among.
  struct Considered {
    const Offer* offer;
    model::ReservationMatch match;
  };
  // One that pods of the shape can draw from.
  class Drawable {
   public:
    Drawable(const Offer& offer, const model::ReservationSeeker& seeker,
             const ResourceNames& resources);

    const Offer& offer() const { return *offer_; }
    // How full it becomes with one of them, 0 to 100.
    int64_t Fullness() const;

   private:
    const Offer* offer_;
    model::ReservationScorer scorer_;
    std::vector<std::optional<ResourceId>> ids_;  // of its parts, as far as they can be used
  };
  struct Row {
    std::vector<Considered> considered;
    size_t matches = 0;                 // of them
    RowDelta delta;                     // without the reserve pods of those that match
    std::vector<const Offer*> matched;  // for all that pods may use; none for those who ignore all
    // Of these, what pods may draw from: one that is about nothing they ask for is only for those
    // who must use one.
    std::vector<Drawable> drawable;
    size_t place = 0;  // among transformed()
  };
  // Null: nothing there is for them.
  const Row* Find(NodeRow row) const;
  // Those with a match.
  std::span<const NodeRow> transformed() const { return transformed_; }
  const absl::flat_hash_map<NodeRow, std::unique_ptr<Row>>& rows() const { return rows_; }

  // Whether there was a match from the start, or must be one: otherwise nobody asks about rows, and
  // the first match is news.
  bool is_served() const { return is_served_; }
  // The rows with a match, for pods that must use a reservation.
  const std::shared_ptr<RowLimit>& limit() const { return limit_; }

  FilterTransformer::AbsentPods Absent();

 private:
  void OnOffered(const Offer& offer) override;
  void OnWithdrawn(const Offer& offer) override;

  void AddMatch(Row& at, const Offer& offer);
  void RemoveMatch(Row& at, const Offer& offer);

  const PodShape& shape_;
  const Context context_;
  const model::ReservationSeeker terms_;
  const kube::Pod pod_;  // as far as all pods of the shape agree
  const std::vector<std::string> keys_;
  NodeMatcher node_;  // what pods require of nodes holds whatever is reserved there
  absl::flat_hash_map<NodeRow, std::unique_ptr<Row>> rows_;
  std::vector<NodeRow> transformed_;
  std::shared_ptr<RowLimit> limit_;
  bool is_made_ = false;
  bool is_served_ = false;
  bool has_told_ = false;
  uint64_t version_ = 1;
  std::vector<const PodInfo*> absent_;
  uint64_t absent_version_ = 0;
};

}  // namespace koord::scheduler
