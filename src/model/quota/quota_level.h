#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/quota/quota_amounts.h"

namespace koord::model {

// How the children of one quota share what it has, each resource by itself.
//
// What everyone gets is found out when somebody asks and something has changed. Where there is
// enough for all, as is usual, each gets what it asks for, which costs nothing to know.
class QuotaLevel {
 public:
  struct Member {
    const QuotaAmounts& weight;
    const QuotaAmounts& request;  // not more than its max
    const QuotaAmounts& min;
    const QuotaAmounts& guaranteed;
    bool lends = true;
  };

  // Members are known by their place from now on. `scale_min`: where the mins of all are more than
  // there is, each counts in proportion.
  void Build(std::span<const DimensionId> dimensions, std::span<const Member> members,
             bool scale_min);
  void SetRequest(size_t member, const QuotaAmounts& request);
  void SetGuaranteed(size_t member, const QuotaAmounts& guaranteed);
  // What there is to share. Of a resource that it does not list nobody gets anything.
  void SetTotal(const QuotaAmounts& total);

  QuotaAmounts RuntimeOf(size_t member);
  // Its min as it counts at present.
  QuotaAmounts CountedMinOf(size_t member) const;

 private:
  // One resource.
  struct Column {
    DimensionId id;
    std::vector<ShareClaim> claims;  // with mins that are not scaled
    std::vector<int64_t> mins, guaranteed;
    Wide min_sum = 0;
    Wide demand_sum = 0;
    std::optional<int64_t> total = {};
    std::vector<int64_t> shares = {};  // as of the last look, where there is not enough
    bool is_stale = true;
    bool is_enough = false;

    bool ScalesMins(bool scale_min) const { return scale_min && total && *total < min_sum; }
  };

  void Change(Column& column, size_t member, int64_t request, int64_t guaranteed);
  void Refresh(Column& column);

  bool scale_min_ = true;
  std::vector<Column> columns_;
  FairShare fair_share_;
  std::vector<ShareClaim> scaled_;  // kept for its memory
};

}  // namespace koord::model
