#include "scheduler/framework/plugin.h"

#include <algorithm>

namespace koord::scheduler {

void FilterPlugin::Diagnose(const PodQuery& query, uint8_t* keep, DiagnosisTable& why) {
  const RowRange all = query.nodes().all();
  const std::vector<uint8_t> before(keep, keep + all.size());
  Filter(query, all, keep);
  if (std::equal(before.begin(), before.end(), keep)) return;  // mostly: it drops nobody
  for (NodeRow row = all.begin; row < all.end; ++row) {
    if (!before[row] || keep[row]) continue;
    why.Set(row, {static_cast<uint32_t>(slot()), Check(query, {row, nullptr})});
  }
}

int64_t ScorePlugin::ScoreRow(const PodQuery& query, const RowView& row) {
  int64_t score = 0;
  Score(query, RowRange::Only(row.row), &score);
  return score;
}

}  // namespace koord::scheduler
