#include "base/fuzz.h"
#include "base/strings.h"
#include "kube/transport/exec_credentials.h"

// Tokens come from files and from other programs. Nothing of them may end a header, and with it
// begin the next.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  const auto is_header = [](std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
  };
  const std::string_view text = FuzzText(data, size);
  const auto token = kube::CleanToken(text);
  FUZZ_ASSERT(!token.ok() || (!token->empty() && is_header(*token)));
  const auto printed = kube::ParseExecCredential(text, "client.authentication.k8s.io/v1");
  FUZZ_ASSERT(!printed.ok() || is_header(printed->credential.authorization));
  FUZZ_ASSERT(!printed.ok() ||
              !(printed->credential.authorization.empty() && printed->credential.key.empty()));
  return 0;
}
