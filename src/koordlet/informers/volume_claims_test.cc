#include "koordlet/informers/volume_claims.h"

#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"

namespace koord::koordlet::volume_claims_test {
namespace {

class Claims final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    requests.push_back(request.target);
    response->Finish({status, {}, body});
  }
  std::vector<std::string> requests;
  int status = 200;
  std::string body = R"({"metadata":{"name":"data"},"spec":{"volumeName":""}})";
};

TEST(VolumeClaimsTest, AsksByNameUntilTheClaimIsBound) {
  VirtualLoop loop;
  Claims server;
  kube::Client client(loop, std::make_shared<kube::InProcessTransport>(loop, server), {});
  VolumeClaims claims(loop, client);
  EXPECT_EQ(claims.VolumeOf("team", "data"), "");
  loop.Advance(1s);
  ASSERT_EQ(server.requests.size(), 1u);
  EXPECT_EQ(server.requests[0], "/api/v1/namespaces/team/persistentvolumeclaims/data");
  EXPECT_EQ(claims.VolumeOf("team", "data"), "") << "not bound yet";
  loop.Advance(1s);
  EXPECT_EQ(server.requests.size(), 1u) << "and not asked for each second";
  server.body = R"({"metadata":{"name":"data"},"spec":{"volumeName":"pv-7"}})";
  loop.Advance(1min);
  claims.VolumeOf("team", "data");
  loop.Advance(1s);
  EXPECT_EQ(claims.VolumeOf("team", "data"), "pv-7");
  loop.Advance(10min);
  EXPECT_EQ(claims.VolumeOf("team", "data"), "pv-7");
  EXPECT_EQ(server.requests.size(), 2u) << "a claim that is bound stays so";
}

TEST(VolumeClaimsTest, AnErrorIsNoVolume) {
  VirtualLoop loop;
  Claims server;
  server.status = 404;
  server.body = "{}";
  kube::Client client(loop, std::make_shared<kube::InProcessTransport>(loop, server), {});
  VolumeClaims claims(loop, client);
  claims.VolumeOf("team", "gone");
  loop.Advance(10s);
  EXPECT_EQ(claims.VolumeOf("team", "gone"), "");
}

}  // namespace
}  // namespace koord::koordlet::volume_claims_test
