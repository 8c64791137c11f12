#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/row_needs.h"
#include "scheduler/pipeline/nominated_rows.h"
#include "scheduler/pipeline/plan.h"

namespace koord::scheduler {

// Makes the needs of a pod and keeps them up to date, row by row, as the log of changes says.
//
// Rows that are promised to others look as they do to the pod: what these will take is not left. Of
// rows that are promised to the pod itself only the others' part is taken.
class NeedsColumns {
 public:
  NeedsColumns(const Plan& plan, const NodeTable& nodes, const NominatedRows& nominated)
      : plan_(plan), nodes_(nodes), nominated_(nominated) {}

  // They are another pod's.
  void Forget() { position_.reset(); }
  // `skipped`: filters that have nothing to say, by slot; `uid`: the pod that asks. Null where rows
  // are given another look for the pod by a plugin: these must be asked about.
  const RowNeeds* Refresh(const PodQuery& query, std::span<const uint8_t> skipped,
                          std::string_view uid);

 private:
  bool SortFilters(const PodQuery& query, std::span<const uint8_t> skipped);
  void Rebuild(const PodQuery& query);
  void SetRow(const PodQuery& query, NodeRow row, std::string_view uid);
  void SetRoom(const PodQuery& query, NodeRow row, std::string_view uid);
  void Resize();

  const Plan& plan_;
  const NodeTable& nodes_;
  const NominatedRows& nominated_;
  std::optional<uint64_t> position_;     // in the log; nothing: never looked
  std::vector<FilterPlugin*> podless_;   // filters that pods make no difference to
  std::vector<FilterPlugin*> measures_;  // that ask for room
  ResourceAmounts amounts_;              // of needs_.room
  std::optional<NodeRow> own_;           // promised to the pod that asked last
  RowNeeds needs_;
};

}  // namespace koord::scheduler
