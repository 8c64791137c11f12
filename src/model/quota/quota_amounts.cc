#include "model/quota/quota_amounts.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace koord::model {
namespace {

// Calls f(id, a, b) for each id that either has, with nulls where one has not.
template <class F>
void Merge(const QuotaAmounts& a, const QuotaAmounts& b, F f) {
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool has_a = i < a.size() && (j == b.size() || a[i].id <= b[j].id);
    const bool has_b = j < b.size() && (i == a.size() || b[j].id <= a[i].id);
    f(has_a ? a[i].id : b[j].id, has_a ? &a[i].value : nullptr, has_b ? &b[j].value : nullptr);
    if (has_a) ++i;
    if (has_b) ++j;
  }
}

}  // namespace

const QuotaAmount* Find(const QuotaAmounts& amounts, DimensionId id) {
  for (const QuotaAmount& each : amounts) {
    if (each.id == id) return &each;
  }
  return nullptr;
}

void AddTo(QuotaAmounts& sum, const QuotaAmounts& more, int sign) {
  auto at = sum.begin();
  for (const QuotaAmount& each : more) {
    while (at != sum.end() && at->id < each.id) ++at;
    if (at == sum.end() || at->id != each.id) at = sum.insert(at, {each.id, 0});
    at->value += sign * each.value;
  }
}

void RaiseTo(QuotaAmounts& amounts, const QuotaAmounts& at_least) {
  QuotaAmounts raised;
  Merge(amounts, at_least, [&](DimensionId id, const Wide* a, const Wide* b) {
    raised.push_back({id, a == nullptr ? *b : b == nullptr ? *a : std::max(*a, *b)});
  });
  amounts = std::move(raised);
}

QuotaAmounts Masked(const QuotaAmounts& amounts, const QuotaAmounts& names) {
  QuotaAmounts masked;
  for (const QuotaAmount& each : amounts) {
    if (Find(names, each.id) != nullptr) masked.push_back(each);
  }
  return masked;
}

bool IsZero(const QuotaAmounts& amounts) {
  return std::ranges::all_of(amounts, [](const QuotaAmount& each) { return each.value == 0; });
}

bool SameAmounts(const QuotaAmounts& a, const QuotaAmounts& b) {
  bool same = true;
  Merge(a, b, [&](DimensionId, const Wide* x, const Wide* y) {
    same = same && (x == nullptr ? 0 : *x) == (y == nullptr ? 0 : *y);
  });
  return same;
}

DimensionId Dimensions::Intern(std::string_view name) {
  const auto [at, is_new] = ids_.try_emplace(std::string(name), names_.size());
  if (is_new) names_.emplace_back(name);
  return at->second;
}

std::optional<DimensionId> Dimensions::Find(std::string_view name) const {
  const auto at = ids_.find(name);
  if (at == ids_.end()) return std::nullopt;
  return at->second;
}

int64_t Dimensions::ValueOf(std::string_view name, const kube::Quantity& amount) {
  return name == kube::kCpu ? amount.MilliValue() : amount.Value();
}

kube::Quantity Dimensions::QuantityOf(DimensionId id, Wide value) const {
  const std::string& name = NameOf(id);
  if (name == kube::kCpu) return kube::Quantity::FromMilli(Clamped(value));
  const bool binary = name == kube::kMemory;
  return kube::Quantity(Clamped(value), binary ? kube::Quantity::Format::kBinarySi
                                               : kube::Quantity::Format::kDecimalSi);
}

QuotaAmounts Dimensions::Intern(const kube::ResourceList& list) {
  for (const auto& [name, amount] : list) Intern(name);
  return Known(list);
}

QuotaAmounts Dimensions::Known(const kube::ResourceList& list) const {
  QuotaAmounts amounts;
  for (const auto& [name, amount] : list) {
    if (const auto id = Find(name)) amounts.push_back({*id, ValueOf(name, amount)});
  }
  std::ranges::sort(amounts, {}, &QuotaAmount::id);
  return amounts;
}

kube::ResourceList Dimensions::ListOf(const QuotaAmounts& amounts) const {
  kube::ResourceList list;
  for (const QuotaAmount& each : amounts) {
    list.emplace(NameOf(each.id), QuantityOf(each.id, each.value));
  }
  return list;
}

std::string Dimensions::TextOf(const QuotaAmounts& amounts) const {
  if (amounts.empty()) return "<empty>";
  std::vector<std::string> parts;
  for (const auto& [name, amount] : ListOf(amounts))
    parts.push_back(name + ":" + amount.ToString());
  return Join(parts, ",");
}

}  // namespace koord::model
