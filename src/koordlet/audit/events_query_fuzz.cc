#include "base/fuzz.h"
#include "base/fuzz_file.h"
#include "base/virtual_loop.h"
#include "koordlet/audit/audit_log.h"

// Whoever reaches koordlet's port asks for events with a query of their choice.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  const FuzzFile file("audit.log", "{\"level\":1}\n{\"level\":2}\n{\"level\":3}\n");
  VirtualLoop loop;
  Random random(1);
  const auto log = koordlet::AuditLog::Open(loop, random, {.directory = file.directory()});
  FUZZ_ASSERT(log.ok());
  kube::HttpRequest request{.target = "/events?" + std::string(FuzzText(data, size))};
  request.headers.Set("Accept", size % 2 == 0 ? "application/json" : "text/plain");
  const kube::HttpResponse answer = koordlet::AnswerEvents(log->get(), request);
  FUZZ_ASSERT(answer.status == 200 || answer.status == 400 || answer.status == 409);
  return 0;
}
