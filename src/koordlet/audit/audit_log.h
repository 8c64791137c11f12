#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/status.h"
#include "koordlet/audit/auditor.h"
#include "kube/http.h"

namespace koord::koordlet {

// Keeps what koordlet did as lines of JSON in a file, so that somebody who wonders about a pod can
// look it up. Files are rotated and the oldest removed; only root may read them. A disk that is
// full or broken costs events, never koordlet.
class AuditLog final : public Auditor {
 public:
  struct Options {
    std::string directory = "/var/log/koordlet";
    int verbose = 3;  // events of a higher level are dropped
    int64_t rotate_bytes = 2 << 20;
    int64_t max_bytes = 16 << 20;  // of all files
    Duration flush_interval = std::chrono::seconds(5);
    size_t max_readers = 4;
    Duration reader_life = std::chrono::minutes(10);  // without a request
    size_t max_events = 2048;                         // in one answer
  };

  // Makes the directory, and goes on with the file that is there.
  static StatusOr<std::unique_ptr<AuditLog>> Open(EventLoop& loop, Random& random, Options options);
  ~AuditLog() override;
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void Log(AuditEvent event) override;
  void Flush();

  // One page of events, the newest first, as JSON each. A reader starts at the newest event of the
  // moment and goes backwards page by page; later events do not move it.
  struct Page {
    std::vector<std::string> events;
    std::string next_token;  // empty: there is nothing older
  };
  Page Read(size_t size);
  StatusOr<Page> ReadOn(std::string_view token, size_t size);

  const Options& options() const;

 private:
  struct State;
  explicit AuditLog(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Answers GET /events. Null: auditing is off, and the answer is empty.
kube::HttpResponse AnswerEvents(AuditLog* log, const kube::HttpRequest& request);

}  // namespace koord::koordlet
