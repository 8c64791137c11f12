#include "manager/webhook/certificates/certificates.h"

#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/serving/x509.h"

namespace koord::manager::webhook::certificates_test {
namespace {

constexpr auto kDay = std::chrono::hours(24);

class CertificatesTest : public testing::Test {
 protected:
  // Looks at the set as the keeper does, and takes what is new.
  bool Renew() {
    const auto renewed = RenewIfDue(set_, policy_, now_);
    EXPECT_TRUE(renewed.ok()) << Message(renewed.status());
    if (!renewed.ok() || !renewed->has_value()) return false;
    set_ = **renewed;
    return true;
  }
  std::vector<std::string> Authorities() { return SplitPem(set_.ca_bundle); }
  // What a client that has this bundle thinks of what is shown.
  bool Trusts(const std::string& bundle) {
    for (const std::string& authority : SplitPem(bundle)) {
      if (kube::IsIssuedBy(set_.certificate, authority)) return true;
    }
    return false;
  }

  CertificatePolicy policy_{.server_name = "koordinator-webhook-service.koordinator-system.svc"};
  CertificateSet set_;
  WallTime now_ = VirtualLoop::kStart;
};

TEST_F(CertificatesTest, MakesWhatIsMissing) {
  ASSERT_TRUE(Renew());
  EXPECT_EQ(Authorities().size(), 1u);
  EXPECT_TRUE(Trusts(set_.ca_bundle));
  const auto facts = kube::Inspect({set_.certificate, set_.key});
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->names, (std::vector<std::string>{policy_.server_name, "localhost"}));
  EXPECT_LT(facts->from, now_);
  EXPECT_GT(facts->until, now_ + 300 * kDay);
  EXPECT_FALSE(Renew()) << "what is good was made anew";
}

TEST_F(CertificatesTest, KeepsTheFormOfTheSecret) {
  Renew();
  const CertificateFiles files = ToFiles(set_);
  EXPECT_EQ(files.size(), 6u);
  EXPECT_EQ(files.at("tls.crt"), files.at("cert.pem"));
  EXPECT_EQ(files.at("tls.key"), files.at("key.pem"));
  EXPECT_EQ(FromFiles(files), set_);
}

TEST_F(CertificatesTest, RenewsTheServersAtTwoThirdsOfItsLife) {
  Renew();
  const CertificateSet first = set_;
  now_ += 240 * kDay;
  EXPECT_FALSE(Renew());
  now_ += 10 * kDay;
  EXPECT_TRUE(Renew());
  EXPECT_NE(set_.certificate, first.certificate);
  EXPECT_EQ(set_.ca_bundle, first.ca_bundle);
  EXPECT_TRUE(Trusts(first.ca_bundle));
}

TEST_F(CertificatesTest, ANewAuthorityIsPublishedBeforeItIsUsed) {
  policy_.server_life = policy_.ca_life;
  Renew();
  const CertificateSet first = set_;
  now_ += 2434 * kDay;  // two thirds of ten years, and a day
  ASSERT_TRUE(Renew());
  EXPECT_EQ(Authorities().size(), 2u);
  EXPECT_EQ(Authorities()[1], first.ca_bundle);
  EXPECT_EQ(set_.certificate, first.certificate) << "shown before anybody trusts its authority";
  now_ += std::chrono::minutes(9);
  EXPECT_FALSE(Renew());
  const std::string published = set_.ca_bundle;
  now_ += std::chrono::minutes(1);
  ASSERT_TRUE(Renew());
  EXPECT_TRUE(kube::IsIssuedBy(set_.certificate, Authorities()[0]));
  EXPECT_TRUE(Trusts(published));
  EXPECT_FALSE(Renew());
}

TEST_F(CertificatesTest, NeverShowsWhatIsNotTrusted) {
  policy_.ca_life = 90 * kDay;
  policy_.server_life = 30 * kDay;
  Renew();
  int renewals = 0;
  for (int day = 0; day < 400; ++day) {
    const std::string published = set_.ca_bundle;
    now_ += kDay;
    renewals += Renew();
    ASSERT_TRUE(Trusts(published)) << "on day " << day;
    const auto facts = kube::Inspect({set_.certificate, set_.key});
    ASSERT_GT(facts->until, now_);
    ASSERT_LE(Authorities().size(), 2u);
  }
  EXPECT_GT(renewals, 20);
  EXPECT_LT(renewals, 60);
}

TEST_F(CertificatesTest, ReplacesWhatCannotBeUsed) {
  Renew();
  const CertificateSet good = set_;
  set_.key = "broken";
  EXPECT_TRUE(Renew());
  EXPECT_EQ(set_.ca_bundle, good.ca_bundle);
  set_ = good;
  set_.ca_key = "broken";
  EXPECT_TRUE(Renew());
  EXPECT_TRUE(Trusts(set_.ca_bundle));
  set_ = good;
  policy_.server_name = "10.0.0.1";
  EXPECT_TRUE(Renew());
  EXPECT_TRUE(kube::IsIssuedBy(set_.certificate, good.ca_bundle));
  set_ = good;
  now_ += 3651 * kDay;
  EXPECT_TRUE(Renew());
  EXPECT_TRUE(Trusts(Authorities()[0]));
}

}  // namespace
}  // namespace koord::manager::webhook::certificates_test
