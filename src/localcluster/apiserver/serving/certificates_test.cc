#include "localcluster/apiserver/serving/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "base/temp_dir.h"
#include "base/virtual_loop.h"
#include "kube/serving/private_file.h"

namespace koord::apiserver::certificates_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr Duration kDay = std::chrono::hours(24);

class CertificatesTest : public ::testing::Test {
 protected:
  Credentials Load(WallTime now, const std::vector<std::string>& names = {}) {
    auto credentials = LoadOrMakeCredentials(directory_, names, now);
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    return credentials.ok() ? *credentials : Credentials{};
  }
  mode_t ModeOf(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }

  const WallTime now_ = VirtualLoop::kStart;
  const TempDir root_;
  std::string directory_ = root_.File("pki");
};

TEST_F(CertificatesTest, OnlyTheOwnerMayReadThem) {
  Load(now_);
  EXPECT_EQ(ModeOf(directory_), 0700u);
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory_)) {
    EXPECT_EQ(ModeOf(file.path()), 0600u) << file.path();
    ++files;
  }
  EXPECT_EQ(files, 8u);
}

TEST_F(CertificatesTest, ALaterStartUsesThemAgain) {
  const Credentials first = Load(now_);
  const Credentials second = Load(now_ + 30 * kDay);
  EXPECT_EQ(first.ca, second.ca);
  EXPECT_EQ(first.serving.certificate, second.serving.certificate);
  EXPECT_EQ(first.admin.key, second.admin.key);
  EXPECT_EQ(first.admin_token, second.admin_token);
  EXPECT_EQ(first.service_account_key, second.service_account_key);
  EXPECT_GE(first.admin_token.size(), 40u);
}

TEST_F(CertificatesTest, LeavesAreRenewedAfterTwoThirdsOfTheirLife) {
  const Credentials first = Load(now_);
  EXPECT_GT(first.renew_at, now_ + 240 * kDay);
  EXPECT_LT(first.renew_at, now_ + 245 * kDay);
  EXPECT_EQ(Load(first.renew_at - 1s).serving.certificate, first.serving.certificate);
  const Credentials renewed = Load(first.renew_at);
  EXPECT_NE(renewed.serving.certificate, first.serving.certificate);
  EXPECT_NE(renewed.admin.certificate, first.admin.certificate);
  EXPECT_EQ(renewed.ca, first.ca) << "whoever trusts it still does";
  EXPECT_GT(renewed.renew_at, first.renew_at + 200 * kDay);
}

TEST_F(CertificatesTest, ANewAuthorityIssuesEverythingAnew) {
  const Credentials first = Load(now_);
  const Credentials later = Load(now_ + 2500 * kDay);
  EXPECT_NE(later.ca, first.ca);
  EXPECT_TRUE(kube::IsIssuedBy(later.serving.certificate, later.ca));
  EXPECT_TRUE(kube::IsIssuedBy(later.admin.certificate, later.ca));
  EXPECT_FALSE(kube::IsIssuedBy(first.admin.certificate, later.ca));
}

TEST_F(CertificatesTest, AClockSetBackMakesNewOnes) {
  const Credentials first = Load(now_);
  EXPECT_NE(Load(now_ - 30 * kDay).ca, first.ca) << "not valid yet";
}

TEST_F(CertificatesTest, TheServerHasAllItsNames) {
  const auto facts = kube::Inspect(Load(now_, {"koord.example", "192.0.2.7"}).serving);
  ASSERT_TRUE(facts.ok());
  EXPECT_THAT(facts->names, IsSupersetOf({"127.0.0.1", "::1", "localhost", "kubernetes",
                                          "kubernetes.default.svc", "koord.example", "192.0.2.7"}));
}

TEST_F(CertificatesTest, AFurtherNameNeedsANewServingCertificateOnly) {
  const Credentials first = Load(now_);
  const Credentials second = Load(now_, {"koord.example"});
  EXPECT_NE(first.serving.certificate, second.serving.certificate);
  EXPECT_EQ(first.admin.certificate, second.admin.certificate);
  EXPECT_EQ(Load(now_).serving.certificate, second.serving.certificate) << "more names do no harm";
}

TEST_F(CertificatesTest, ADamagedFileIsReplaced) {
  const Credentials first = Load(now_);
  ASSERT_TRUE(kube::WritePrivateFile(directory_ + "/server.key", "garbage").ok());
  const Credentials second = Load(now_);
  EXPECT_NE(first.serving.certificate, second.serving.certificate);
  EXPECT_TRUE(kube::Inspect(second.serving).ok());
  EXPECT_EQ(first.ca, second.ca);
}

TEST_F(CertificatesTest, APlaceThatCannotBeWrittenIsAClearError) {
  std::ofstream(root_.File("file")) << "x";
  directory_ = root_.File("file/pki");
  const auto credentials = LoadOrMakeCredentials(directory_, {}, now_);
  EXPECT_THAT(std::string(Message(credentials.status())), HasSubstr("cannot make"));
}

TEST_F(CertificatesTest, KubeconfigHasEverythingInIt) {
  const Credentials credentials = Load(now_);
  const std::string path = root_.File("kubeconfig");
  ASSERT_TRUE(WriteAdminKubeconfig(path, credentials, "https://127.0.0.1:6443").ok());
  EXPECT_EQ(ModeOf(path), 0600u);
  const std::string text = *kube::ReadPrivateFile(path);
  EXPECT_THAT(text, HasSubstr("server: https://127.0.0.1:6443\n"));
  EXPECT_THAT(text, HasSubstr("certificate-authority-data: " + Base64Encode(credentials.ca)));
  EXPECT_THAT(text,
              HasSubstr("client-certificate-data: " + Base64Encode(credentials.admin.certificate)));
  EXPECT_THAT(text, HasSubstr("client-key-data: " + Base64Encode(credentials.admin.key)));
  EXPECT_THAT(text, HasSubstr("current-context: koord\n"));
}

TEST_F(CertificatesTest, WritingReplacesAtOnce) {
  const std::string path = root_.File("secret");
  std::ofstream(path) << "old and long";
  chmod(path.c_str(), 0644);
  ASSERT_TRUE(kube::WritePrivateFile(path, "new").ok());
  EXPECT_EQ(*kube::ReadPrivateFile(path), "new");
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(kube::ReadPrivateFile(root_.File("none")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace koord::apiserver::certificates_test
