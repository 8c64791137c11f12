#include "koordlet/audit/audit_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace koord::koordlet {
namespace {

constexpr int64_t kChunk = 64 << 10;
constexpr int64_t kMaxLine = 1 << 20;

bool ReadAt(int fd, int64_t from, std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = pread(fd, bytes.data() + done, bytes.size() - done,
                              static_cast<off_t>(from + static_cast<int64_t>(done)));
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

BackwardReader::BackwardReader(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) continue;
    struct stat info {};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
      close(fd);
      continue;
    }
    files_.push_back({fd, info.st_size});
  }
  DropFinished();
}

BackwardReader::~BackwardReader() {
  for (const File& file : files_) close(file.fd);
}

void BackwardReader::DropFinished() {
  while (!files_.empty() && files_.front().end == 0) {
    close(files_.front().fd);
    files_.pop_front();
  }
}

std::vector<std::string> BackwardReader::Read(size_t count) {
  std::vector<std::string> lines;
  while (lines.size() < count && !files_.empty()) {
    ReadFile(files_.front(), count, lines);
    DropFinished();
  }
  return lines;
}

void BackwardReader::ReadFile(File& file, size_t count, std::vector<std::string>& lines) {
  std::string bytes;
  for (int64_t size = kChunk; lines.size() < count && file.end > 0;) {
    const int64_t start = std::max<int64_t>(file.end - size, 0);
    bytes.resize(static_cast<size_t>(file.end - start));
    if (!ReadAt(file.fd, start, bytes)) {
      file.end = 0;  // shorter than it was: somebody else has cut it
      return;
    }
    std::string_view left = bytes;
    bool found = false;
    while (lines.size() < count && !left.empty()) {
      std::string_view line = left;
      if (line.ends_with('\n')) line.remove_suffix(1);
      const size_t newline = line.rfind('\n');
      // A line that starts before the chunk is read with the next one.
      if (newline == line.npos && start > 0) break;
      const size_t begin = newline == line.npos ? 0 : newline + 1;
      if (begin < line.size()) lines.emplace_back(line.substr(begin));
      left = left.substr(0, begin);
      found = true;
    }
    file.end = start + static_cast<int64_t>(left.size());
    if (found) {
      size = kChunk;
    } else if (size < kMaxLine) {
      size *= 2;
    } else {
      file.end = 0;  // no lines of ours
    }
  }
}

}  // namespace koord::koordlet
