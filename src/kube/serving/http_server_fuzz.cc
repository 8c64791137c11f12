// Whatever arrives on a connection, in whatever pieces: the session must not crash, and must answer
// or wait.
#include <cstdint>
#include <memory>

#include "kube/serving/session_testing.h"

namespace {

using namespace koord;
using namespace koord::kube;

void Answer(HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  if (request.target.starts_with("/s")) {
    response->StartStream({});
    response->Write(std::make_shared<const std::string>(request.body));
    return response->End();
  }
  HttpResponse answer;
  answer.body = std::move(request.body);
  response->Finish(std::move(answer));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  VirtualLoop loop;
  FakeHandler handler;
  handler.answer = Answer;
  SessionOptions options;
  options.request = {.header_bytes = 1024, .body_bytes = 1024};
  const auto group = std::make_shared<SessionGroup>(loop, options, HostPolicy({}), handler);
  const auto connection = std::make_shared<FakeConnection>(group, loop);
  group->Add(connection);
  connection->Open();
  // The first byte says in how large pieces the rest arrives.
  const size_t piece = data[0] == 0 ? size : data[0];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (!rest.empty()) {
    connection->Send(rest.substr(0, piece));
    rest.remove_prefix(std::min(piece, rest.size()));
    loop.RunReady();
  }
  loop.Advance(std::chrono::minutes(10));
  if (group->size() != 0) __builtin_trap();  // somebody was forgotten
  return 0;
}
