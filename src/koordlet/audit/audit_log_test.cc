#include "koordlet/audit/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "base/virtual_loop.h"
#include "kube/json.h"

namespace koord::koordlet::audit_log_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AuditLogTest : public ::testing::Test {
 protected:
  AuditLogTest() { options.directory = dir.File("audit"); }

  AuditLog& log() {
    if (log_ == nullptr) log_ = AuditLog::Open(loop, random, options).value();
    return *log_;
  }
  void Reopen() { log_.reset(); }
  void LogEvents(int count, size_t message_size = 0) {
    for (int i = 0; i < count; ++i) {
      AuditEvent event{AuditEvent::Type::kPod,         0,  "default",
                       fmt::format("pod-{}", next_++), "", "evicted",
                       std::string(message_size, 'x')};
      log().Log(std::move(event));
    }
  }
  std::string FileContent(const std::string& name = "audit.log") {
    std::ifstream file(dir.File("audit/" + name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir.File("audit"))) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
  kube::HttpResponse Get(const std::string& target, bool json = true) {
    kube::HttpRequest request;
    request.target = target;
    if (json) request.headers.Set("Accept", "application/json");
    return AnswerEvents(&log(), request);
  }
  // The numbers of the pods in an answer.
  static std::vector<std::string> Names(const kube::HttpResponse& response) {
    std::vector<std::string> names;
    const kube::Json answer = kube::ParseJson(response.body).value();
    for (const kube::Json& event : *kube::FindArray(answer, {"Events"})) {
      names.emplace_back(kube::FindString(event, {"name"}));
    }
    return names;
  }
  static std::string Token(const kube::HttpResponse& response) {
    return std::string(kube::FindString(kube::ParseJson(response.body).value(), {"NextPageToken"}));
  }

  TempDir dir;
  VirtualLoop loop;
  Random random{1};
  AuditLog::Options options;

 private:
  std::unique_ptr<AuditLog> log_;
  int next_ = 1;
};

TEST_F(AuditLogTest, WritesLinesOfJsonEveryFiveSeconds) {
  log().Log({AuditEvent::Type::kContainer, 2, "ns", "pod", "main", "UpdateCgroups", "a \"b\"\nc"});
  EXPECT_EQ(FileContent(), "");
  loop.Advance(4999ms);
  EXPECT_EQ(FileContent(), "");
  loop.Advance(1ms);
  EXPECT_EQ(FileContent(),
            R"({"createdAt":"2026-07-01T00:00:00.000000Z","type":"container","level":2,)"
            R"("namespace":"ns","name":"pod","container":"main","reason":"UpdateCgroups",)"
            R"("message":"a \"b\"\nc"})"
            "\n");
}

TEST_F(AuditLogTest, DropsWhatIsNotImportantEnough) {
  options.verbose = 1;
  log().Log({AuditEvent::Type::kNode, 2, "", "", "", "r", "m"});
  log().Log({AuditEvent::Type::kNode, 1, "", "", "", "kept", "m"});
  log().Flush();
  EXPECT_THAT(FileContent(), HasSubstr("kept"));
  EXPECT_EQ(std::ranges::count(FileContent(), '\n'), 1);
}

TEST_F(AuditLogTest, OnlyRootMayRead) {
  LogEvents(1);
  struct stat info {};
  ASSERT_EQ(stat(dir.File("audit").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(dir.File("audit/audit.log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(AuditLogTest, HostileTextStaysJson) {
  log().Log({AuditEvent::Type::kPod, 0, "ns", "\xff\xfe", "", "r", std::string(100'000, 'x')});
  log().Flush();
  EXPECT_TRUE(kube::ParseJson(FileContent()).ok());
  EXPECT_LT(FileContent().size(), 10'000u);
}

TEST_F(AuditLogTest, RotatesAndRemovesTheOldest) {
  options.rotate_bytes = 100'000;
  options.max_bytes = 400'000;
  for (int i = 0; i < 20; ++i) {
    LogEvents(60, 1000);
    loop.Advance(5s);
  }
  const std::vector<std::string> files = Files();
  EXPECT_THAT(files.front(), HasSubstr("audit-2026-07-01-00-0"));
  EXPECT_TRUE(files.front().ends_with("-0.log"));
  int64_t total = 0;
  for (const std::string& name : files) {
    total += static_cast<int64_t>(FileContent(name).size());
  }
  EXPECT_LE(total, 400'000);
  EXPECT_GE(files.size(), 3u);
}

TEST_F(AuditLogTest, RotatedInTheSameSecondTheyAreNumbered) {
  options.rotate_bytes = 1000;
  for (int i = 0; i < 12; ++i) {
    LogEvents(2, 500);
    log().Flush();
  }
  EXPECT_TRUE(std::filesystem::exists(dir.File("audit/audit-2026-07-01-00-00-00-11.log")));
  const auto names = Names(Get("/events"));
  ASSERT_EQ(names.size(), 24u);
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], fmt::format("pod-{}", 24 - i));
}

TEST_F(AuditLogTest, Vector25Paging) {
  LogEvents(26);
  const auto first = Get("/events?size=10");
  EXPECT_EQ(first.status, 200);
  const auto names = Names(first);
  ASSERT_EQ(names.size(), 10u);
  EXPECT_EQ(names.front(), "pod-26");
  EXPECT_EQ(names.back(), "pod-17");
  const std::string token = Token(first);
  EXPECT_EQ(token.size(), 36u);
  LogEvents(3);  // does not move the reader
  const auto second = Get("/events?size=1&pageToken=" + token);
  EXPECT_THAT(Names(second), ::testing::ElementsAre("pod-16"));
  EXPECT_EQ(Token(second), token);
  const auto rest = Get("/events?size=100&pageToken=" + token);
  EXPECT_EQ(Names(rest).size(), 15u);
  EXPECT_EQ(Names(rest).back(), "pod-1");
  EXPECT_EQ(Token(rest), "");
  EXPECT_THAT(Get("/events?pageToken=" + token).body, HasSubstr("is expired"));
}

TEST_F(AuditLogTest, ReadsOnThroughRotatedAndRemovedFiles) {
  options.rotate_bytes = 2000;
  options.max_bytes = 1 << 20;
  for (int i = 0; i < 10; ++i) {
    LogEvents(3, 500);
    log().Flush();
  }
  const auto first = Get("/events?size=4");
  for (const std::string& name : Files()) std::filesystem::remove(dir.File("audit/" + name));
  const auto rest = Get("/events?size=100&pageToken=" + Token(first));
  ASSERT_EQ(Names(rest).size(), 26u);
  EXPECT_EQ(Names(rest).front(), "pod-26");
  EXPECT_EQ(Names(rest).back(), "pod-1");
}

TEST_F(AuditLogTest, LinesForPeopleWithTheTokenInAHeader) {
  LogEvents(3);
  const auto response = Get("/events?size=2", false);
  EXPECT_EQ(std::ranges::count(response.body, '\n'), 2);
  EXPECT_EQ(response.headers.Get("Next-Page-Token").size(), 36u);
  EXPECT_TRUE(kube::ParseJson(response.body.substr(0, response.body.find('\n'))).ok());
  const auto last =
      Get(fmt::format("/events?pageToken={}", response.headers.Get("Next-Page-Token")), false);
  EXPECT_FALSE(last.headers.Has("Next-Page-Token"));
  EXPECT_THAT(last.body, HasSubstr("pod-1"));
}

TEST_F(AuditLogTest, Sizes) {
  LogEvents(300);
  EXPECT_EQ(Names(Get("/events")).size(), 256u);
  EXPECT_EQ(Names(Get("/events?size=abc")).size(), 256u);
  EXPECT_EQ(Names(Get("/events?size=-1")).size(), 256u);
  EXPECT_EQ(Names(Get("/events?size=2048")).size(), 300u);
  const auto refused = Get("/events?size=2049");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("size(2049) exceeds the limit(2048)"));
}

TEST_F(AuditLogTest, Tokens) {
  LogEvents(10);
  const auto unknown = Get("/events?pageToken=no%0Asuch");
  EXPECT_EQ(unknown.status, 409);
  EXPECT_THAT(unknown.body, HasSubstr("invalid pageToken no?such"));

  std::vector<std::string> tokens;
  for (int i = 0; i < 5; ++i) tokens.push_back(Token(Get("/events?size=1")));
  const auto closed = Get("/events?size=1&pageToken=" + tokens[0]);
  EXPECT_EQ(closed.status, 409) << "at most four readers";
  EXPECT_THAT(closed.body, HasSubstr(fmt::format("reader {} is expired", tokens[0])));
  EXPECT_EQ(Get("/events?size=1&pageToken=" + tokens[1]).status, 200);

  loop.Advance(9min);
  EXPECT_EQ(Get("/events?size=1&pageToken=" + tokens[2]).status, 200);
  loop.Advance(9min);
  EXPECT_EQ(Get("/events?size=1&pageToken=" + tokens[2]).status, 200) << "used since";
  EXPECT_EQ(Get("/events?size=1&pageToken=" + tokens[1]).status, 409) << "idle";
}

TEST_F(AuditLogTest, GoesOnAfterARestart) {
  LogEvents(2);
  Reopen();
  LogEvents(1);
  EXPECT_EQ(Names(Get("/events")).size(), 3u);
}

TEST_F(AuditLogTest, ALineCutOffByACrashIsPassedOver) {
  LogEvents(1);
  log().Flush();
  std::ofstream(dir.File("audit/audit.log"), std::ios::app) << "{\"createdAt\":\"20\n";
  LogEvents(1);
  EXPECT_EQ(Names(Get("/events")).size(), 2u);
}

TEST_F(AuditLogTest, NothingYet) {
  EXPECT_EQ(Get("/events").body, "{\"Events\":[]}");
  EXPECT_EQ(Get("/events", false).body, "");
  EXPECT_EQ(AnswerEvents(nullptr, {}).status, 200);
  EXPECT_THAT(AnswerEvents(nullptr, {}).body, IsEmpty());
}

TEST_F(AuditLogTest, WithoutEventsThereIsNothingToDo) {
  LogEvents(1);
  loop.Advance(1h);
  EXPECT_FALSE(loop.Step(1h)) << "no timer is left";
}

TEST_F(AuditLogTest, ADirectoryThatCannotBeMadeIsAnError) {
  std::ofstream(dir.File("file")) << "x";
  options.directory = dir.File("file/audit");
  EXPECT_FALSE(AuditLog::Open(loop, random, options).ok());
}

TEST_F(AuditLogTest, ALostDirectoryCostsOnlyEvents) {
  options.rotate_bytes = 100;
  LogEvents(1);
  std::filesystem::remove_all(dir.File("audit"));
  for (int i = 0; i < 5; ++i) {
    LogEvents(5);
    loop.Advance(5s);
  }
  std::filesystem::create_directories(dir.File("audit"));
  LogEvents(1);
  log().Flush();
  EXPECT_EQ(Names(Get("/events")).size(), 1u);
}

}  // namespace
}  // namespace koord::koordlet::audit_log_test
