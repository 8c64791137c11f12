#include "kube/selectors.h"

#include "base/fuzz.h"

// What is printed selects the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const std::string_view text = koord::FuzzText(data, size);
  if (const auto labels = LabelMatcher::Parse(text); labels.ok()) {
    const auto again = LabelMatcher::Parse(labels->ToString());
    FUZZ_ASSERT(again.ok() && again->ToString() == labels->ToString());
    (void)labels->Matches(std::map<std::string, std::string, std::less<>>{{"a", "1"}, {"b", ""}});
  }
  if (const auto fields = FieldMatcher::Parse(text); fields.ok()) {
    const auto again = FieldMatcher::Parse(fields->ToString());
    FUZZ_ASSERT(again.ok() && again->ToString() == fields->ToString());
  }
  return 0;
}
