#include "model/quota/quota_level.h"

#include <algorithm>

namespace koord::model {
namespace {

// Amounts that are less than nothing are nobody's claim.
int64_t ClaimOf(const QuotaAmounts& amounts, DimensionId id) {
  return Clamped(std::max<Wide>(0, ValueIn(amounts, id)));
}

}  // namespace

void QuotaLevel::Build(std::span<const DimensionId> dimensions, std::span<const Member> members,
                       bool scale_min) {
  scale_min_ = scale_min;
  columns_.clear();
  for (const DimensionId id : dimensions) {
    Column& column = columns_.emplace_back(Column{.id = id});
    for (const Member& member : members) {
      const int64_t min = ClaimOf(member.min, id);
      const int64_t guaranteed = ClaimOf(member.guaranteed, id);
      column.mins.push_back(min);
      column.guaranteed.push_back(guaranteed);
      column.min_sum += min;
      column.claims.push_back({.weight = ClaimOf(member.weight, id),
                               .request = ClaimOf(member.request, id),
                               .floor = std::max(min, guaranteed),
                               .lends = member.lends});
      column.demand_sum += DemandOf(column.claims.back());
    }
  }
}

void QuotaLevel::SetRequest(size_t member, const QuotaAmounts& request) {
  for (Column& column : columns_) {
    Change(column, member, ClaimOf(request, column.id), column.guaranteed[member]);
  }
}

void QuotaLevel::SetGuaranteed(size_t member, const QuotaAmounts& guaranteed) {
  for (Column& column : columns_) {
    Change(column, member, column.claims[member].request, ClaimOf(guaranteed, column.id));
  }
}

void QuotaLevel::Change(Column& column, size_t member, int64_t request, int64_t guaranteed) {
  ShareClaim& claim = column.claims[member];
  if (claim.request == request && column.guaranteed[member] == guaranteed) return;
  column.demand_sum -= DemandOf(claim);
  claim.request = request;
  claim.floor = std::max(column.mins[member], guaranteed);
  column.guaranteed[member] = guaranteed;
  column.demand_sum += DemandOf(claim);
  column.is_stale = true;
}

void QuotaLevel::SetTotal(const QuotaAmounts& total) {
  for (Column& column : columns_) {
    const QuotaAmount* amount = Find(total, column.id);
    const std::optional<int64_t> now =
        amount == nullptr ? std::optional<int64_t>() : Clamped(amount->value);
    if (column.total == now) continue;
    column.total = now;
    column.is_stale = true;
  }
}

// With enough for all, mins make no difference but for those that keep theirs, which is in what
// they ask for: they need not be scaled then.
void QuotaLevel::Refresh(Column& column) {
  column.is_stale = false;
  column.is_enough = column.total && column.demand_sum <= *column.total;
  if (!column.total || column.is_enough) return;
  std::span<const ShareClaim> claims = column.claims;
  if (column.ScalesMins(scale_min_)) {
    scaled_ = column.claims;
    for (size_t i = 0; i < scaled_.size(); ++i) {
      const int64_t min = ScaledMin(column.mins[i], *column.total, column.min_sum);
      scaled_[i].floor = std::max(min, column.guaranteed[i]);
    }
    claims = scaled_;
  }
  column.shares.resize(claims.size());
  fair_share_.Share(*column.total, claims, column.shares);
}

QuotaAmounts QuotaLevel::RuntimeOf(size_t member) {
  QuotaAmounts runtime;
  for (Column& column : columns_) {
    if (column.is_stale) Refresh(column);
    const int64_t amount = !column.total      ? 0
                           : column.is_enough ? DemandOf(column.claims[member])
                                              : column.shares[member];
    runtime.push_back({column.id, amount});
  }
  return runtime;
}

QuotaAmounts QuotaLevel::CountedMinOf(size_t member) const {
  QuotaAmounts mins;
  for (const Column& column : columns_) {
    const int64_t min = column.mins[member];
    mins.push_back({column.id, column.ScalesMins(scale_min_)
                                   ? ScaledMin(min, *column.total, column.min_sum)
                                   : min});
  }
  return mins;
}

}  // namespace koord::model
