#pragma once
#include "base/metrics/metrics.h"
#include "scheduler/books/quota_book.h"

namespace koord::scheduler {

// What quotas have, ask for and use, under the names that dashboards for Koordinator know; looked
// up when somebody asks. Amounts of cpu are thousandths.
class QuotaMetrics {
 public:
  explicit QuotaMetrics(metrics::Registry& registry);

  // Null: nothing is shown, as by a process that does not lead.
  void LookUp(const QuotaBook* book);

 private:
  void Show(const QuotaBook& book, const model::Quota& quota);

  metrics::Gauges& status_;
};

}  // namespace koord::scheduler
