#include "scheduler/plugins/reservation/label_index.h"

#include <fmt/format.h>

#include <algorithm>

namespace koord::scheduler {

ReservationLabelIndex::ReservationLabelIndex(const ReservationSelectorIndexArgs& args,
                                             Offers& offers, metrics::Registry* metrics)
    : args_(args) {
  if (!args.enabled) return;
  offers.Follow(*this, {});
  if (metrics == nullptr) return;
  metrics::Counters& queries =
      metrics->AddCounters("scheduler_reservation_selector_index_query_total",
                           "Queries of the index of reservation selectors.", {"result"});
  hits_ = &queries.With({"hit"});
  misses_ = &queries.With({"miss"});
  candidates_ = &metrics->AddHistogram("scheduler_reservation_selector_index_candidates_count",
                                       "Candidates that the index of reservation selectors gave.",
                                       metrics::ExponentialBuckets(1, 2, 16));
}

bool ReservationLabelIndex::IsKey(std::string_view label) const {
  return std::ranges::find(args_.keys, label) != args_.keys.end();
}

bool ReservationLabelIndex::HasPrefix(std::string_view label) const {
  return std::ranges::any_of(args_.key_prefixes,
                             [&](const std::string& prefix) { return label.starts_with(prefix); });
}

void ReservationLabelIndex::Book(const Offer& offer, int sign) {
  for (const auto& [key, value] : offer.terms.labels.get()) {
    if (!IsKey(key) && !HasPrefix(key)) continue;
    const std::string pair = fmt::format("{}={}", key, value);
    Rows& rows = rows_[pair];
    size_t& count = rows[offer.row()];
    count += static_cast<size_t>(sign);
    if (count == 0) rows.erase(offer.row());
    if (rows.empty()) rows_.erase(pair);
  }
}

std::optional<size_t> ReservationLabelIndex::NodesWith(const kube::Labels& selector) const {
  const auto least = [&](auto is_indexed) {
    std::optional<size_t> nodes;
    for (const auto& [key, value] : selector) {
      if (!is_indexed(key)) continue;
      const auto at = rows_.find(fmt::format("{}={}", key, value));
      const size_t found = at == rows_.end() ? 0 : at->second.size();
      nodes = nodes ? std::min(*nodes, found) : found;
    }
    return nodes;
  };
  const auto by_key = least([&](std::string_view key) { return IsKey(key); });
  return by_key ? by_key : least([&](std::string_view key) { return HasPrefix(key); });
}

void ReservationLabelIndex::Count(const kube::Labels& selector) {
  if (hits_ == nullptr || selector.empty()) return;
  const std::optional<size_t> nodes = NodesWith(selector);
  (nodes ? hits_ : misses_)->Increment();
  if (nodes.value_or(0) > 0) candidates_->Observe(static_cast<double>(*nodes));
}

}  // namespace koord::scheduler
