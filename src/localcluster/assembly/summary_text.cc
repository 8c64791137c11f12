#include "localcluster/assembly/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace koord::localcluster {
namespace {

using Lines = std::vector<std::string>;

constexpr size_t kWidth = 80;
constexpr size_t kMostNodeRows = 5;

int Percent(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<int>(std::lround(static_cast<double>(part) * 100.0 / whole));
}

std::string Bar(int percent, int of_best_effort) {
  constexpr int kBarWidth = 20;
  const int filled = std::clamp(percent * kBarWidth / 100, 0, kBarWidth);
  const int theirs = std::clamp(of_best_effort * kBarWidth / 100, 0, filled);
  return std::string(filled - theirs, '#') + std::string(theirs, '=') +
         std::string(kBarWidth - filled, '.');
}

std::string Cores(int64_t milli) {
  return milli % 1000 == 0 || milli >= 100'000 ? fmt::format("{}", milli / 1000)
                                               : fmt::format("{:.1f}", milli / 1000.0);
}

std::string Gibibytes(int64_t bytes) {
  const double gibibytes = static_cast<double>(bytes) / 1073741824.0;
  return gibibytes < 1000 ? fmt::format("{:.1f}Gi", gibibytes)
                          : fmt::format("{:.1f}Ti", gibibytes / 1024);
}

const std::string kUnknown = "unknown";

// "12+": more than that, since some nodes do not report.
template <class Format>
std::string UsedText(const Summary& summary, int64_t amount, Format format) {
  if (!summary.knows_usage()) return kUnknown;
  return format(amount) + (summary.silent_nodes() > 0 ? "+" : "");
}

template <class Format>
std::string UsageLine(std::string_view name, const Summary& summary, int64_t Amounts::*amount,
                      Format format) {
  const int64_t whole = summary.allocatable.*amount;
  const int64_t used = summary.used.*amount;
  const int64_t requested = summary.requested.*amount;
  const int best_effort = Percent(summary.of(api::QosClass::kBe).used.*amount, whole);
  std::string in_use = UsedText(summary, used, format);
  if (in_use != kUnknown) in_use += fmt::format(" ({}%)", Percent(used, whole));
  return fmt::format("{:7}[{}] used {}, asked {} ({}%) of {}", name,
                     Bar(Percent(used, whole), best_effort), in_use, format(requested),
                     Percent(requested, whole), format(whole));
}

std::string PodLine(const PodCounts& pods) {
  std::string line = fmt::format("pods   {} running, {} pending", pods.running, pods.pending);
  if (pods.succeeded > 0) line += fmt::format(", {} succeeded", pods.succeeded);
  if (pods.failed > 0) line += fmt::format(", {} failed", pods.failed);
  if (pods.terminating > 0) line += fmt::format(", {} terminating", pods.terminating);
  return line;
}

std::string ReservationLine(const ReservationCounts& reservations) {
  std::string line = fmt::format("kept   {} reservations available, {} pending",
                                 reservations.available, reservations.pending);
  if (reservations.succeeded > 0) line += fmt::format(", {} used up", reservations.succeeded);
  if (reservations.failed > 0) line += fmt::format(", {} expired or failed", reservations.failed);
  return line;
}

// "12+": some have no limit; "-": nobody has.
template <class Format>
std::string LimitText(int64_t amount, bool open, Format format) {
  if (open && amount == 0) return "-";
  return format(amount) + (open ? "+" : "");
}

void AddClasses(const Summary& summary, Lines& lines) {
  constexpr std::string_view kRow = "{:6} {:>5} {:>10} {:>8} {:>8}  {:>11} {:>9} {:>9}";
  const bool any = std::any_of(summary.classes.begin(), summary.classes.end(),
                               [](const ClassSummary& pods) { return pods.pods > 0; });
  if (!any) return;
  lines.emplace_back();
  lines.push_back(
      fmt::format(kRow, "qos", "pods", "cpu asked", "used", "limit", "mem asked", "used", "limit"));
  for (size_t i = 0; i < summary.classes.size(); ++i) {
    const ClassSummary& pods = summary.classes[i];
    if (pods.pods == 0) continue;
    const std::string_view name = api::ToString(static_cast<api::QosClass>(i));
    const bool known = pods.reported > 0;
    lines.push_back(fmt::format(
        kRow, name.empty() ? "none" : name, pods.pods, Cores(pods.requested.cpu),
        known ? Cores(pods.used.cpu) : kUnknown, LimitText(pods.limits.cpu, pods.cpu_open, Cores),
        Gibibytes(pods.requested.memory), known ? Gibibytes(pods.used.memory) : kUnknown,
        LimitText(pods.limits.memory, pods.memory_open, Gibibytes)));
  }
}

// Several nodes a line; as many as fit on a screen.
void AddBatch(const Summary& summary, Lines& lines) {
  if (summary.batch.cpu == 0 && summary.batch_requested.cpu == 0) return;
  lines.emplace_back();
  lines.push_back(fmt::format("batch  {} of {} CPUs that nodes lend are asked for ({}%); by node:",
                              Cores(summary.batch_requested.cpu), Cores(summary.batch.cpu),
                              Percent(summary.batch_requested.cpu, summary.batch.cpu)));
  size_t name_width = 0;
  for (const NodeSummary& node : summary.nodes) {
    name_width = std::max(name_width, node.name.size());
  }
  const size_t cell = name_width + 12;  // " 12.5/14.0  "
  const size_t columns = std::max<size_t>(1, kWidth / cell);
  const size_t shown = std::min(summary.nodes.size(), columns * kMostNodeRows);
  for (size_t i = 0; i < shown; ++i) {
    const NodeSummary& node = summary.nodes[i];
    if (i % columns == 0) lines.emplace_back();
    const std::string text = fmt::format("{:{}} {:>4}/{}", node.name, name_width,
                                         Cores(node.batch_requested.cpu), Cores(node.batch.cpu));
    lines.back() +=
        (i + 1) % columns == 0 || i + 1 == shown ? text : fmt::format("{:{}}", text, cell);
  }
  if (shown < summary.nodes.size()) {
    lines.push_back(fmt::format("and {} more: koord status -o wide", summary.nodes.size() - shown));
  }
}

void AddEffect(const Summary& summary, Lines& lines) {
  if (summary.of(api::QosClass::kBe).pods == 0 && summary.batch.cpu == 0) return;
  lines.emplace_back();
  if (summary.protection) {
    lines.push_back(
        fmt::format("guard  batch suppressed on {} nodes now, {} times so far; {} pods evicted",
                    summary.protection->suppressed_nodes, summary.protection->suppressions,
                    summary.protection->evictions));
  }
  if (!summary.knows_usage()) return lines.push_back("gain   unknown: no node reports its usage");
  lines.push_back(fmt::format("gain   {}% of all CPUs in use, {}% without co-location",
                              Percent(summary.used.cpu, summary.allocatable.cpu),
                              Percent(summary.cpu_without_best_effort(), summary.allocatable.cpu)));
}

std::string StatusOf(const NodeSummary& node) {
  return std::string(node.ready ? "Ready" : "NotReady") + (node.cordoned ? ",Cordoned" : "");
}

}  // namespace

Lines FormatSummary(const Summary& summary) {
  Lines lines{fmt::format("nodes  {}/{} ready", summary.ready_nodes(), summary.nodes.size()),
              PodLine(summary.pods), UsageLine("cpu", summary, &Amounts::cpu, Cores),
              UsageLine("memory", summary, &Amounts::memory, Gibibytes)};
  if (summary.reservations.total() > 0) {
    lines.insert(lines.begin() + 2, ReservationLine(summary.reservations));
  }
  if (!summary.unknown_because.empty()) {
    lines.push_back("usage  unknown: " + summary.unknown_because);
  } else if (summary.knows_usage() && summary.silent_nodes() > 0) {
    lines.push_back(fmt::format("usage  unknown on {} of {} nodes", summary.silent_nodes(),
                                summary.nodes.size()));
  }
  AddClasses(summary, lines);
  AddBatch(summary, lines);
  AddEffect(summary, lines);
  return lines;
}

std::string FormatLine(const Summary& summary) {
  std::string line = fmt::format("nodes {}/{} ready, pods {} running, {} pending, {} failed",
                                 summary.ready_nodes(), summary.nodes.size(), summary.pods.running,
                                 summary.pods.pending, summary.pods.failed);
  if (summary.batch.cpu > 0 && !summary.knows_usage()) {
    line += fmt::format(", cpu use unknown, batch cpu {}/{}", Cores(summary.batch_requested.cpu),
                        Cores(summary.batch.cpu));
  } else if (summary.batch.cpu > 0) {
    line += fmt::format(", cpu {}% used ({}% without co-location), batch cpu {}/{}",
                        Percent(summary.used.cpu, summary.allocatable.cpu),
                        Percent(summary.cpu_without_best_effort(), summary.allocatable.cpu),
                        Cores(summary.batch_requested.cpu), Cores(summary.batch.cpu));
  }
  if (summary.protection && summary.protection->suppressions > 0) {
    line += fmt::format(", suppressed {} times", summary.protection->suppressions);
  }
  if (summary.protection && summary.protection->evictions > 0) {
    line += fmt::format(", evicted {}", summary.protection->evictions);
  }
  return line;
}

Lines FormatNodes(const Summary& summary) {
  constexpr std::string_view kRow = "{:{}}  {:17}  {:>4}  {:>13}  {:>13}  {:>13}";
  size_t width = 4;
  for (const NodeSummary& node : summary.nodes) width = std::max(width, node.name.size());
  Lines lines{fmt::format(kRow, "NODE", width, "STATUS", "PODS", "CPU USED/REQ%", "MEM USED/REQ%",
                          "BATCH CPU REQ")};
  for (const NodeSummary& node : summary.nodes) {
    const auto ratio = [&](int64_t Amounts::*amount) {
      const int64_t whole = node.allocatable.*amount;
      const int requested = Percent(node.requested.*amount, whole);
      if (!node.used) return fmt::format("{}/{}", kUnknown, requested);
      return fmt::format("{}/{}", Percent((*node.used).*amount, whole), requested);
    };
    lines.push_back(fmt::format(
        kRow, node.name, width, StatusOf(node), node.pods, ratio(&Amounts::cpu),
        ratio(&Amounts::memory),
        node.batch.cpu == 0
            ? "-"
            : fmt::format("{}/{}", Cores(node.batch_requested.cpu), Cores(node.batch.cpu))));
  }
  return lines;
}

}  // namespace koord::localcluster
