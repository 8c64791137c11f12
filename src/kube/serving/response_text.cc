#include "kube/serving/response_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/beast/http/status.hpp>

#include "base/strings.h"

namespace koord::kube {
namespace {

// Line breaks would end the header.
void AppendValue(std::string& out, std::string_view value) {
  if (value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos) {
    out += value;
    return;
  }
  for (const char c : value) out += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
}

void AppendHeader(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  AppendValue(out, value);
  out += "\r\n";
}

void AppendStatusLine(std::string& out, int code) {
  namespace http = boost::beast::http;
  const auto reason = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(code)));
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} ", code);
  out.append(reason.data(), reason.size());
  out += "\r\n";
}

}  // namespace

void AppendHead(std::string& out, const HttpResponse& response, const HeadOptions& options) {
  AppendStatusLine(out, response.status);
  for (const auto& [name, value] : response.headers) {
    if (EqualsIgnoreCase(name, "Content-Length") || EqualsIgnoreCase(name, "Transfer-Encoding")) {
      continue;  // decided here
    }
    AppendHeader(out, name, value);
  }
  if (!options.date.empty()) AppendHeader(out, "Date", options.date);
  if (options.framing == Framing::kChunked) out += "Transfer-Encoding: chunked\r\n";
  if (options.framing == Framing::kLength && response.status != 204 && response.status != 304) {
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", response.body.size());
  }
  if (!options.keep_alive) out += "Connection: close\r\n";
  out += "\r\n";
}

void AppendChunk(std::string& out, std::string_view data) {
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", data.size());
  out += data;
  out += "\r\n";
}

std::string_view DateHeader::At(WallTime now) {
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  if (second != second_ || text_.empty()) {
    second_ = second;
    const std::time_t time = second.time_since_epoch().count();
    text_ = fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", fmt::gmtime(time));
  }
  return text_;
}

HttpResponse ErrorResponse(const ApiError& error) {
  HttpResponse response;
  response.status = error.code;
  response.headers.Add("Content-Type", "application/json");
  response.headers.Add("Cache-Control", "no-cache, private");
  if (error.retry_after_seconds > 0) {
    response.headers.Add("Retry-After", std::to_string(error.retry_after_seconds));
  }
  response.body = Serialize(error.ToJson());
  return response;
}

}  // namespace koord::kube
