// Kills a process that writes to a store, at any moment, and looks at what is left: everything that
// was acknowledged or announced must be there, and the revision must never go back.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>

#include "base/asio_loop.h"
#include "base/random.h"
#include "base/sanitizer.h"
#include "base/strings.h"
#include "base/virtual_loop.h"
#include "localcluster/apiserver/storage/store.h"
#include "localcluster/apiserver/storage/store_testing.h"

namespace koord::apiserver::store_kill_test {
namespace {

constexpr int kRounds = TestRounds(200);
constexpr size_t kClients = 16;

// What the writing process tells the test, one message a pipe write.
struct Notice {
  enum Kind : uint32_t { kAcknowledged, kAnnounced } kind;
  uint32_t client;
  uint64_t step;
  Revision revision;
};

Store::Options OptionsFor(const std::string& path, bool writer_thread) {
  // Little history, so that compaction is always under way.
  return {.path = path, .writer_thread = writer_thread, .history = 20ms, .history_events = 100};
}

std::string KeyOf(size_t client) { return fmt::format("default/c{}", client); }
// Every client works through numbered steps on its own object; every fifth deletes it. Step 0 is
// the object's absence at the beginning.
bool Deletes(uint64_t step) { return step % 5 == 0; }

std::string TextOf(uint64_t step) { return fmt::format("{}#{}", std::string(500, 'x'), step); }
uint64_t StepIn(std::string_view value) {
  const std::string_view rest = value.substr(value.find('#') + 1);
  return ParseUint(rest.substr(0, rest.find('"'))).value_or(0);
}

// Writes as 16 clients at once, each with one request under way, until it is killed.
class Writer {
 public:
  Writer(std::string path, int pipe, std::array<uint64_t, kClients> steps)
      : path_(std::move(path)), pipe_(pipe), steps_(steps) {}

  void Run() {
    auto store = Store::Open(loop_, OptionsFor(path_, true));
    if (!store.ok()) _exit(1);
    store_ = std::move(*store);
    watch_ = *store_->Watch("pods", store_->revision(), [this](std::span<const ChangePtr> changes) {
      Tell({Notice::kAnnounced, 0, 0, changes.back()->revision});
    });
    for (size_t client = 0; client < kClients; ++client) Step(client);
    loop_.Run();
  }

 private:
  void Step(size_t client) {
    const uint64_t step = ++steps_[client];
    const std::string key = KeyOf(client);
    const EntryPtr entry = Deletes(step) ? DeleteNext(*store_, "pods", key)
                                         : PutNext(*store_, "pods", key, TextOf(step));
    store_->WhenDurable(entry->revision, [this, client, step, revision = entry->revision] {
      Tell({Notice::kAcknowledged, static_cast<uint32_t>(client), step, revision});
      Step(client);
    });
  }
  void Tell(const Notice& notice) {
    if (write(pipe_, &notice, sizeof notice) != sizeof notice) _exit(1);
  }

  std::string path_;
  int pipe_;
  std::array<uint64_t, kClients> steps_;
  AsioLoop loop_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Store::Subscription> watch_;
};

class StoreKillTest : public ::testing::Test {
 protected:
  void Round() {
    std::array<int, 2> ends;
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      Writer(path_, ends[1], steps_).Run();
      _exit(0);
    }
    close(ends[1]);
    // Sometimes before the store is even open.
    ReadNotices(ends[0], random_.Chance(0.1) ? 0 : random_.Below(200));
    for (uint64_t spin = random_.Below(300'000); spin > 0; --spin) sink_.store(spin);
    kill(child, SIGKILL);
    ReadNotices(ends[0], std::nullopt);
    close(ends[0]);
    int exit_status = 0;
    ASSERT_EQ(waitpid(child, &exit_status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(exit_status)) << "ended by itself: " << exit_status;
    CheckStore();
  }

  // Takes in `count` notices, or all that there are.
  void ReadNotices(int fd, std::optional<uint64_t> count) {
    for (uint64_t read_so_far = 0; !count || read_so_far < *count; ++read_so_far) {
      pollfd ready{fd, POLLIN, 0};
      ASSERT_EQ(poll(&ready, 1, 30'000), 1) << "the writer makes no progress";
      Notice notice;
      const ssize_t size = read(fd, &notice, sizeof notice);
      if (size == 0) return;
      ASSERT_EQ(size, ssize_t{sizeof notice});
      least_revision_ = std::max(least_revision_, notice.revision);
      if (notice.kind == Notice::kAnnounced) continue;
      steps_[notice.client] = notice.step;
      revisions_[notice.client] = notice.revision;
      ++acknowledgements_;
    }
  }

  void CheckStore() {
    VirtualLoop loop;
    auto store = Store::Open(loop, OptionsFor(path_, false));
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_GE((*store)->revision(), least_revision_);
    least_revision_ = (*store)->revision();
    for (size_t client = 0; client < kClients; ++client) {
      CheckClient(client, (*store)->Get("pods", KeyOf(client)));
    }
  }

  // The object must be as the last acknowledged step left it, or as the one under way meant to.
  // What has been seen here is from now on promised too.
  void CheckClient(size_t client, const EntryPtr& entry) {
    uint64_t& promised = steps_[client];
    const bool next_happened = entry ? StepIn(entry->value) != promised : !Deletes(promised);
    if (next_happened) ++promised;
    ASSERT_EQ(entry == nullptr, Deletes(promised)) << "client " << client << " step " << promised;
    if (entry == nullptr) return;
    ASSERT_EQ(StepIn(entry->value), promised) << "client " << client;
    if (!next_happened && revisions_[client] != 0) {
      ASSERT_EQ(entry->revision, revisions_[client]);
    }
    revisions_[client] = entry->revision;
  }

  TempDir dir_;
  std::string path_ = dir_.File("store.db");
  Random random_{20260701};
  std::array<uint64_t, kClients> steps_{};  // the last that was promised
  std::array<Revision, kClients> revisions_{};
  Revision least_revision_ = 0;
  uint64_t acknowledgements_ = 0;
  std::atomic<uint64_t> sink_{0};
};

TEST_F(StoreKillTest, NothingAcknowledgedIsLost) {
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    Round();
  }
  EXPECT_GT(acknowledgements_, uint64_t{50 * kRounds})
      << "the test must have had something to lose";
}

}  // namespace
}  // namespace koord::apiserver::store_kill_test
