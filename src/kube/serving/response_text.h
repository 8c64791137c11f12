#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/api_error.h"
#include "kube/http.h"

// HTTP/1.1 answers as bytes.
namespace koord::kube {

// How the end of the body is told.
enum class Framing { kLength, kChunked, kUntilClose };

struct HeadOptions {
  Framing framing = Framing::kLength;
  bool keep_alive = true;
  std::string_view date;
};

void AppendHead(std::string& out, const HttpResponse& response, const HeadOptions& options);
void AppendChunk(std::string& out, std::string_view data);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// The value of a Date header, made once a second.
class DateHeader {
 public:
  std::string_view At(WallTime now);

 private:
  std::chrono::sys_seconds second_{};
  std::string text_;
};

// A Status object, with Retry-After where the error says when to come back.
HttpResponse ErrorResponse(const ApiError& error);

}  // namespace koord::kube
