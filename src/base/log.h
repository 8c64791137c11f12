#pragma once
#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/status.h"
#include "base/strings.h"

// klog-shaped structured logs, since that is what our users grep:
//   I1115 18:29:31.759995       1 queue.cc:120] "Bound pod" pod="ns/p" node="n"
namespace koord::log {

enum class Level { kInfo, kWarning, kError };
enum class Format { kText, kJson };

// One key="value" pair. Numbers and booleans print bare, everything else quoted and bounded.
struct Field {
  template <class T>
  Field(std::string_view key, const T& value) : key(key) {
    if constexpr (std::is_same_v<T, Status>) {
      text = Quote(Message(value), 1024);
    } else if constexpr (std::is_arithmetic_v<T>) {
      text = fmt::format("{}", value);
    } else {
      text = Quote(std::string_view(value), 1024);
    }
  }
  std::string_view key;
  std::string text;
};

void SetFormat(Format format);
void SetVerbosity(int level);  // as -v of other Kubernetes programs
bool Enabled(int verbosity);
// Replaces standard error, e.g. to keep a live screen intact. Null restores it.
void SetSink(std::function<void(std::string_view line)> sink);

void Write(Level level, std::string_view file, int line, std::string_view message,
           std::initializer_list<Field> fields);

}  // namespace koord::log

#define LOG_INFO(message, ...) \
  ::koord::log::Write(::koord::log::Level::kInfo, __FILE__, __LINE__, message, {__VA_ARGS__})
#define LOG_WARNING(message, ...) \
  ::koord::log::Write(::koord::log::Level::kWarning, __FILE__, __LINE__, message, {__VA_ARGS__})
#define LOG_ERROR(message, ...) \
  ::koord::log::Write(::koord::log::Level::kError, __FILE__, __LINE__, message, {__VA_ARGS__})
#define LOG_V(verbosity, message, ...)                                                             \
  do {                                                                                             \
    if (::koord::log::Enabled(verbosity)) {                                                        \
      ::koord::log::Write(::koord::log::Level::kInfo, __FILE__, __LINE__, message, {__VA_ARGS__}); \
    }                                                                                              \
  } while (false)
