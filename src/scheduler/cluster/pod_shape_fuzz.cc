#include "base/fuzz.h"
#include "kube/json.h"
#include "scheduler/cluster/pod_shape.h"

// Any pod that can be read has a shape, and another pod that is alike has the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  const auto json = kube::ParseJson(FuzzText(data, size));
  if (!json.ok()) return 0;
  auto decoded = kube::Decode<kube::Pod>(*json);
  if (!decoded.ok()) return 0;
  const auto pod = std::make_shared<const kube::Pod>(*std::move(decoded));
  kube::Pod copy = *pod;
  copy.metadata.uid += "x";
  const auto again = std::make_shared<const kube::Pod>(std::move(copy));

  scheduler::ResourceNames resources;
  scheduler::ShapeTable shapes(resources);
  const scheduler::ShapePtr shape = shapes.Of(pod);
  FUZZ_ASSERT(scheduler::SameShape(*pod, *again));
  FUZZ_ASSERT(scheduler::ShapeHash(*pod) == scheduler::ShapeHash(*again));
  FUZZ_ASSERT(shapes.Of(again) == shape);
  return 0;
}
