#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/string_map.h"
#include "kube/client/resource_version.h"
#include "kube/json.h"

namespace koord::manager {

// Remembers what a controller has written and its informer does not show yet, so that no decision
// rests on the object as it was before: otherwise every write would be made twice.
class OwnWrites {
 public:
  // How long a write is waited for that does not show, because its object went as it came.
  static constexpr Duration kPatience = std::chrono::seconds(5);

  explicit OwnWrites(const Clock& clock) : clock_(clock) {}

  // `answer` is the server's to the write.
  void Remember(const std::string& name, const kube::Json& answer) {
    const std::string_view version = kube::FindString(answer, {"metadata", "resourceVersion"});
    if (!version.empty()) writes_[name] = {std::string(version), clock_.Steady() + kPatience};
  }
  void Forget(const std::string& name) { writes_.erase(name); }

  // How much longer to wait for the object to be as new as what was written; nothing if it is.
  // `version` is that of the object as the informer shows it, "" if it shows none.
  std::optional<Duration> Wait(const std::string& name, std::string_view version) {
    const auto it = writes_.find(name);
    if (it == writes_.end()) return std::nullopt;
    const Duration left = it->second.give_up - clock_.Steady();
    const bool shows = !version.empty() && !kube::IsOlderVersion(version, it->second.version);
    if (!shows && left > Duration::zero()) return left;
    writes_.erase(it);
    return std::nullopt;
  }

 private:
  struct Written {
    std::string version;
    SteadyTime give_up{};
  };
  const Clock& clock_;
  StringMap<Written> writes_;
};

}  // namespace koord::manager
