#include "cli/live_screen.h"

#include <fmt/format.h>

#include <cstdio>

#include "localcluster/assembly/summary_text.h"

namespace koord::cli {
namespace {

constexpr Duration kReadyCheck = std::chrono::milliseconds(20);
constexpr Duration kLiveInterval = std::chrono::seconds(1);
constexpr Duration kPlainInterval = std::chrono::seconds(10);

}  // namespace

LiveScreen::LiveScreen(EventLoop& loop, localcluster::LocalCluster& cluster, bool live)
    : loop_(loop), cluster_(cluster), live_(live), start_(loop.clock().Steady()), timer_(loop) {
  WaitUntilReady();
}

void LiveScreen::WaitUntilReady() {
  if (!cluster_.ready()) {
    timer_.Set(kReadyCheck, [this] { WaitUntilReady(); });
    return;
  }
  const auto seconds = std::chrono::duration<double>(loop_.clock().Steady() - start_).count();
  std::fprintf(stderr, "Ready after %.1f s. Ctrl-C stops it.\n", seconds);
  Refresh();
}

void LiveScreen::Refresh() {
  const localcluster::Summary summary = cluster_.Summarize();
  if (live_) {
    Redraw(localcluster::FormatSummary(summary));
  } else if (std::string line = localcluster::FormatLine(summary); line != last_) {
    std::fprintf(stderr, "%s\n", line.c_str());
    last_ = std::move(line);
  }
  timer_.Set(live_ ? kLiveInterval : kPlainInterval, [this] { Refresh(); });
}

void LiveScreen::Redraw(const std::vector<std::string>& lines) {
  std::string text;
  if (drawn_ > 0) text = fmt::format("\033[{}A", drawn_);
  for (const std::string& line : lines) text += "\r\033[2K" + line + "\n";
  // What was longer before ends here.
  text += "\033[J";
  std::fputs(text.c_str(), stderr);
  drawn_ = lines.size();
}

}  // namespace koord::cli
