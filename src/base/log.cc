#include "base/log_text.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>

namespace koord::log {
namespace {

constexpr size_t kMaxText = 1 << 20;
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

std::string TextHead(Level level, std::string_view file, int line) {
  const auto now = std::chrono::system_clock::now();
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  return fmt::format("{}{:%m%d %H:%M:%S}.{:06} {:7} {}:{}] ", "IWE"[int(level)],
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), micros % 1'000'000,
                     getpid(), FileName(file), line);
}

std::string TextLine(Level level, std::string_view file, int line, std::string_view message,
                     std::initializer_list<Field> fields) {
  std::string text = TextHead(level, file, line) + Quote(message, 1024);
  for (const Field& field : fields)
    fmt::format_to(std::back_inserter(text), " {}={}", field.key, field.text);
  return text;
}

std::string JsonLine(Level level, std::string_view file, int line, std::string_view message,
                     std::initializer_list<Field> fields, size_t message_limit = 1024) {
  const auto now = std::chrono::system_clock::now();
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  constexpr std::string_view kNames[] = {"info", "warning", "error"};
  std::string text = fmt::format(R"({{"ts":{}.{:03},"level":"{}","caller":"{}:{}","msg":{})",
                                 millis / 1000, millis % 1000, kNames[int(level)], FileName(file),
                                 line, Quote(message, message_limit));
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

namespace {

void Emit(std::string text, size_t limit) {
  State& state = Global();
  if (text.size() > limit) text.resize(limit);
  const std::lock_guard lock(state.mutex);
  if (state.sink) {
    state.sink(text);
    return;
  }
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void Write(Level level, std::string_view file, int line, std::string_view message,
           std::initializer_list<Field> fields) {
  const bool json = Global().format == Format::kJson;
  Emit(json ? JsonLine(level, file, line, message, fields)
            : TextLine(level, file, line, message, fields),
       kMaxLine);
}

void WriteText(Level level, std::string_view file, int line, std::string_view text) {
  const bool json = Global().format == Format::kJson;
  Emit(json ? JsonLine(level, file, line, text, {}, kMaxText)
            : TextHead(level, file, line).append(text),
       2 * kMaxText);
}

}  // namespace koord::log
