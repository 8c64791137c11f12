#include "koordlet/host/cgroup_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::koordlet::cgroup_layout_test {
namespace {

using kube::PodQos;
using ::testing::HasSubstr;

constexpr CgroupLayout kSystemd{CgroupVersion::kV1, CgroupDriver::kSystemd};
constexpr CgroupLayout kCgroupfs{CgroupVersion::kV2, CgroupDriver::kCgroupfs};

TEST(CgroupLayout, DirectoriesOfClassesAndPods) {
  struct Case {
    CgroupLayout layout;
    PodQos qos;
    std::string_view dir;
    std::string_view pod;
  };
  for (const Case& c : {
           Case{kSystemd, PodQos::kGuaranteed, "kubepods.slice",
                "kubepods.slice/kubepods-poda_b.slice"},
           Case{kSystemd, PodQos::kBurstable, "kubepods.slice/kubepods-burstable.slice",
                "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice"},
           Case{kSystemd, PodQos::kBestEffort, "kubepods.slice/kubepods-besteffort.slice",
                "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poda_b.slice"},
           Case{kCgroupfs, PodQos::kGuaranteed, "kubepods", "kubepods/poda-b"},
           Case{kCgroupfs, PodQos::kBurstable, "kubepods/burstable", "kubepods/burstable/poda-b"},
           Case{kCgroupfs, PodQos::kBestEffort, "kubepods/besteffort",
                "kubepods/besteffort/poda-b"},
       }) {
    EXPECT_EQ(c.layout.QosDir(c.qos), c.dir);
    EXPECT_EQ(c.layout.PodDir(c.qos, "a-b"), c.pod);
    EXPECT_EQ(QosOfDir(CgroupDir::At(c.pod)), c.qos) << c.pod;
  }
}

TEST(CgroupLayout, Vector23ContainerPaths) {
  const auto path = [](const CgroupLayout& layout) {
    return layout.ContainerDir(layout.PodDir(PodQos::kBurstable, "12-ab"), "containerd://c1")
        .value();
  };
  EXPECT_EQ(path(kSystemd),
            "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_ab.slice/"
            "cri-containerd-c1.scope");
  EXPECT_EQ(path(kCgroupfs), "kubepods/burstable/pod12-ab/c1");
}

TEST(CgroupLayout, ScopesByRuntime) {
  EXPECT_EQ(kSystemd.ContainerDir(CgroupDir::At("p"), "docker://x").value(), "p/docker-x.scope");
  EXPECT_EQ(kSystemd.ContainerDir(CgroupDir::At("p"), "containerd://x").value(),
            "p/cri-containerd-x.scope");
  EXPECT_EQ(kSystemd.ContainerDir(CgroupDir::At("p"), "pouch://x").value(), "p/pouch-x.scope");
  EXPECT_EQ(kSystemd.ContainerDir(CgroupDir::At("p"), "cri-o://x").value(), "p/crio-x.scope");
  EXPECT_EQ(kCgroupfs.ContainerDir(CgroupDir::At("p"), "cri-o://x").value(), "p/x");
}

TEST(CgroupLayout, RefusesContainerIdsThatNameNoContainer) {
  EXPECT_THAT(std::string(Message(ParseContainerId("rkt://x").status())),
              HasSubstr("unknown container protocol"));
  for (const std::string_view id : {"", "x", "containerd:/x", "containerd://", "containerd://..",
                                    "containerd://a/b", "containerd://../../x", "docker://a\nb"}) {
    const auto parsed = ParseContainerId(id);
    ASSERT_FALSE(parsed.ok()) << id;
    EXPECT_THAT(std::string(Message(parsed.status())), HasSubstr("parse container id"));
    EXPECT_FALSE(kSystemd.ContainerDir(CgroupDir::At("p"), id).ok());
  }
}

api::HostApplication Application(std::string qos, std::optional<api::CgroupPath> path) {
  api::HostApplication application;
  application.name = "nginx";
  application.qos = std::move(qos);
  application.cgroup_path = std::move(path);
  return application;
}

TEST(CgroupLayout, HostApplicationsByClass) {
  for (const char* qos : {"LSE", "LSR", "LS"}) {
    EXPECT_EQ(kSystemd.HostApplicationDir(Application(qos, {})).value(),
              "host-latency-sensitive/nginx");
  }
  EXPECT_EQ(kSystemd.HostApplicationDir(Application("BE", {})).value(), "host-best-effort/nginx");
  EXPECT_EQ(kSystemd.HostApplicationDir(Application("SYSTEM", {})).value(), "nginx");
  EXPECT_EQ(kSystemd.HostApplicationDir(Application("", {})).value(), "nginx");
}

TEST(CgroupLayout, HostApplicationsByPath) {
  const auto dir = [](api::CgroupPath path) {
    return kCgroupfs.HostApplicationDir(Application("LS", std::move(path)));
  };
  EXPECT_EQ(dir({"CgroupRoot", "/system.slice/", "nginx.service/"}).value(),
            "system.slice/nginx.service");
  EXPECT_EQ(dir({"Kubepods", "", "x"}).value(), "kubepods/x");
  EXPECT_EQ(dir({"KubepodsBurstable", "a", "b"}).value(), "kubepods/burstable/a/b");
  EXPECT_EQ(dir({"KubepodsBesteffort", "a//b", "c"}).value(), "kubepods/besteffort/a/b/c");
  EXPECT_THAT(std::string(Message(dir({"Nowhere", "a", "b"}).status())),
              HasSubstr("cgroupPath.base"));
  EXPECT_FALSE(dir({"Kubepods", "../system.slice", "x"}).ok());
  EXPECT_FALSE(dir({"Kubepods", "a", ".."}).ok());
}

TEST(CgroupLayout, HostApplicationNamesStayInTheirDirectory) {
  api::HostApplication application;
  application.name = "../../kubepods";
  EXPECT_FALSE(kSystemd.HostApplicationDir(application).ok());
}

}  // namespace
}  // namespace koord::koordlet::cgroup_layout_test
