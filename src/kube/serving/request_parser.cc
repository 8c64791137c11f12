#include "kube/serving/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <utility>

#include "base/strings.h"

namespace koord::kube {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using beast::error_code;

constexpr size_t kLastChunkSize = std::string_view("0\r\n\r\n").size();

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

// Beast's parser, which writes straight into the request.
class RequestParser::Message final : public http::basic_parser<true> {
 public:
  explicit Message(const Limits& limits) {
    header_limit(static_cast<uint32_t>(limits.header_bytes));
    body_limit(limits.body_bytes);
    eager(false);  // stops where the header ends
  }

  HttpRequest request;
  bool in_header = true;
  bool chunks_allowed = true;
  bool expects_continue = false;

 private:
  void on_request_impl(http::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    chunks_allowed = version >= 11;
    request.method = View(method);
    request.target = View(target);
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_field_impl(http::field field, beast::string_view name, beast::string_view value,
                     error_code&) override {
    if (!in_header) return;  // trailers have no say
    if (field == http::field::expect)
      expects_continue = EqualsIgnoreCase(View(value), "100-continue");
    request.headers.Add(View(name), std::string(View(value)));
  }
  void on_header_impl(error_code&) override { in_header = false; }
  void on_body_init_impl(const boost::optional<uint64_t>& length, error_code&) override {
    // Within the limit; whoever feeds the parser has made sure that there is room.
    if (length) request.body.reserve(*length);
  }
  size_t on_body_impl(beast::string_view body, error_code&) override {
    request.body += View(body);
    return body.size();
  }
  void on_chunk_header_impl(uint64_t, beast::string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view body, error_code&) override {
    request.body += View(body);
    return body.size();
  }
  void on_finish_impl(error_code&) override {}
};

// Beast wants a fresh parser for every message; this one takes the place of the last.
class RequestParser::MessageSlot {
 public:
  std::optional<Message> message;
};

RequestParser::RequestParser(Limits limits)
    : limits_(limits), slot_(std::make_unique<MessageSlot>()) {
  slot_->message.emplace(limits_);
}

RequestParser::~RequestParser() = default;

RequestParser::State RequestParser::Feed(std::string_view& bytes) {
  Message& message = *slot_->message;
  // The parser of this Boost asserts that the end of a chunked body does not arrive in crumbs.
  // Until it has ended, at least this much is still to come.
  if (!message.in_header && message.chunked() && bytes.size() < kLastChunkSize) {
    return State::kNeedsMore;
  }
  const bool was_in_header = message.in_header;
  error_code error;
  bytes.remove_prefix(message.put(boost::asio::buffer(bytes), error));
  if (error == http::error::body_limit) {
    return Fail(413, "RequestEntityTooLarge",
                fmt::format("Request entity is too large: limit is {}", limits_.body_bytes));
  }
  if (error == http::error::header_limit) {
    return Fail(431, "RequestHeaderFieldsTooLarge",
                fmt::format("request header is too large: limit is {}", limits_.header_bytes));
  }
  if (error && error != http::error::need_more) {
    return Fail(400, "BadRequest", "malformed HTTP request: " + error.message());
  }
  if (message.is_done()) return State::kDone;
  if (!was_in_header || message.in_header) return State::kNeedsMore;
  message.eager(true);
  return State::kHead;
}

RequestParser::State RequestParser::Fail(int code, std::string_view reason, std::string message) {
  error_ = {};
  error_.code = code;
  error_.reason = reason;
  error_.message = std::move(message);
  return State::kFailed;
}

bool RequestParser::header_done() const { return !slot_->message->in_header; }
bool RequestParser::wants_continue() const {
  return header_done() && slot_->message->expects_continue &&
         slot_->message->request.body.empty() && !slot_->message->is_done();
}
bool RequestParser::keep_alive() const { return slot_->message->keep_alive(); }
bool RequestParser::chunks_allowed() const { return slot_->message->chunks_allowed; }

std::optional<size_t> RequestParser::body_length() const {
  const auto length = slot_->message->content_length();
  return length ? std::optional<size_t>(*length) : std::nullopt;
}
size_t RequestParser::body_size() const { return slot_->message->request.body.size(); }
HttpRequest& RequestParser::request() { return slot_->message->request; }

HttpRequest RequestParser::Take() {
  HttpRequest request = std::move(slot_->message->request);
  slot_->message.emplace(limits_);
  return request;
}

}  // namespace koord::kube
