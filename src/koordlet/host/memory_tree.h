#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "koordlet/host/file_tree.h"

namespace koord::koordlet {

// A tree of files in memory: the kernel of a simulated machine, and of tests. Whoever plays the
// kernel makes files and directories appear and vanish, answers reads, and may refuse writes.
//
// A copy has the same files, and nobody yet who plays the kernel. Directories that are the same in
// both take memory once, until either changes something in them.
class MemoryTree final : public FileTree {
 public:
  // What a file holds at this moment.
  using Reader = std::function<std::string()>;
  // Whether the kernel takes a value, and what the file holds afterwards is up to Set.
  using Writer = std::function<Status(std::string_view path, std::string_view text)>;

  MemoryTree();
  MemoryTree(const MemoryTree& other);
  MemoryTree& operator=(const MemoryTree&) = delete;
  ~MemoryTree() override;

  // Makes the file and the directories above it, or replaces its content.
  void Set(std::string_view path, std::string_view text);
  void SetReader(std::string_view path, Reader reader);
  // Null: a write replaces the content.
  void SetWriter(std::string_view path, Writer writer);
  // Of all files without a writer of their own.
  void OnWrite(Writer writer) { writer_ = std::move(writer); }
  // Asked before anybody but the kernel changes anything; an error refuses it.
  void BeforeChange(std::function<Status()> gate) { gate_ = std::move(gate); }
  void AddDirectory(std::string_view path);
  // A file, or a directory with all that is in it.
  void Remove(std::string_view path);
  // Moves with everything that is set, written or removed: whoever has worked something out from
  // what the files say need not do so again before. What readers say does not count.
  uint64_t changes() const { return changes_; }
  // The names of the directories in one; none if there is no such.
  std::vector<std::string> Directories(std::string_view path) const;
  // Runs for every directory that is made from above, as the kernel fills those of cgroups.
  void OnMakeDirectory(std::function<void(std::string_view path)> fill) { fill_ = std::move(fill); }

  StatusOr<std::string> Read(std::string_view path) const override;
  StatusOr<std::unique_ptr<OpenFile>> Open(std::string_view path) const override;
  Status Write(std::string_view path, std::string_view text) override;
  Status Append(std::string_view path, std::string_view text) override;
  bool Exists(std::string_view path) const override;
  StatusOr<std::vector<Entry>> List(std::string_view path) const override;
  StatusOr<std::string> ReadLink(std::string_view path) const override;
  Status MakeDirectory(std::string_view path) override;
  Status RemoveDirectory(std::string_view path) override;

 private:
  class File;
  struct Directory;
  using DirectoryPtr = std::shared_ptr<Directory>;  // to be changed only through Own
  // Small, since a simulated cluster has many: names and texts are kept once.
  struct Node {
    std::shared_ptr<const std::string> name;
    std::shared_ptr<const std::string> text;
    DirectoryPtr directory;  // null: a file
  };

  Directory& Own(DirectoryPtr& directory);
  static std::shared_ptr<const std::string> FileName(std::string_view name);

  StatusOr<std::string> ReadChecked(std::string_view path) const;
  // As it is read: null if there is no such file.
  struct Source {
    const Reader* reader = nullptr;
    const Node* node = nullptr;
  };
  Source SourceOf(std::string_view path) const;
  StatusOr<std::string> ReadFrom(const Source& source, std::string_view path) const;
  // Null: a write goes into the text.
  const Writer* WriterOf(std::string_view path) const;
  Status Write(std::string_view path, std::string_view text, bool append);
  Directory& MakeDirectories(std::string_view path);
  Node& MakeFile(std::string_view path);
  const Directory* FindDirectory(std::string_view path) const;
  const Node* Find(std::string_view path) const;
  const Node* FindFile(std::string_view path) const;

  DirectoryPtr root_;
  uint64_t changes_ = 0;
  // Of the places of nodes and readers in memory: pointers to them are good while it stands still.
  uint64_t places_ = 1;
  // The directory that was looked for last, since files of one are read one after the other.
  mutable std::string last_path_;
  mutable const Directory* last_directory_ = nullptr;
  mutable uint64_t last_places_ = 0;
  StringMap<Reader> readers_;  // by path
  StringMap<Writer> writers_;
  Writer writer_;
  std::function<Status()> gate_;
  std::function<void(std::string_view)> fill_;
};

}  // namespace koord::koordlet
