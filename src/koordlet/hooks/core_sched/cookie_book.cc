#include "koordlet/hooks/core_sched/cookie_book.h"

#include <algorithm>

namespace koord::koordlet::hooks {
namespace {

void Insert(std::vector<int32_t>& sorted, const std::vector<int32_t>& more) {
  sorted.insert(sorted.end(), more.begin(), more.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

}  // namespace

void CookieBook::Remember(std::string_view container, const std::string& group) {
  Member& member = containers_[std::string(container)];
  member.group = group;
  member.seen = clock_.Steady();
}

void CookieBook::Adopt(std::string_view container, const std::string& group,
                       const std::vector<int32_t>& processes) {
  for (const int32_t pid : processes) {
    const auto cookie = kernel_.CoreCookie(pid);
    if (!cookie.ok() || *cookie == 0) continue;
    Remember(container, group);
    Group& known = groups_[group];
    if (known.cookie == 0) known.cookie = *cookie;
    if (known.cookie == *cookie) Insert(known.processes, {pid});
    known.seen = clock_.Steady();
  }
}

std::optional<int32_t> CookieBook::HolderOf(const Group& group) const {
  for (const int32_t pid : group.processes) {
    const auto cookie = kernel_.CoreCookie(pid);
    if (cookie.ok() && *cookie == group.cookie) return pid;
  }
  return std::nullopt;
}

Status CookieBook::Share(int32_t from, uint64_t cookie, const std::vector<int32_t>& processes) {
  for (const int32_t pid : processes) {
    if (pid == from) continue;
    const auto own = kernel_.CoreCookie(pid);
    if (!own.ok() || *own == cookie) continue;  // has ended, or has it
    const Status status = kernel_.ShareCoreCookie(from, pid);
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return absl::OkStatus();
}

CookieBook::Change CookieBook::Add(Group& group, const std::vector<int32_t>& processes) {
  Change change{.kind = Kind::kAdded};
  change.status = kernel_.CreateCoreCookie(processes.front());
  if (!change.status.ok()) return change;
  const auto cookie = kernel_.CoreCookie(processes.front());
  change.status = cookie.status();
  if (!cookie.ok()) return change;
  change.cookie = *cookie;
  change.status = Share(processes.front(), *cookie, processes);
  if (!change.status.ok()) return change;
  group.cookie = *cookie;
  group.processes.clear();
  return change;
}

CookieBook::Change CookieBook::Join(std::string_view container, const std::string& group_name,
                                    const std::vector<int32_t>& processes) {
  if (processes.empty()) return {};
  Group& group = groups_[group_name];
  const auto known = containers_.find(container);
  const bool is_member = known != containers_.end() && known->second.group == group_name;
  Change change;
  if (group.cookie != 0) {
    const bool all_known = is_member && std::ranges::all_of(processes, [&](int32_t pid) {
                             return std::ranges::binary_search(group.processes, pid);
                           });
    const std::optional<int32_t> holder = all_known ? std::nullopt : HolderOf(group);
    if (holder) {
      change = {.kind = Kind::kAssigned, .cookie = group.cookie};
      change.status = Share(*holder, group.cookie, processes);
    } else if (!all_known) {
      change = Add(group, processes);
    }
  } else {
    change = Add(group, processes);
  }
  change.group = group_name;
  change.cookie = group.cookie;
  if (!change.status.ok()) return change;
  Insert(group.processes, processes);
  group.seen = clock_.Steady();
  Remember(container, group_name);
  return change;
}

CookieBook::Change CookieBook::Leave(std::string_view container,
                                     const std::vector<int32_t>& processes) {
  const auto known = containers_.find(container);
  if (known == containers_.end()) return {};
  Change change{.kind = Kind::kCleared, .group = known->second.group};
  for (const int32_t pid : processes) {
    const auto cookie = kernel_.CoreCookie(pid);
    if (!cookie.ok() || *cookie == 0) continue;
    const Status status = kernel_.ClearCoreCookie(pid);
    if (!status.ok() && !absl::IsNotFound(status)) change.status = status;
  }
  if (!change.status.ok()) return change;  // tried again next time
  if (const auto group = groups_.find(known->second.group); group != groups_.end()) {
    std::erase_if(group->second.processes, [&](int32_t pid) {
      return std::ranges::find(processes, pid) != processes.end();
    });
    if (group->second.processes.empty()) groups_.erase(group);
  }
  containers_.erase(known);
  return change;
}

void CookieBook::RemoveOld() {
  const SteadyTime now = clock_.Steady();
  const auto is_old = [now](const auto& entry) { return now - entry.second.seen >= kLifetime; };
  absl::erase_if(groups_, is_old);
  absl::erase_if(containers_, is_old);
}

}  // namespace koord::koordlet::hooks
