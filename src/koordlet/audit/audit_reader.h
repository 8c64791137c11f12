#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace koord::koordlet {

// Reads lines of files from the end to the beginning. Files that are renamed or removed meanwhile
// stay readable, and what is added to them is not seen.
class BackwardReader {
 public:
  // The newest first; those that cannot be opened are left out.
  explicit BackwardReader(const std::vector<std::string>& paths);
  ~BackwardReader();
  BackwardReader(const BackwardReader&) = delete;
  BackwardReader& operator=(const BackwardReader&) = delete;

  // Up to `count` lines, the last one first.
  std::vector<std::string> Read(size_t count);
  bool at_end() const { return files_.empty(); }

 private:
  struct File {
    int fd;
    int64_t end;  // what is before it has not been read
  };

  void ReadFile(File& file, size_t count, std::vector<std::string>& lines);
  void DropFinished();

  std::deque<File> files_;
};

}  // namespace koord::koordlet
