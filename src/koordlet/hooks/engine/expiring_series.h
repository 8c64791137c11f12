#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "base/string_map.h"

namespace koord::koordlet::hooks {

// Series of a metric about things that come and go: one that is not touched for a while is removed.
template <class Series>
class ExpiringSeries {
 public:
  ExpiringSeries(metrics::Family<Series>& family, const Clock& clock,
                 Duration lifetime = std::chrono::minutes(5))
      : family_(family), clock_(clock), lifetime_(lifetime) {}

  Series& Touch(std::initializer_list<std::string_view> values) {
    std::string key;
    for (const std::string_view value : values) (key += value) += '\0';
    Entry& entry = entries_[key];
    if (entry.values.empty()) entry.values.assign(values.begin(), values.end());
    entry.touched = clock_.Steady();
    return family_.With(values);
  }

  void RemoveOld() {
    absl::erase_if(entries_, [this](const auto& item) {
      const Entry& entry = item.second;
      if (clock_.Steady() - entry.touched < lifetime_) return false;
      const std::vector<std::string_view> values(entry.values.begin(), entry.values.end());
      family_.Remove(std::span<const std::string_view>(values));
      return true;
    });
  }

 private:
  struct Entry {
    std::vector<std::string> values;
    SteadyTime touched{};
  };

  metrics::Family<Series>& family_;
  const Clock& clock_;
  const Duration lifetime_;
  StringMap<Entry> entries_;
};

}  // namespace koord::koordlet::hooks
