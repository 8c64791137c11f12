#include "base/log.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>

namespace koord::log {
namespace {

constexpr size_t kMaxLine = 4096;

struct State {
  std::mutex mutex;
  std::function<void(std::string_view)> sink;
  std::atomic<Format> format{Format::kText};
  std::atomic<int> verbosity{0};
};

State& Global() {
  static State state;
  return state;
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string TextLine(Level level, std::string_view file, int line, std::string_view message,
                     std::initializer_list<Field> fields) {
  const auto now = std::chrono::system_clock::now();
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  std::string text =
      fmt::format("{}{:%m%d %H:%M:%S}.{:06} {:7} {}:{}] {}", "IWE"[int(level)],
                  fmt::gmtime(std::chrono::system_clock::to_time_t(now)), micros % 1'000'000,
                  getpid(), FileName(file), line, Quote(message, 1024));
  for (const Field& field : fields)
    fmt::format_to(std::back_inserter(text), " {}={}", field.key, field.text);
  return text;
}

std::string JsonLine(Level level, std::string_view file, int line, std::string_view message,
                     std::initializer_list<Field> fields) {
  const auto now = std::chrono::system_clock::now();
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  constexpr std::string_view kNames[] = {"info", "warning", "error"};
  std::string text =
      fmt::format(R"({{"ts":{}.{:03},"level":"{}","caller":"{}:{}","msg":{})", millis / 1000,
                  millis % 1000, kNames[int(level)], FileName(file), line, Quote(message, 1024));
  for (const Field& field : fields) {
    fmt::format_to(std::back_inserter(text), R"(,"{}":{})", field.key, field.text);
  }
  return text + "}";
}

}  // namespace

void SetFormat(Format format) { Global().format = format; }
void SetVerbosity(int level) { Global().verbosity = level; }
bool Enabled(int verbosity) { return Global().verbosity >= verbosity; }

void SetSink(std::function<void(std::string_view)> sink) {
  const std::lock_guard lock(Global().mutex);
  Global().sink = std::move(sink);
}

void Write(Level level, std::string_view file, int line, std::string_view message,
           std::initializer_list<Field> fields) {
  State& state = Global();
  std::string text = state.format == Format::kText ? TextLine(level, file, line, message, fields)
                                                   : JsonLine(level, file, line, message, fields);
  if (text.size() > kMaxLine) text.resize(kMaxLine);
  const std::lock_guard lock(state.mutex);
  if (state.sink) {
    state.sink(text);
    return;
  }
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace koord::log
