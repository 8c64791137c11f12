#include "koordlet/runtime/runtime_sockets.h"

#include <gtest/gtest.h>

#include "koordlet/host/memory_tree.h"

namespace koord::koordlet::runtime_sockets_test {
namespace {

TEST(RuntimeSocketsTest, UsualPlaces) {
  MemoryTree var_run;
  EXPECT_EQ(FindRuntimeSocket(var_run, "containerd"), std::nullopt);
  var_run.Set("containerd.sock", "");
  EXPECT_EQ(FindRuntimeSocket(var_run, "containerd"), "containerd.sock");
  var_run.Set("containerd/containerd.sock", "");
  EXPECT_EQ(FindRuntimeSocket(var_run, "containerd"), "containerd/containerd.sock");
  EXPECT_EQ(FindRuntimeSocket(var_run, "cri-o"), std::nullopt);
  var_run.Set("crio/crio.sock", "");
  EXPECT_EQ(FindRuntimeSocket(var_run, "cri-o"), "crio/crio.sock");
}

}  // namespace
}  // namespace koord::koordlet::runtime_sockets_test
