#include "model/quota/quota_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace koord::model {
namespace {

std::string AmountText(const Dimensions& dimensions, DimensionId id, Wide value) {
  return dimensions.QuantityOf(id, value).ToString();
}

// Of the default and the system quota: as good as none.
bool IsLimit(const QuotaAmount* max) {
  constexpr Wide kUnlimited = 1'000'000'000'000'000'000;
  return max != nullptr && max->value < kUnlimited;
}

std::set<DimensionId> NamesOf(const Quota& quota, const QuotaAmounts& runtime) {
  std::set<DimensionId> ids;
  for (const QuotaAmounts* each : {&quota.max, &quota.min, &quota.used}) {
    for (const QuotaAmount& amount : *each) ids.insert(amount.id);
  }
  for (const QuotaAmount& amount : runtime) {
    if (amount.value != 0) ids.insert(amount.id);
  }
  return ids;
}

QuotaLine LineOf(const QuotaTree& tree, const Quota& quota, int depth) {
  QuotaLine line{
      .name = quota.name(), .depth = depth, .tree = std::string(tree.TreeOf(quota.info))};
  if (!quota.is_attached) {
    line.problem =
        fmt::format("there is no way from its parent {} up to the root", quota.info.parent);
  }
  const Dimensions& dimensions = tree.dimensions();
  const QuotaAmounts runtime = tree.RuntimeOf(quota);
  const QuotaAmounts request = quota.Request();
  const bool is_shared = quota.is_root || !IsBuiltInQuota(quota.name());
  for (const DimensionId id : NamesOf(quota, runtime)) {
    const auto text = [&](Wide value) { return AmountText(dimensions, id, value); };
    const Wide min = ValueIn(quota.min, id), used = ValueIn(quota.used, id);
    const Wide kept = std::max(ValueIn(runtime, id), used);
    const QuotaAmount* max = Find(quota.max, id);
    line.resources.push_back({.resource = dimensions.NameOf(id),
                              .min = text(min),
                              .max = IsLimit(max) ? text(max->value) : "-",
                              .runtime = is_shared ? text(ValueIn(runtime, id)) : "-",
                              .used = text(used),
                              .request = text(ValueIn(request, id)),
                              .borrowed = text(std::max<Wide>(0, used - min)),
                              .lent = text(quota.lends ? std::max<Wide>(0, min - kept) : 0)});
  }
  std::ranges::sort(line.resources, {}, &QuotaResource::resource);
  return line;
}

void AddBelow(const QuotaTree& tree, const Quota& quota, int depth, std::vector<QuotaLine>& lines) {
  lines.push_back(LineOf(tree, quota, depth));
  for (const Quota* child : quota.children) AddBelow(tree, *child, depth + 1, lines);
}

// Of all quotas that share with this one or with one above it, the one that is most beyond its min.
const Quota* LargestBorrower(const Quota& quota, DimensionId id) {
  const Quota* largest = nullptr;
  const auto beyond = [&](const Quota& each) {
    return ValueIn(each.used, id) - ValueIn(each.min, id);
  };
  for (const Quota* each = &quota; each->parent != nullptr; each = each->parent) {
    for (const Quota* sibling : each->parent->children) {
      if (sibling == each || !sibling->is_member || beyond(*sibling) <= 0) continue;
      if (largest == nullptr || beyond(*sibling) > beyond(*largest)) largest = sibling;
    }
    if (largest != nullptr) return largest;
  }
  return nullptr;
}

std::string ExplainLimit(const QuotaShortfall& shortfall, const QuotaTree& tree, DimensionId id,
                         const std::string& missing) {
  const Quota& quota = *shortfall.quota;
  const Dimensions& dimensions = tree.dimensions();
  const auto text = [&](Wide value) { return AmountText(dimensions, id, value); };
  const Wide limit = ValueIn(shortfall.limit, id);
  const QuotaAmount* max = Find(quota.max, id);
  if (max != nullptr && limit >= max->value) {
    return fmt::format("waits for {}: {} is at its max of {}", missing, quota.name(),
                       text(max->value));
  }
  const Quota* borrower = LargestBorrower(quota, id);
  if (borrower == nullptr) {
    return fmt::format("waits for {}: {} may use {} of what the cluster has to share, and uses {}",
                       missing, quota.name(), text(limit), text(ValueIn(shortfall.used, id)));
  }
  const Wide used = ValueIn(borrower->used, id);
  const Wide beyond = used - ValueIn(tree.RuntimeOf(*borrower), id);
  const std::string over_min = text(used - ValueIn(borrower->min, id));
  if (beyond > 0) {
    return fmt::format(
        "waits for {} that {} has to give back: it is over its runtime by {} and over its min by "
        "{}",
        missing, borrower->name(), text(beyond), over_min);
  }
  return fmt::format(
      "waits for {} that {} has borrowed within its runtime; it is over its min by {}", missing,
      borrower->name(), over_min);
}

std::string Row(const std::array<std::string, 9>& cells, const std::array<size_t, 9>& widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += i == 0   ? fmt::format("{:<{}}", cells[i], widths[i])
            : i == 1 ? fmt::format("  {:<{}}", cells[i], widths[i])
                     : fmt::format("  {:>{}}", cells[i], widths[i]);
  }
  return line + "\n";
}

}  // namespace

std::vector<QuotaLine> ExplainQuotas(const QuotaTree& tree, std::string_view name) {
  std::vector<QuotaLine> lines;
  if (!name.empty()) {
    if (const Quota* quota = tree.Find(name)) AddBelow(tree, tree.Current(*quota), 0, lines);
    return lines;
  }
  for (const auto& [each, quota] : tree.quotas()) {
    const Quota& now = tree.Current(*quota);
    if (now.parent == nullptr || now.parent->is_root) AddBelow(tree, now, 0, lines);
  }
  return lines;
}

std::string ExplainShortfall(const QuotaShortfall& shortfall, const QuotaTree& tree,
                             const QuotaCharge& charge) {
  using Kind = QuotaShortfall::Kind;
  if (shortfall.kind == Kind::kDetached) {
    return fmt::format("waits for the quota {}, which is not there", shortfall.quota->info.parent);
  }
  const DimensionId id = shortfall.exceeded.front();
  const Wide wanted = ValueIn(shortfall.used, id) + ValueIn(charge.amounts, id);
  const std::string missing =
      fmt::format("{} {}", AmountText(tree.dimensions(), id, wanted - ValueIn(shortfall.limit, id)),
                  tree.dimensions().NameOf(id));
  if (shortfall.kind != Kind::kNonPreemptible) return ExplainLimit(shortfall, tree, id, missing);
  return fmt::format(
      "waits for {}: pods that may not be preempted must fit into the min of {}, which is {}",
      missing, shortfall.quota->name(),
      AmountText(tree.dimensions(), id, ValueIn(shortfall.limit, id)));
}

std::string FormatExplanation(const QuotaExplanation& explanation) {
  using Cells = std::array<std::string, 9>;
  std::vector<Cells> rows{
      {"QUOTA", "RESOURCE", "MIN", "MAX", "RUNTIME", "USED", "REQUEST", "BORROWED", "LENT"}};
  std::string problems;
  for (const QuotaLine& line : explanation.quotas) {
    std::string name = std::string(2 * static_cast<size_t>(line.depth), ' ') + line.name;
    if (line.resources.empty()) rows.push_back({name, "-", "", "", "", "", "", "", ""});
    for (const QuotaResource& each : line.resources) {
      rows.push_back({std::exchange(name, ""), each.resource, each.min, each.max, each.runtime,
                      each.used, each.request, each.borrowed, each.lent});
    }
    if (!line.problem.empty())
      problems += fmt::format("{} has nothing: {}\n", line.name, line.problem);
  }
  std::array<size_t, 9> widths{};
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) text += Row(row, widths);
  if (!problems.empty()) text += "\n" + problems;
  if (!explanation.waiting.empty()) text += "\n";
  for (const WaitingPod& each : explanation.waiting) {
    text += fmt::format("{} ({}) {}\n", each.pod, each.quota, each.why);
  }
  return text;
}

}  // namespace koord::model

KOORD_DEFINE_CODEC(koord::model::QuotaExplanation);
