#include <algorithm>

#include "base/fuzz.h"
#include "base/fuzz_file.h"
#include "base/strings.h"
#include "koordlet/audit/audit_reader.h"

// However many lines are asked for at a time, those of an audit file come from the last to the
// first, each once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t page = data[0] % 16 + 1;
  const std::string_view text = koord::FuzzText(data + 1, size - 1);
  const koord::FuzzFile file("audit.log", text);
  koord::koordlet::BackwardReader reader({file.path(), file.directory() + "/missing"});
  std::vector<std::string> lines;
  while (!reader.at_end()) {
    std::vector<std::string> more = reader.Read(page);
    FUZZ_ASSERT(more.size() <= page);
    std::ranges::move(more, std::back_inserter(lines));
  }
  std::vector<std::string> expected;
  for (const std::string_view line : koord::Split(text, '\n')) {
    if (!line.empty()) expected.emplace_back(line);
  }
  std::ranges::reverse(expected);
  FUZZ_ASSERT(lines == expected);
  return 0;
}
