#pragma once
#include <absl/container/btree_map.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

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

  MemoryTree() = default;

  // Makes the file and the directories above it, or replaces its content.
  void Set(std::string_view path, std::string_view text);
  void SetReader(std::string_view path, Reader reader);
  // Null: a write replaces the content.
  void SetWriter(std::string_view path, Writer writer);
  // Of all files without a writer of their own.
  void OnWrite(Writer writer) { writer_ = std::move(writer); }
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
  struct Node {
    bool is_directory = false;
    std::string text;
    Reader reader;
    Writer writer;
  };

  // Null: writes go into the text.
  const Writer* WriterOf(const Node& node) const;
  Node& MakeFile(std::string_view path);
  const Node* FindFile(std::string_view path) const;

  absl::btree_map<std::string, std::unique_ptr<Node>, std::less<>> nodes_;
  Writer writer_;
  std::function<void(std::string_view)> fill_;
};

}  // namespace koord::koordlet
