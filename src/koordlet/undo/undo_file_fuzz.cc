#include "base/fuzz.h"
#include "base/fuzz_file.h"
#include "koordlet/undo/undo_file.h"

// The file may have been cut by a full disk or changed by hand. Once written again it says the
// same as before.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using koord::koordlet::UndoFile;
  const koord::FuzzFile file("undo.json", koord::FuzzText(data, size));
  UndoFile first(file.path());
  first.Hold("setting", "fuzzer", "1");
  const UndoFile second(file.path());
  FUZZ_ASSERT(second.features() == first.features());
  FUZZ_ASSERT(second.HeldBy("fuzzer", "") == first.HeldBy("fuzzer", ""));
  FUZZ_ASSERT(second.Holds("setting", "fuzzer"));
  return 0;
}
