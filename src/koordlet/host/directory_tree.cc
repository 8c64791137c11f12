#include "koordlet/host/directory_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/strings.h"
#include "koordlet/host/walk.h"

namespace koord::koordlet {
namespace {

constexpr int kOpenAttempts = 64;
constexpr size_t kFirstRead = 4096;
// The kernel hands out a page at a time, cut at the end of a line: what is clearly shorter than a
// page is the whole file, and one call was enough.
constexpr size_t kSurelyWhole = 3072;

Status ErrorOf(std::string_view path, int error) {
  const std::string text =
      fmt::format("{}: {}", Quote(path), std::generic_category().message(error));
  switch (error) {
    case ENOENT:
    case ENODEV:  // a cgroup that was removed while it was open
    case ENOTDIR:
    case ESRCH:
      return absl::NotFoundError(text);
    case ELOOP:
    case EXDEV:
      return InvalidArgument("{}: a link that is not followed", Quote(path));
    case EINVAL:
    case ERANGE:
    case EISDIR:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case EBUSY:
    case ENOSPC:
    case EEXIST:
    case ENOTEMPTY:
      return absl::FailedPreconditionError(text);
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::ResourceExhaustedError(text);
    case EOPNOTSUPP:
      return absl::UnimplementedError(text);
    default:
      return absl::InternalError(text);
  }
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// The whole file into the buffer, which only grows.
StatusOr<std::string_view> ReadAll(int fd, std::string_view path, size_t limit,
                                   std::string& buffer) {
  if (buffer.size() < kFirstRead) buffer.resize(kFirstRead);
  size_t size = 0;
  while (true) {
    const ssize_t got =
        pread(fd, buffer.data() + size, buffer.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrorOf(path, errno);
    size += static_cast<size_t>(got);
    if (got == 0 || size < kSurelyWhole) break;
    if (size > limit) {
      return absl::OutOfRangeError(fmt::format("{}: more than {} bytes", Quote(path), limit));
    }
    if (size == buffer.size()) buffer.resize(buffer.size() * 2);
  }
  return std::string_view(buffer.data(), size);
}

int OpenAt2(int directory, const std::string& path, int flags, uint64_t resolve) {
  struct open_how how {};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  how.resolve = resolve;
  long fd = -1;
  // EAGAIN: somebody renames directories meanwhile, so that the kernel cannot be sure.
  for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
    fd = syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how));
    if (fd >= 0 || (errno != EINTR && errno != EAGAIN)) break;
  }
  return static_cast<int>(fd);
}

std::pair<std::string_view, std::string_view> SplitLast(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

// Those that came first keep their descriptors. Files are read in turns, so that to close the one
// that was not read for longest would close each before its next turn.
class DirectoryTree::KeptDescriptor final : public OpenFile {
 public:
  KeptDescriptor(const DirectoryTree& tree, std::string_view path, Descriptor file)
      : tree_(tree), path_(path), open_(tree.open_) {
    Keep(file);
  }
  ~KeptDescriptor() override {
    if (kept_ < 0) return;
    close(kept_);
    --*open_;
  }

  StatusOr<std::string_view> Read(std::string& buffer) override {
    const size_t limit = tree_.options_.max_read;
    if (kept_ >= 0) return ReadAll(kept_, path_, limit, buffer);
    ASSIGN_OR_RETURN(const int fd, tree_.Resolve(path_, O_RDONLY | O_NONBLOCK));
    Descriptor file(fd);
    auto text = ReadAll(file.get(), path_, limit, buffer);
    if (text.ok()) Keep(file);
    return text;
  }

 private:
  void Keep(Descriptor& file) {
    if (*open_ >= tree_.options_.max_open) return;
    kept_ = file.release();
    ++*open_;
  }

  const DirectoryTree& tree_;
  const std::string path_;
  const std::shared_ptr<size_t> open_;
  int kept_ = -1;
};

DirectoryTree::DirectoryTree(std::string directory, Options options)
    : directory_(std::move(directory)),
      options_(std::move(options)),
      has_openat2_(options_.use_openat2) {}

DirectoryTree::~DirectoryTree() {
  for (const auto& [name, fd] : first_) close(fd);
  if (root_ >= 0) close(root_);
}

StatusOr<int> DirectoryTree::Root() const {
  if (root_ >= 0) return root_;
  root_ = open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root_ < 0) return ErrorOf(directory_, errno);
  if (has_openat2_) {
    const Descriptor probe(OpenAt2(root_, ".", O_PATH, RESOLVE_BENEATH));
    has_openat2_ = probe.get() >= 0;
  }
  return root_;
}

StatusOr<int> DirectoryTree::ResolveFrom(int directory, std::string_view path, int flags,
                                         Links links) const {
  const std::string text(path.empty() ? "." : path);
  const bool follow = links == Links::kInside;
  const int fd =
      has_openat2_
          ? OpenAt2(directory, text, flags,
                    RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (follow ? 0 : RESOLVE_NO_SYMLINKS))
          : WalkBeneath(directory, path, flags, follow);
  if (fd < 0) return ErrorOf(path, errno);
  return fd;
}

StatusOr<int> DirectoryTree::FirstDirectory(int root, std::string_view name) const {
  if (const auto it = first_.find(name); it != first_.end()) return it->second;
  ASSIGN_OR_RETURN(const int fd, ResolveFrom(root, name, O_PATH | O_DIRECTORY, Links::kInside));
  first_.emplace(name, fd);
  return fd;
}

StatusOr<int> DirectoryTree::Resolve(std::string_view path, int flags) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  ASSIGN_OR_RETURN(const int root, Root());
  if (!options_.below.empty()) {
    const std::string whole =
        path.empty() ? options_.below : fmt::format("{}/{}", options_.below, path);
    return ResolveFrom(root, whole, flags, options_.links);
  }
  const size_t slash = path.find('/');
  if (options_.links != Links::kFirst || slash == path.npos) {
    // What stands right below the directory may be the link itself.
    const bool follow = options_.links != Links::kNone;
    return ResolveFrom(root, path, flags, follow ? Links::kInside : Links::kNone);
  }
  ASSIGN_OR_RETURN(const int first, FirstDirectory(root, path.substr(0, slash)));
  return ResolveFrom(first, path.substr(slash + 1), flags, Links::kNone);
}

StatusOr<std::string> DirectoryTree::Read(std::string_view path) const {
  ASSIGN_OR_RETURN(const int fd, Resolve(path, O_RDONLY | O_NONBLOCK));
  const Descriptor file(fd);
  std::string buffer;
  ASSIGN_OR_RETURN(const std::string_view text,
                   ReadAll(file.get(), path, options_.max_read, buffer));
  buffer.resize(text.size());
  return buffer;
}

StatusOr<std::unique_ptr<OpenFile>> DirectoryTree::Open(std::string_view path) const {
  ASSIGN_OR_RETURN(const int fd, Resolve(path, O_RDONLY | O_NONBLOCK));
  return std::make_unique<KeptDescriptor>(*this, path, Descriptor(fd));
}

Status DirectoryTree::WriteWith(std::string_view path, std::string_view text, int flags) {
  ASSIGN_OR_RETURN(const int fd, Resolve(path, O_WRONLY | O_NONBLOCK | flags));
  const Descriptor file(fd);
  ssize_t written = 0;
  do {
    written = write(file.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return ErrorOf(path, errno);
  if (static_cast<size_t>(written) != text.size()) {
    return Internal("{}: only {} of {} bytes were written", Quote(path), written, text.size());
  }
  return absl::OkStatus();
}

Status DirectoryTree::Write(std::string_view path, std::string_view text) {
  return WriteWith(path, text, O_TRUNC);
}

Status DirectoryTree::Append(std::string_view path, std::string_view text) {
  return WriteWith(path, text, O_APPEND);
}

bool DirectoryTree::Exists(std::string_view path) const {
  const StatusOr<int> fd = Resolve(path, O_PATH);
  if (!fd.ok()) return false;
  close(*fd);
  return true;
}

bool DirectoryTree::IsDirectory(std::string_view path) const {
  const StatusOr<int> fd = Resolve(path, O_PATH | O_DIRECTORY);
  if (!fd.ok()) return false;
  close(*fd);
  return true;
}

StatusOr<std::vector<FileTree::Entry>> DirectoryTree::List(std::string_view path) const {
  ASSIGN_OR_RETURN(const int fd, Resolve(path, O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(fdopendir(fd), closedir);
  if (dir == nullptr) {
    close(fd);
    return ErrorOf(path, errno);
  }
  std::vector<Entry> entries;
  while (const dirent* const entry = readdir(dir.get())) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_directory = entry->d_type == DT_DIR;
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
      is_directory = IsDirectory(path.empty() ? name : fmt::format("{}/{}", path, name));
    }
    entries.push_back({std::move(name), is_directory});
  }
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

StatusOr<std::string> DirectoryTree::ReadLink(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  const auto [parent, name] = SplitLast(path);
  ASSIGN_OR_RETURN(const int fd, Resolve(parent, O_PATH | O_DIRECTORY));
  const Descriptor dir(fd);
  char target[PATH_MAX];
  const ssize_t size = readlinkat(dir.get(), std::string(name).c_str(), target, sizeof(target));
  if (size < 0) return ErrorOf(path, errno);
  return std::string(target, static_cast<size_t>(size));
}

Status DirectoryTree::MakeDirectory(std::string_view path) {
  RETURN_IF_ERROR(CheckTreePath(path));
  const auto [parent, name] = SplitLast(path);
  ASSIGN_OR_RETURN(const int fd, Resolve(parent, O_PATH | O_DIRECTORY));
  const Descriptor dir(fd);
  if (mkdirat(dir.get(), std::string(name).c_str(), 0755) == 0) return absl::OkStatus();
  if (errno == EEXIST && IsDirectory(path)) return absl::OkStatus();
  return ErrorOf(path, errno);
}

Status DirectoryTree::RemoveDirectory(std::string_view path) {
  RETURN_IF_ERROR(CheckTreePath(path));
  const auto [parent, name] = SplitLast(path);
  ASSIGN_OR_RETURN(const int fd, Resolve(parent, O_PATH | O_DIRECTORY));
  const Descriptor dir(fd);
  if (unlinkat(dir.get(), std::string(name).c_str(), AT_REMOVEDIR) == 0) return absl::OkStatus();
  return ErrorOf(path, errno);
}

StatusOr<int> DirectoryTree::OpenDirectory(std::string_view path) const {
  return Resolve(path, O_RDONLY | O_DIRECTORY);
}

}  // namespace koord::koordlet
