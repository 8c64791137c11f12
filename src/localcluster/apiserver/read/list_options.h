#pragma once
#include <optional>

#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/read/continue_token.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// The parameters of a list or watch, checked.
struct ListOptions {
  enum class Match { kUnset, kExact, kNotOlderThan };

  size_t limit = 0;  // 0: all
  std::optional<ContinueToken> next;
  Revision revision = 0;
  bool has_revision = false;  // given and not empty
  Match match = Match::kUnset;
  // Watches.
  std::optional<bool> send_initial_events;
  bool bookmarks = false;
  std::optional<int64_t> timeout_seconds;

  static StatusOr<ListOptions> ForList(const Request& request);
  static StatusOr<ListOptions> ForWatch(const Request& request);
};

// resourceVersion of a get, list or watch: "" and "0" count as 0.
StatusOr<Revision> ParseRevision(std::string_view text);

}  // namespace koord::apiserver
