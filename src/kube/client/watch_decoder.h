#pragma once
#include <absl/functional/function_ref.h>

#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"

namespace koord::kube {

// Cuts the body of a watch into events: one JSON object a line, in pieces of any size. An event of
// type ERROR becomes the error that it carries.
class WatchDecoder {
 public:
  // Returns false to stop. The object lives for the call.
  using OnEvent = absl::FunctionRef<bool(std::string_view type, JsonView object)>;

  // Objects are limited to a few MiB by every server; a line beyond this is no event.
  static constexpr size_t kMaxLine = 32 << 20;

  Status Feed(std::string_view data, OnEvent on_event);

 private:
  // False in `go_on` when on_event asked to stop.
  Status Line(std::string_view line, OnEvent on_event, bool& go_on);

  std::string partial_;  // the start of a line whose end has not come yet
};

}  // namespace koord::kube
