#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "koordlet/host/file_tree.h"

namespace koord::koordlet {

// A tree of files in memory: the kernel of a simulated machine, and of tests. Whoever plays the
// kernel makes files and directories appear and vanish, answers reads, and may refuse writes.
class MemoryTree final : public FileTree {
 public:
  // What a file holds at this moment.
  using Reader = std::function<std::string()>;
  // Whether the kernel takes a value, and what the file holds afterwards is up to Set.
  using Writer = std::function<Status(std::string_view path, std::string_view text)>;

  MemoryTree();
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
  struct Hooks;
  struct Directory;
  // Small, since a simulated cluster has millions: names of files are kept once.
  struct Node {
    const std::string* name;
    std::string text;
    std::unique_ptr<Hooks> hooks;          // null: none
    std::unique_ptr<Directory> directory;  // null: a file
  };

  // Null: a write goes into the text.
  const Writer* WriterOf(const Node& node) const;
  Status Write(std::string_view path, std::string_view text, bool append);
  Directory& MakeDirectories(std::string_view path);
  Node& MakeFile(std::string_view path);
  Hooks& HooksOf(std::string_view path);
  Directory* FindDirectory(std::string_view path) const;
  Node* Find(std::string_view path) const;
  Node* FindFile(std::string_view path) const;

  std::unique_ptr<Directory> root_;
  std::set<std::string, std::less<>> file_names_;
  Writer writer_;
  std::function<Status()> gate_;
  std::function<void(std::string_view)> fill_;
};

}  // namespace koord::koordlet
