#include "base/fuzz.h"
#include "koordlet/executor/schemata.h"
#include "koordlet/host/resctrl.h"

// What resctrl's files hold, and what pods' annotations ask for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::koordlet;
  const std::string_view text = koord::FuzzText(data, size);
  for (const std::string_view kind : {"L3", "MB"}) {
    const auto line = SchemataLine::Parse(kind, text);
    if (line.ok()) {
      const auto again = SchemataLine::Parse(kind, line->Text());
      FUZZ_ASSERT(again.ok() && again->values == line->values);
      FUZZ_ASSERT(line->Matches(line->Text()));
    }
    const std::vector<int32_t> caches = ParseCacheIds(text, kind);
    FUZZ_ASSERT(caches.empty() || caches.front() >= 0);
  }
  const auto mask = L3MaskOf(text, 0, 100);
  FUZZ_ASSERT(!mask.ok() || !mask->empty());
  return 0;
}
