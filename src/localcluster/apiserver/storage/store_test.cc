#include "localcluster/apiserver/storage/store.h"

#include <gtest/gtest.h>

#include "base/virtual_loop.h"

namespace koord::apiserver {
namespace {

Entry MakeEntry(std::string key, Revision revision) {
  Entry entry;
  entry.key = std::move(key);
  entry.revision = revision;
  entry.value = fmt::format(R"({{"metadata":{{"resourceVersion":"{}"}}}})", revision);
  return entry;
}

TEST(StoreTest, Smoke) {
  VirtualLoop loop;
  auto store = std::move(*Store::Open(loop, {}));
  EXPECT_EQ(store->revision(), 1u);
  int seen = 0;
  auto watch = store->Watch("pods", 1, [&](auto changes) { seen += changes.size(); });
  ASSERT_TRUE(watch.ok());
  store->Put("pods", MakeEntry("default/a", 2));
  EXPECT_EQ(seen, 0);
  loop.RunReady();
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace koord::apiserver
