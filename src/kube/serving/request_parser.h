#pragma once
#include <memory>
#include <optional>
#include <string_view>

#include "kube/api_error.h"
#include "kube/http.h"

namespace koord::kube {

// Takes HTTP/1.1 requests out of a stream of bytes, within limits.
class RequestParser {
 public:
  struct Limits {
    size_t header_bytes = size_t{64} * 1024;
    size_t body_bytes = size_t{3} * 1024 * 1024;
  };
  // kHead: the header is complete and a body follows, which the next call reads.
  enum class State { kNeedsMore, kHead, kDone, kFailed };

  explicit RequestParser(Limits limits);
  ~RequestParser();

  // Reads as far as it can; `bytes` shrinks by what was taken. What remains must be given again,
  // followed by more.
  State Feed(std::string_view& bytes);

  // Of the request under way, or the one that is done.
  bool header_done() const;
  bool wants_continue() const;  // the peer waits for "100 Continue" before it sends the body
  bool keep_alive() const;
  bool chunks_allowed() const;                // HTTP/1.1
  std::optional<size_t> body_length() const;  // as the header promises it
  size_t body_size() const;                   // that has been read
  HttpRequest& request();                     // with as much of the body as there is

  // The request that is done. Makes room for the next one.
  HttpRequest Take();

  // What is wrong, for the peer.
  const ApiError& error() const { return error_; }

 private:
  class Message;
  class MessageSlot;

  State Fail(int code, std::string_view reason, std::string message);

  const Limits limits_;
  std::unique_ptr<MessageSlot> slot_;
  ApiError error_;
};

}  // namespace koord::kube
