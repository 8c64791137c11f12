#include "model/quota/quota_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace koord::model {
namespace {

// From a quota above down to one below it, as lists are printed: "[a b c]".
std::string WayDown(const Quota* from, const Quota& to) {
  std::vector<std::string_view> names;
  for (const Quota* each = &to; each != nullptr; each = each->parent) {
    names.push_back(each->name());
    if (each == from) break;
  }
  std::ranges::reverse(names);
  return "[" + Join(names, " ") + "]";
}

const Quota& TopOf(const Quota& quota) {
  const Quota* top = &quota;
  while (top->parent != nullptr && !top->is_root) top = top->parent;
  return *top;
}

std::string ExceededText(const QuotaShortfall& shortfall, const QuotaTree& tree) {
  std::vector<std::string_view> names;
  for (const DimensionId id : shortfall.exceeded) names.push_back(tree.dimensions().NameOf(id));
  std::ranges::sort(names);
  return "[" + Join(names, " ") + "]";
}

std::optional<QuotaShortfall> CheckAncestor(const QuotaTree& tree, const Quota& ancestor,
                                            const QuotaCharge& charge, const AdmissionRules& rules,
                                            const QuotaUse& with) {
  QuotaAmounts wanted = ancestor.used;
  AddTo(wanted, charge.amounts);
  AddTo(wanted, with.amounts);
  QuotaAmounts limit = LimitOf(tree, ancestor, rules);
  auto exceeded = Exceeded(Masked(wanted, charge.amounts), limit);
  if (exceeded.empty()) return std::nullopt;
  return QuotaShortfall{QuotaShortfall::Kind::kAncestor, &ancestor, std::move(limit), ancestor.used,
                        std::move(exceeded)};
}

}  // namespace

std::vector<DimensionId> Exceeded(const QuotaAmounts& amounts, const QuotaAmounts& limit) {
  std::vector<DimensionId> names;
  for (const QuotaAmount& each : amounts) {
    const QuotaAmount* most = Find(limit, each.id);
    if (most != nullptr && each.value > most->value) names.push_back(each.id);
  }
  return names;
}

QuotaAmounts LimitOf(const QuotaTree& tree, const Quota& quota, const AdmissionRules& rules) {
  if (!rules.runtime) return quota.max;
  return IsBuiltInQuota(quota.name()) ? QuotaAmounts() : tree.RuntimeOf(quota);
}

std::optional<QuotaShortfall> CheckAdmission(const QuotaTree& tree, const Quota& quota,
                                             const QuotaCharge& charge, const AdmissionRules& rules,
                                             const QuotaUse& with) {
  using Kind = QuotaShortfall::Kind;
  const Quota& now = tree.Current(quota);
  if (!now.is_attached) return QuotaShortfall{Kind::kDetached, &TopOf(now), {}, {}, {}};
  QuotaAmounts wanted = now.used;
  AddTo(wanted, charge.amounts);
  AddTo(wanted, with.amounts);
  QuotaAmounts limit = LimitOf(tree, now, rules);
  if (auto exceeded = Exceeded(wanted, limit); !exceeded.empty()) {
    return QuotaShortfall{Kind::kLimit, &now, std::move(limit), now.used, std::move(exceeded)};
  }
  if (charge.non_preemptible) {
    wanted = now.non_preemptible_used;
    AddTo(wanted, charge.amounts);
    AddTo(wanted, with.non_preemptible);
    if (auto exceeded = Exceeded(wanted, now.min); !exceeded.empty()) {
      return QuotaShortfall{Kind::kNonPreemptible, &now, now.min, now.non_preemptible_used,
                            std::move(exceeded)};
    }
  }
  // A max is a max also for all below it, whether or not runtimes are computed from it.
  if (!rules.check_parents && rules.runtime) return std::nullopt;
  for (const Quota* each = now.parent; !each->is_root; each = each->parent) {
    if (auto shortfall = CheckAncestor(tree, *each, charge, rules, with)) return shortfall;
  }
  return std::nullopt;
}

std::string TextOf(const QuotaShortfall& shortfall, const QuotaTree& tree, const Quota& quota,
                   const QuotaCharge& charge) {
  using Kind = QuotaShortfall::Kind;
  const Dimensions& dimensions = tree.dimensions();
  const std::string limit = dimensions.TextOf(shortfall.limit);
  const std::string used = dimensions.TextOf(shortfall.used);
  const std::string request = dimensions.TextOf(charge.amounts);
  switch (shortfall.kind) {
    case Kind::kLimit:
      return fmt::format(
          "Insufficient quotas, quotaName: {}, runtime: {}, used: {}, pod's request: {}, "
          "exceedDimensions: {}",
          quota.name(), limit, used, request, ExceededText(shortfall, tree));
    case Kind::kNonPreemptible:
      return fmt::format(
          "Insufficient non-preemptible quotas, quotaName: {}, min: {}, nonPreemptibleUsed: {}, "
          "pod's request: {}, exceedDimensions: {}",
          quota.name(), limit, used, request, ExceededText(shortfall, tree));
    case Kind::kAncestor:
      return fmt::format(
          "Insufficient quotas, quotaNameTopo: {}, runtime: {}, used: {}, pod's request: {}, "
          "exceedDimensions: {}",
          WayDown(shortfall.quota, quota), limit, used, request, ExceededText(shortfall, tree));
    case Kind::kDetached:
      return fmt::format("Could not find the elasticQuota {}, quotaNameTopo: {}",
                         shortfall.quota->info.parent, WayDown(shortfall.quota, quota));
  }
  return "";
}

}  // namespace koord::model
