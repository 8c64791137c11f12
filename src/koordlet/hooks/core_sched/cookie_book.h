#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/string_map.h"
#include "koordlet/host/kernel.h"

namespace koord::koordlet::hooks {

// Which groups have which cookie, and which containers are in them; gives cookies to processes and
// takes them away. Cookies are found again in the kernel after a restart.
class CookieBook {
 public:
  enum class Kind : uint8_t { kNone, kAssigned, kAdded, kCleared };
  struct Change {
    Kind kind = Kind::kNone;
    std::string group;
    uint64_t cookie = 0;
    Status status;
  };

  CookieBook(Kernel& kernel, const Clock& clock) : kernel_(kernel), clock_(clock) {}

  // Remembers what the processes of a container have. The first cookie found counts for its group.
  void Adopt(std::string_view container, const std::string& group,
             const std::vector<int32_t>& processes);
  // Gives all processes the group's cookie; a new one if nobody holds it any more.
  Change Join(std::string_view container, const std::string& group,
              const std::vector<int32_t>& processes);
  // Takes the cookies of a container that was in a group.
  Change Leave(std::string_view container, const std::vector<int32_t>& processes);
  // Forgets what was not seen for five minutes.
  void RemoveOld();

  bool empty() const { return containers_.empty(); }

 private:
  static constexpr Duration kLifetime = std::chrono::seconds(300);

  struct Group {
    uint64_t cookie = 0;
    std::vector<int32_t> processes;  // ascending
    SteadyTime seen{};
  };
  struct Member {
    std::string group;
    SteadyTime seen{};
  };

  void Remember(std::string_view container, const std::string& group);
  std::optional<int32_t> HolderOf(const Group& group) const;
  Status Share(int32_t from, uint64_t cookie, const std::vector<int32_t>& processes);
  Change Add(Group& group, const std::vector<int32_t>& processes);

  Kernel& kernel_;
  const Clock& clock_;
  StringMap<Group> groups_;       // by name
  StringMap<Member> containers_;  // by directory
};

}  // namespace koord::koordlet::hooks
