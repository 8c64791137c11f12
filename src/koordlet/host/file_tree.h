#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace koord::koordlet {

// A file that is read again and again, kept open: a collector reads thousands a second.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  // The whole content from the start, valid until `buffer` changes. NotFound once the file's
  // directory is gone.
  virtual StatusOr<std::string_view> Read(std::string& buffer) = 0;
};

// The files below one directory of a machine: the kernel's, on a real one.
//
// Paths are relative to it, without a leading slash, and never leave it: "..", links out of it and
// anything that is no path are refused with InvalidArgument. A file or directory that does not
// exist is NotFound, which callers mostly ignore, since pods vanish all the time.
class FileTree {
 public:
  struct Entry {
    std::string name;
    bool is_directory = false;
  };

  virtual ~FileTree() = default;

  virtual StatusOr<std::string> Read(std::string_view path) const = 0;
  virtual StatusOr<std::unique_ptr<OpenFile>> Open(std::string_view path) const = 0;
  // Writes with a single write(2). Never creates a file: the kernel's are there or not supported.
  virtual Status Write(std::string_view path, std::string_view text) = 0;
  virtual Status Append(std::string_view path, std::string_view text) = 0;
  virtual bool Exists(std::string_view path) const = 0;
  virtual StatusOr<std::vector<Entry>> List(std::string_view path) const = 0;  // by name
  virtual StatusOr<std::string> ReadLink(std::string_view path) const = 0;
  virtual Status MakeDirectory(std::string_view path) = 0;  // 0755; an existing one is fine
  virtual Status RemoveDirectory(std::string_view path) = 0;
};

// Whether it is a path that cannot leave its tree, for those who implement one. The empty path is
// the tree's own directory.
Status CheckTreePath(std::string_view path);

}  // namespace koord::koordlet
