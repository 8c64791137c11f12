#include "scheduler/plugins/reservation/messages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/strings.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kOfReservation = "Reservation(s) ";

bool StartsWithNumber(std::string_view text, std::string_view* rest, std::string_view* number) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0) return false;
  *number = text.substr(0, digits);
  *rest = text.substr(digits);
  return true;
}

std::string_view TrimSpacesAndDots(std::string_view text) {
  constexpr std::string_view kTrimmed = " .";
  const size_t begin = text.find_first_not_of(kTrimmed);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kTrimmed) - begin + 1);
}

}  // namespace

void ReservationTally::Add(const std::vector<Seeker::Considered>& considered,
                           const std::vector<std::string>& node_reasons) {
  using enum model::MatchOutcome;
  size_t usable = 0;
  for (const auto& [offer, match] : considered) {
    ++owned_;
    switch (match.outcome) {
      case kNameUnmatched:
        ++name_unmatched_;
        break;
      case kUnschedulable:
        ++unschedulable_;
        break;
      case kTaint:
        ++by_taint_[model::TaintText(*match.taint)];
        break;
      case kAffinityUnmatched:
        ++affinity_unmatched_;
        break;
      case kNotExact:
        ++not_exact_;
        break;
      case kNameMatched:
        ++name_matched_;
        ++usable;
        break;
      default:
        ++usable;
    }
  }
  std::vector<std::string_view> of_node;
  for (const std::string& reason : node_reasons) {
    if (!reason.starts_with(kOfReservation)) {
      of_node.push_back(reason);
    } else if (usable > 0) {
      --usable;
    }
  }
  if (usable == 0) return;
  for (const std::string_view reason : of_node) by_node_reason_[std::string(reason)] += usable;
}

std::vector<std::string> ReservationTally::Lines(bool has_affinity) const {
  std::vector<std::string> lines;
  if (owned_ == 0 && !has_affinity) return lines;
  const auto add = [&](size_t count, std::string_view text) {
    if (count > 0) lines.push_back(fmt::format("{} Reservation(s) {}", count, text));
  };
  add(name_matched_, "exactly matches the requested reservation name");
  add(name_unmatched_, "didn't match the requested reservation name");
  add(affinity_unmatched_, "didn't match affinity rules");
  add(unschedulable_, "is unschedulable");
  add(not_exact_, "is not exact matched");
  // Whose order nobody has laid down: by their text.
  const auto add_sorted = [&](const std::map<std::string, size_t>& counts, std::string_view what) {
    const size_t first = lines.size();
    for (const auto& [why, count] : counts) add(count, fmt::format("{} {}", what, why));
    std::sort(lines.begin() + static_cast<ptrdiff_t>(first), lines.end());
  };
  add_sorted(by_taint_, "had untolerated taint");
  add_sorted(by_node_reason_, "for node reason that");
  lines.push_back(fmt::format("{} Reservation(s) matched owner total", owned_));
  return lines;
}

std::vector<std::string> NodeReasons(const Diagnosis& diagnosis, NodeRow row,
                                     const Reasons& reasons) {
  if (diagnosis.pre_filter.rejected()) return diagnosis.pre_filter.reasons;
  std::vector<std::string> texts;
  if (row < diagnosis.rows.size()) {
    for (const ReasonId reason : diagnosis.rows[row].verdict.reasons) {
      reasons.ForEachText(reason, [&](std::string_view text) { texts.emplace_back(text); });
    }
  }
  if (texts.empty() && !diagnosis.absent_reason.empty()) texts.push_back(diagnosis.absent_reason);
  return texts;
}

std::vector<std::string> ReservationReasons(const Seeker& seeker, const InspectedNodes& inspected,
                                            const Diagnosis& diagnosis, const Reasons& reasons) {
  if (seeker.ignores_all()) return {};
  ReservationTally tally;
  for (const auto& [row, of_row] : seeker.rows()) {
    if (!inspected.Has(row)) continue;
    tally.Add(of_row->considered, NodeReasons(diagnosis, row, reasons));
  }
  return tally.Lines(seeker.has_affinity());
}

std::optional<std::string> ReservationEventText(std::string_view message) {
  std::string_view rest;
  std::string_view nodes;
  if (!message.starts_with("0/")) return {};
  if (!StartsWithNumber(message.substr(2), &rest, &nodes)) return {};
  constexpr std::string_view kAreAvailable = " nodes are available: ";
  if (!rest.starts_with(kAreAvailable)) return {};
  rest.remove_prefix(kAreAvailable.size());
  std::string items(rest);
  for (size_t at = 0; (at = items.find(". ", at)) != std::string::npos;) items.replace(at, 1, ",");
  std::string_view total;
  std::vector<std::string_view> by_name, details, by_node;
  for (const std::string_view part : Split(items, ',')) {
    const std::string_view item = TrimSpacesAndDots(part);
    std::string_view text;
    std::string_view count;
    if (!StartsWithNumber(item, &text, &count) || !text.starts_with(" Reservation(s) ")) continue;
    text.remove_prefix(std::string_view(" Reservation(s) ").size());
    if (text == "matched owner total") {
      total = count;
    } else if (text.starts_with("for node reason that")) {
      by_node.push_back(item);
    } else if (text == "exactly matches the requested reservation name") {
      by_name.push_back(item);
    } else {
      details.push_back(item);
    }
  }
  if (total.empty()) return {};
  std::vector<std::string_view> all = std::move(by_name);
  all.insert(all.end(), details.begin(), details.end());
  all.insert(all.end(), by_node.begin(), by_node.end());
  return fmt::format("0/{} reservations are available: {}.", total, fmt::join(all, ", "));
}

}  // namespace koord::scheduler
