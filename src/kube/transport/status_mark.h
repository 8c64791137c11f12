#pragma once
#include <absl/strings/cord.h>

#include "base/status.h"

namespace koord::kube {

// Tells one failure from others of its code, for those who can do something about it: they must not
// depend on its words.
class StatusMark {
 public:
  constexpr explicit StatusMark(const char* url) : url_(url) {}

  Status PutOn(Status status) const {
    status.SetPayload(url_, absl::Cord());
    return status;
  }
  bool IsOn(const Status& status) const { return status.GetPayload(url_).has_value(); }

 private:
  const char* url_;
};

}  // namespace koord::kube
