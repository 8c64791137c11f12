#include "kube/quantity.h"

#include "base/fuzz.h"

// Printing keeps the value, and canonical text is a fixed point, unless a binary quantity that is
// no multiple of 1024 becomes a decimal one by it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::kube;
  const auto quantity = Quantity::Parse(koord::FuzzText(data, size));
  if (!quantity.ok()) return 0;
  const auto again = Quantity::Parse(quantity->ToString());
  FUZZ_ASSERT(again.ok() && *again == *quantity);
  FUZZ_ASSERT(again->format() != quantity->format() || again->ToString() == quantity->ToString());
  const Quantity doubled = *quantity + *quantity;
  FUZZ_ASSERT(doubled.Sign() == quantity->Sign());
  FUZZ_ASSERT((*quantity - *quantity).IsZero());
  FUZZ_ASSERT(-(-*quantity) == *quantity);
  return 0;
}
