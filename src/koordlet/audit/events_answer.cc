#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>

#include "base/strings.h"
#include "koordlet/audit/audit_log.h"

namespace koord::koordlet {
namespace {

constexpr size_t kDefaultSize = 256;
constexpr size_t kMaxToken = 64;

struct Question {
  int64_t size = kDefaultSize;
  std::string token;
};

// What the asker gets to see of it again.
std::string Shown(std::string token) {
  token.resize(std::min(token.size(), kMaxToken));
  std::ranges::replace_if(
      token, [](char c) { return c <= ' ' || c > '~'; }, '?');
  return token;
}

// What cannot be read is as if it was not there.
Question ParseQuestion(const std::string& target) {
  Question question;
  const auto url = boost::urls::parse_origin_form(target);
  if (!url) return question;
  for (const auto& parameter : url->params()) {
    if (parameter.key == "pageToken") question.token = Shown(parameter.value);
    if (parameter.key == "size") {
      const auto size = ParseInt(parameter.value);
      if (size && *size > 0) question.size = *size;
    }
  }
  return question;
}

kube::HttpResponse Refuse(int status, std::string message) {
  kube::HttpResponse response;
  response.status = status;
  response.headers.Set("Content-Type", "text/plain; charset=utf-8");
  response.body = std::move(message) + "\n";
  return response;
}

// Events are JSON already.
kube::HttpResponse AsJson(const AuditLog::Page& page) {
  kube::HttpResponse response;
  response.headers.Set("Content-Type", "application/json");
  response.body = "{";
  if (!page.next_token.empty()) {
    response.body += fmt::format("\"NextPageToken\":\"{}\",", page.next_token);
  }
  response.body += fmt::format("\"Events\":[{}]}}", Join(page.events, ","));
  return response;
}

kube::HttpResponse AsLines(const AuditLog::Page& page) {
  kube::HttpResponse response;
  response.headers.Set("Content-Type", "text/plain; charset=utf-8");
  if (!page.next_token.empty()) response.headers.Set("Next-Page-Token", page.next_token);
  for (const std::string& event : page.events) response.body += event + "\n";
  return response;
}

}  // namespace

kube::HttpResponse AnswerEvents(AuditLog* log, const kube::HttpRequest& request) {
  if (log == nullptr) return {};
  if (request.method != "GET") return Refuse(405, "only GET is allowed");
  const Question question = ParseQuestion(request.target);
  const auto limit = static_cast<int64_t>(log->options().max_events);
  if (question.size > limit) {
    return Refuse(400, fmt::format("size({}) exceeds the limit({})", question.size, limit));
  }
  const auto size = static_cast<size_t>(question.size);
  StatusOr<AuditLog::Page> page =
      question.token.empty() ? log->Read(size) : log->ReadOn(question.token, size);
  if (!page.ok()) return Refuse(409, std::string(Message(page.status())));
  const bool json =
      request.headers.Get("Accept").find("application/json") != std::string_view::npos;
  return json ? AsJson(*page) : AsLines(*page);
}

}  // namespace koord::koordlet
