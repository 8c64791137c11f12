#include "kube/transport/transport.h"

#include "kube/transport/status_mark.h"

namespace koord::kube {
namespace {

constexpr StatusMark kNotSent("koordinator.sh/not-sent");

}  // namespace

Status NotSentError(std::string_view message) { return kNotSent.PutOn(Unavailable("{}", message)); }

bool WasNotSent(const Status& status) { return kNotSent.IsOn(status); }

}  // namespace koord::kube
