#include "koordlet/audit/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/uuid.h"
#include "koordlet/audit/audit_reader.h"
#include "kube/json.h"
#include "kube/time.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kCurrent = "audit.log";
constexpr std::string_view kRotatedPrefix = "audit-";
constexpr std::string_view kSuffix = ".log";
constexpr size_t kFlushBytes = 64 << 10;
constexpr size_t kMaxText = 4096;  // of one field: what users name things is not bounded
constexpr size_t kRememberedTokens = 64;

std::string_view ToString(AuditEvent::Type type) {
  switch (type) {
    case AuditEvent::Type::kNode:
      return "node";
    case AuditEvent::Type::kPod:
      return "pod";
    case AuditEvent::Type::kContainer:
      return "container";
    case AuditEvent::Type::kGroup:
      break;
  }
  return "group";
}

// JSON is UTF-8, what comes from files need not be.
std::string Clean(std::string_view text) {
  std::string clean(text.substr(0, kMaxText));
  if (IsValidUtf8(clean)) return clean;
  std::ranges::replace_if(
      clean, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return clean;
}

std::string LineOf(const AuditEvent& event, WallTime now) {
  kube::json::object line;
  line["createdAt"] = kube::FormatMicroTime(now);
  line["type"] = ToString(event.type);
  line["level"] = event.level;
  const auto add = [&line](std::string_view name, const std::string& text) {
    if (!text.empty()) line[name] = Clean(text);
  };
  add("namespace", event.ns);
  add("name", event.name);
  add("container", event.container);
  add("reason", event.reason);
  add("message", event.message);
  return kube::Serialize(kube::Json(std::move(line))) + "\n";
}

std::string Why(int error) { return std::generic_category().message(error); }

// "2026-07-01-10-00-00"
std::string StampOf(WallTime now) {
  std::string stamp = kube::FormatTime(now);
  std::ranges::replace_if(
      stamp, [](char c) { return c == 'T' || c == ':'; }, '-');
  if (stamp.ends_with('Z')) stamp.pop_back();
  return stamp;
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

struct RotatedFile {
  std::string path;
  std::string name;
  int64_t size = 0;
};

// Names sort by time; those of one second by their number.
bool IsOlder(const RotatedFile& a, const RotatedFile& b) {
  const size_t dash_a = a.name.rfind('-');
  const size_t dash_b = b.name.rfind('-');
  const int by_time = std::string_view(a.name).substr(0, dash_a).compare(
      std::string_view(b.name).substr(0, dash_b));
  if (by_time != 0) return by_time < 0;
  return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name < b.name;
}

}  // namespace

struct AuditLog::State {
  State(EventLoop& loop, Random& random, Options options)
      : loop(loop), random(random), options(std::move(options)), timer(loop) {}
  ~State() {
    if (fd >= 0) close(fd);
  }

  Status OpenFile();
  void Append(std::string line);
  void Flush();
  void RotateIfLarge();
  std::vector<RotatedFile> RotatedFiles() const;  // the oldest first
  void RemoveOldest();
  void Fail(std::string_view what, int error);
  void Wake();
  void Tick();

  struct Reader {
    std::string token;
    std::unique_ptr<BackwardReader> files;
    SteadyTime last_used{};
  };
  Page PageOf(Reader& reader, size_t size);
  void Close(std::deque<Reader>::iterator reader);
  void CloseIdle();

  std::string PathOf(std::string_view name) const {
    return (std::filesystem::path(options.directory) / name).string();
  }

  EventLoop& loop;
  Random& random;
  const Options options;
  Timer timer;
  int fd = -1;
  int64_t size = 0;  // of the current file
  std::string buffer;
  bool is_broken = false;      // said so already
  std::deque<Reader> readers;  // the oldest first
  std::deque<std::string> closed;
};

Status AuditLog::State::OpenFile() {
  const std::string path = PathOf(kCurrent);
  fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return Unavailable("{}: {}", path, Why(errno));
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(std::exchange(fd, -1));
    return FailedPrecondition("{}: is no file", path);
  }
  size = info.st_size;
  return absl::OkStatus();
}

void AuditLog::State::Fail(std::string_view what, int error) {
  if (!std::exchange(is_broken, true)) {
    LOG_ERROR("Audit events are lost", {"file", PathOf(kCurrent)}, {"op", what},
              {"err", Why(error)});
  }
}

void AuditLog::State::Append(std::string line) {
  buffer += line;
  if (buffer.size() >= kFlushBytes) Flush();
  Wake();
}

void AuditLog::State::Flush() {
  if (buffer.empty()) return;
  const std::string text = std::exchange(buffer, {});
  if (fd < 0 && !OpenFile().ok()) return Fail("open", errno);
  if (!WriteAll(fd, text)) return Fail("write", errno);
  is_broken = false;
  size += static_cast<int64_t>(text.size());
  RotateIfLarge();
}

void AuditLog::State::RotateIfLarge() {
  if (size < options.rotate_bytes) return;
  const std::string stamp = StampOf(loop.clock().Now());
  int number = 0;
  std::string target;
  do {
    target = PathOf(fmt::format("{}{}-{}{}", kRotatedPrefix, stamp, number++, kSuffix));
  } while (std::filesystem::exists(target));
  close(std::exchange(fd, -1));
  if (rename(PathOf(kCurrent).c_str(), target.c_str()) != 0) Fail("rename", errno);
  if (!OpenFile().ok()) Fail("open", errno);
  RemoveOldest();
}

std::vector<RotatedFile> AuditLog::State::RotatedFiles() const {
  std::vector<RotatedFile> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options.directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kRotatedPrefix) || !name.ends_with(kSuffix)) continue;
    if (!entry.is_regular_file(error) || entry.is_symlink(error)) continue;
    const auto bytes = entry.file_size(error);
    if (!error) files.push_back({entry.path().string(), name, static_cast<int64_t>(bytes)});
  }
  std::ranges::sort(files, IsOlder);
  return files;
}

void AuditLog::State::RemoveOldest() {
  std::vector<RotatedFile> files = RotatedFiles();
  // The current file may grow up to where it is rotated.
  int64_t total = options.rotate_bytes;
  for (const RotatedFile& file : files) total += file.size;
  for (const RotatedFile& file : files) {
    if (total <= options.max_bytes) return;
    unlink(file.path.c_str());
    total -= file.size;
  }
}

void AuditLog::State::Wake() {
  if (timer.pending() || (buffer.empty() && readers.empty())) return;
  timer.Set(options.flush_interval, [this] { Tick(); });
}

void AuditLog::State::Tick() {
  Flush();
  CloseIdle();
  Wake();
}

void AuditLog::State::Close(std::deque<Reader>::iterator reader) {
  closed.push_back(std::move(reader->token));
  if (closed.size() > kRememberedTokens) closed.pop_front();
  readers.erase(reader);
}

void AuditLog::State::CloseIdle() {
  const SteadyTime now = loop.clock().Steady();
  for (auto it = readers.begin(); it != readers.end();) {
    if (now - it->last_used < options.reader_life) {
      ++it;
      continue;
    }
    const auto index = it - readers.begin();
    Close(it);
    it = readers.begin() + index;
  }
}

AuditLog::Page AuditLog::State::PageOf(Reader& reader, size_t size) {
  reader.last_used = loop.clock().Steady();
  Page page;
  // A line that was cut off when the machine went down is no event.
  while (page.events.size() < size && !reader.files->at_end()) {
    for (std::string& line : reader.files->Read(size - page.events.size())) {
      if (kube::ParseJson(line).ok()) page.events.push_back(std::move(line));
    }
  }
  if (!reader.files->at_end()) page.next_token = reader.token;
  return page;
}

AuditLog::AuditLog(std::unique_ptr<State> state) : state_(std::move(state)) {}

AuditLog::~AuditLog() { Flush(); }

StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(EventLoop& loop, Random& random,
                                                   Options options) {
  const std::filesystem::path directory = options.directory;
  std::error_code error;
  if (directory.has_parent_path()) {
    std::filesystem::create_directories(directory.parent_path(), error);
  }
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return Unavailable("{}: {}", directory.string(), Why(errno));
  }
  auto state = std::make_unique<State>(loop, random, std::move(options));
  RETURN_IF_ERROR(state->OpenFile());
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(state)));
}

const AuditLog::Options& AuditLog::options() const { return state_->options; }

void AuditLog::Log(AuditEvent event) {
  if (event.level > state_->options.verbose) return;
  state_->Append(LineOf(event, state_->loop.clock().Now()));
}

void AuditLog::Flush() { state_->Flush(); }

AuditLog::Page AuditLog::Read(size_t size) {
  State& state = *state_;
  state.CloseIdle();
  state.Flush();
  std::vector<std::string> paths = {state.PathOf(kCurrent)};
  std::vector<RotatedFile> rotated = state.RotatedFiles();
  std::ranges::reverse(rotated);
  for (RotatedFile& file : rotated) paths.push_back(std::move(file.path));
  State::Reader reader{NewUuid(state.random), std::make_unique<BackwardReader>(paths), {}};
  Page page = state.PageOf(reader, size);
  if (page.next_token.empty()) return page;
  if (state.readers.size() >= state.options.max_readers) state.Close(state.readers.begin());
  state.readers.push_back(std::move(reader));
  state.Wake();
  return page;
}

StatusOr<AuditLog::Page> AuditLog::ReadOn(std::string_view token, size_t size) {
  State& state = *state_;
  state.CloseIdle();
  const auto reader = std::ranges::find(state.readers, token, &State::Reader::token);
  if (reader == state.readers.end()) {
    if (std::ranges::find(state.closed, token) != state.closed.end()) {
      return FailedPrecondition("reader {} is expired", token);
    }
    return InvalidArgument("invalid pageToken {}", token);
  }
  Page page = state.PageOf(*reader, size);
  if (page.next_token.empty()) state.Close(reader);
  return page;
}

}  // namespace koord::koordlet
