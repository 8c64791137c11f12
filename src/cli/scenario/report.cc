#include "cli/scenario/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace koord::scenario {
namespace {

using Kind = Outcome::Kind;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

size_t CountOf(const std::vector<Result>& results, Kind kind) {
  return std::count_if(results.begin(), results.end(),
                       [&](const Result& result) { return result.outcome.kind == kind; });
}

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\n':
        escaped += "&#10;";
        break;
      default:
        // XML 1.0 has no way to write other control characters.
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') escaped += c;
    }
  }
  return escaped;
}

std::string JunitCase(const Result& result) {
  std::string xml =
      fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                  EscapeXml(result.file), EscapeXml(result.name), Seconds(result.elapsed));
  if (result.outcome.kind == Kind::kPassed) return xml + "/>\n";
  constexpr std::string_view kElements[] = {"", "failure", "error", "skipped"};
  const std::string_view element = kElements[static_cast<int>(result.outcome.kind)];
  const auto& report = result.outcome.report;
  xml += fmt::format(">\n    <{} message=\"{}\">", element,
                     EscapeXml(report.empty() ? "" : report.front()));
  for (const std::string& line : report) xml += EscapeXml(line) + "\n";
  return xml + fmt::format("</{}>\n  </testcase>\n", element);
}

}  // namespace

std::string FormatResult(const Result& result, bool color) {
  constexpr std::string_view kWords[] = {"ok  ", "FAIL", "ERR ", "SKIP"};
  constexpr std::string_view kColors[] = {"\033[32m", "\033[31m", "\033[31m", "\033[33m"};
  const int kind = static_cast<int>(result.outcome.kind);
  std::string text = fmt::format("{}{}{} {}:{} {} ({:.0f} ms)", color ? kColors[kind] : "",
                                 kWords[kind], color ? "\033[0m" : "", result.file, result.line,
                                 result.name, Seconds(result.elapsed) * 1000);
  for (const std::string& line : result.outcome.report) text += "\n     " + line;
  return text;
}

std::string FormatSummary(const std::vector<Result>& results, Duration elapsed) {
  const size_t errors = CountOf(results, Kind::kError);
  std::string text = fmt::format("{} passed, {} failed", CountOf(results, Kind::kPassed),
                                 CountOf(results, Kind::kFailed));
  if (errors > 0) text += fmt::format(", {} could not run", errors);
  const size_t skipped = CountOf(results, Kind::kSkipped);
  if (skipped > 0) text += fmt::format(", {} skipped", skipped);
  return text + fmt::format(" in {:.1f} s", Seconds(elapsed));
}

std::string FormatJunit(const std::vector<Result>& results, Duration elapsed) {
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"koord test\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      results.size(), CountOf(results, Kind::kFailed), CountOf(results, Kind::kError),
      CountOf(results, Kind::kSkipped), Seconds(elapsed));
  for (const Result& result : results) xml += JunitCase(result);
  return xml + "</testsuite>\n";
}

}  // namespace koord::scenario
