#include <string>
#include <vector>

#include "base/fuzz.h"
#include "kube/client/watch_decoder.h"

namespace {

using namespace koord;

struct Heard {
  bool ok = true;
  std::vector<std::string> events;
  bool operator==(const Heard&) const = default;
};

Heard Decode(std::string_view body, size_t piece) {
  kube::WatchDecoder decoder;
  Heard heard;
  const auto hear = [&](std::string_view type, kube::JsonView object) {
    heard.events.push_back(std::string(type) + kube::Serialize(object.Copy()));
    return true;
  };
  while (heard.ok && !body.empty()) {
    heard.ok = decoder.Feed(body.substr(0, piece), hear).ok();
    body.remove_prefix(std::min(piece, body.size()));
  }
  return heard;
}

}  // namespace

// In however small pieces the body of a watch arrives, it says the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = data[0] == 0 ? size : data[0];
  const std::string_view body = FuzzText(data + 1, size - 1);
  FUZZ_ASSERT(Decode(body, piece) == Decode(body, size));
  return 0;
}
