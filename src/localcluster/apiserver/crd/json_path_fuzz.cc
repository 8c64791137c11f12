// A path and a document, a line each.
#include <cstdint>
#include <string_view>

#include "base/fuzz.h"
#include "localcluster/apiserver/crd/json_path.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  const std::string_view text = FuzzText(data, size);
  const size_t line = text.find('\n');
  const auto path = apiserver::JsonPath::Parse(text.substr(0, line));
  if (!path.ok() || line == std::string_view::npos) return 0;
  const auto document = kube::ParseJson(text.substr(line + 1));
  if (!document.ok()) return 0;
  const auto all = path->All(*document);
  const kube::Json* first = path->First(*document);
  FUZZ_ASSERT(first == (all.empty() ? nullptr : all.front()));
  return 0;
}
