#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "scheduler/explain/explanation.h"
#include "scheduler/explain/wrapped_text.h"

namespace koord::scheduler {
namespace {

std::string Plural(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void AppendQueue(std::string& out, const Explanation::Queue& queue, size_t width) {
  std::string line = fmt::format("{}, {}", queue.pool, Plural(queue.attempts, "attempt"));
  if (queue.ahead) line += fmt::format(", {} ahead", Plural(*queue.ahead, "pod"));
  if (queue.added_at) line += fmt::format(", added {}", kube::FormatTime(*queue.added_at));
  if (!queue.backoff_left.empty()) line += fmt::format(", back-off {} left", queue.backoff_left);
  out += "\nQueue\n";
  AppendWrapped(out, line, 2, width);
  if (!queue.message.empty()) AppendWrapped(out, "last: " + queue.message, 2, width);
  if (queue.waits_for_any_event) {
    AppendWrapped(out, "moved by: any event", 2, width);
  } else if (!queue.waits_for.empty()) {
    AppendWrapped(out, "moved by: " + Join(queue.waits_for, ", "), 2, width);
  }
}

void AppendRejections(std::string& out, const Explanation& all, size_t width) {
  for (const Explanation::Rejection& plugin : all.rejections) {
    out += fmt::format("  {} removed {}\n", plugin.plugin, plugin.count);
    for (const Explanation::Rejection::Reason& reason : plugin.reasons) {
      std::string line = fmt::format("{} {}", reason.count, reason.reason);
      if (!reason.nodes.empty()) {
        const bool more = reason.count > static_cast<int64_t>(reason.nodes.size());
        line += fmt::format(": {}{}", Join(reason.nodes, ", "), more ? ", ..." : "");
      }
      if (reason.preemption_might_help) line += " (preemption might help)";
      AppendWrapped(out, line, 4, width);
    }
  }
}

std::string Shorten(const std::string& text, size_t width) {
  return text.size() <= width ? text : "..." + text.substr(text.size() - (width - 3));
}

// Plugins are many and nodes few: one line per plugin, one column per node.
void AppendScores(std::string& out, const std::vector<Explanation::Score>& scores, size_t width) {
  std::set<std::string> plugins;
  for (const Explanation::Score& score : scores) {
    for (const auto& [plugin, value] : score.plugins) plugins.insert(plugin);
  }
  size_t first = std::string_view("Best nodes").size();
  for (const std::string& plugin : plugins) first = std::max(first, plugin.size() + 2);
  size_t longest = 6;
  for (const Explanation::Score& score : scores) longest = std::max(longest, score.node.size());
  const size_t room = width > first ? (width - first) / scores.size() : 0;
  const size_t column = std::max<size_t>(9, std::min(room, longest + 2));

  out += fmt::format("\n{:{}}", "Best nodes", first);
  for (const auto& score : scores)
    out += fmt::format("{:>{}}", Shorten(score.node, column - 2), column);
  out += fmt::format("\n{:{}}", "  total", first);
  for (const auto& score : scores) out += fmt::format("{:>{}}", score.total, column);
  out += "\n";
  for (const std::string& plugin : plugins) {
    out += fmt::format("{:{}}", "  " + plugin, first);
    for (const auto& score : scores) {
      const auto value = score.plugins.find(plugin);
      out += fmt::format("{:>{}}", value == score.plugins.end() ? 0 : value->second, column);
    }
    out += "\n";
  }
}

}  // namespace

std::string FormatExplanation(const Explanation& all, size_t width) {
  std::string out = fmt::format("{}/{}  {}\n", all.ns, all.name, all.state);
  AppendWrapped(out, all.summary, 2, width);
  return out + FormatDetails(all, width);
}

std::string FormatDetails(const Explanation& all, size_t width) {
  std::string out;
  if (all.decided) {
    AppendWrapped(out,
                  fmt::format("decided {} with score {}: {} of {} nodes were feasible",
                              kube::FormatTime(all.decided->at), all.decided->total,
                              all.decided->feasible, all.decided->evaluated),
                  2, width);
  }
  if (!all.nominated_node.empty()) {
    out += fmt::format("  room on node {} is being made for it\n", all.nominated_node);
  }
  for (const Explanation::Permit& permit : all.waits_for_permit) {
    out += fmt::format("  {} decides within {}\n", permit.plugin, permit.time_left);
  }
  if (all.queue) AppendQueue(out, *all.queue, width);
  if (all.state == "Ignored") return out;

  out +=
      fmt::format("\nNodes, if it were placed now: {} of {} feasible\n", all.feasible, all.nodes);
  if (!all.rejected_as_a_whole.empty()) AppendWrapped(out, all.rejected_as_a_whole, 2, width);
  AppendRejections(out, all, width);
  if (!all.nearest_misses.empty()) {
    out += "\nNearest misses\n";
    for (const auto& miss : all.nearest_misses) AppendWrapped(out, miss.text, 2, width);
  }
  if (!all.changes.empty()) {
    out += "\nSmallest change\n";
    std::string_view before;
    for (const Explanation::Change& change : all.changes) {
      AppendWrapped(out, fmt::format("{}{}", before, change.text), 2, width);
      before = "or ";
    }
  }
  if (!all.reservations.empty()) {
    out += "\nReservations\n";
    for (const auto& each : all.reservations) {
      const std::string at = each.node.empty() ? "" : fmt::format(" on node {}", each.node);
      AppendWrapped(out, fmt::format("{}{} {}", each.name, at, each.text), 2, width);
    }
  }
  if (!all.holds.empty() || !all.trials.empty()) {
    out += "\nCPUs, NUMA nodes and devices\n";
    if (!all.holds.empty()) AppendWrapped(out, "holds " + all.holds, 2, width);
    for (const Explanation::Trial& trial : all.trials) {
      AppendWrapped(out, fmt::format("{}:", trial.node), 2, width);
      for (const std::string& line : trial.lines) AppendWrapped(out, line, 4, width);
    }
  }
  if (!all.scores.empty()) AppendScores(out, all.scores, width);
  return out;
}

}  // namespace koord::scheduler
