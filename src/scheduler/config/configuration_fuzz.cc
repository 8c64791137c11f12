#include "base/fuzz.h"
#include "scheduler/config/catalog_testing.h"
#include "scheduler/config/expand_plugins.h"
#include "scheduler/config/load_configuration.h"

// What loads must be written so that it reads as the same, and every error must say something.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::scheduler;
  // Without these two lines hardly any input would get past the first check.
  const std::string text = fmt::format("apiVersion: {}\nkind: {}\n{}", kConfigApiVersion,
                                       kConfigKind, koord::FuzzText(data, size));
  const auto loaded = LoadConfiguration(text, "fuzz.yaml");
  if (!loaded.ok()) {
    FUZZ_ASSERT(!loaded.status().message().empty());
    return 0;
  }
  const std::string written = ToYaml(loaded->configuration);
  const auto again = LoadConfiguration(written, "again.yaml");
  FUZZ_ASSERT(again.ok());
  FUZZ_ASSERT(ToYaml(again->configuration) == written);
  const auto expanded = ExpandPlugins(loaded->configuration, FullCatalog());
  FUZZ_ASSERT(expanded.ok() || !expanded.status().message().empty());
  return 0;
}
