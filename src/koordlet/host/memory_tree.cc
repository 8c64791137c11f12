#include "koordlet/host/memory_tree.h"

#include <algorithm>
#include <utility>

#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

Status Missing(std::string_view path) { return NotFound("{}: no such file or directory", path); }

std::pair<std::string_view, std::string_view> SplitLast(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

class MemoryFile final : public OpenFile {
 public:
  MemoryFile(const MemoryTree& tree, std::string_view path) : tree_(tree), path_(path) {}

  StatusOr<std::string_view> Read(std::string& buffer) override {
    ASSIGN_OR_RETURN(buffer, tree_.Read(path_));
    return buffer;
  }

 private:
  const MemoryTree& tree_;
  const std::string path_;
};

}  // namespace

struct MemoryTree::Hooks {
  Reader reader;
  Writer writer;
};

struct MemoryTree::Directory {
  std::string name;
  std::vector<Node> nodes;  // by name

  std::vector<Node>::iterator LowerBound(std::string_view wanted) {
    return std::ranges::lower_bound(nodes, wanted, {},
                                    [](const Node& node) { return std::string_view(*node.name); });
  }
  Node* Find(std::string_view wanted) {
    const auto it = LowerBound(wanted);
    return it == nodes.end() || *it->name != wanted ? nullptr : &*it;
  }
};

MemoryTree::MemoryTree() : root_(std::make_unique<Directory>()) {}
MemoryTree::~MemoryTree() = default;

MemoryTree::Directory& MemoryTree::MakeDirectories(std::string_view path) {
  Directory* directory = root_.get();
  while (!path.empty()) {
    const std::string_view name = TakeUntil(path, '/');
    Node* node = directory->Find(name);
    if (node == nullptr) {
      auto made = std::make_unique<Directory>();
      made->name = name;
      const std::string* const own_name = &made->name;
      node = &*directory->nodes.insert(directory->LowerBound(name),
                                       Node{own_name, "", nullptr, std::move(made)});
    }
    // Whoever plays the kernel may put a directory where a file was.
    if (node->directory == nullptr) node->directory = std::make_unique<Directory>();
    directory = node->directory.get();
  }
  return *directory;
}

MemoryTree::Node& MemoryTree::MakeFile(std::string_view path) {
  const auto [parent, name] = SplitLast(path);
  Directory& directory = MakeDirectories(parent);
  if (Node* const node = directory.Find(name)) return *node;
  const std::string* const kept = &*file_names_.emplace(name).first;
  return *directory.nodes.insert(directory.LowerBound(name), Node{kept, "", nullptr, nullptr});
}

MemoryTree::Directory* MemoryTree::FindDirectory(std::string_view path) const {
  if (path.empty()) return root_.get();
  const Node* const node = Find(path);
  return node == nullptr ? nullptr : node->directory.get();
}

MemoryTree::Node* MemoryTree::Find(std::string_view path) const {
  Directory* directory = root_.get();
  Node* node = nullptr;
  while (!path.empty()) {
    if (directory == nullptr) return nullptr;
    node = directory->Find(TakeUntil(path, '/'));
    if (node == nullptr) return nullptr;
    directory = node->directory.get();
  }
  return node;
}

MemoryTree::Node* MemoryTree::FindFile(std::string_view path) const {
  Node* const node = Find(path);
  return node == nullptr || node->directory != nullptr ? nullptr : node;
}

MemoryTree::Hooks& MemoryTree::HooksOf(std::string_view path) {
  Node& node = MakeFile(path);
  if (node.hooks == nullptr) node.hooks = std::make_unique<Hooks>();
  return *node.hooks;
}

void MemoryTree::Set(std::string_view path, std::string_view text) { MakeFile(path).text = text; }

void MemoryTree::SetReader(std::string_view path, Reader reader) {
  HooksOf(path).reader = std::move(reader);
}

void MemoryTree::SetWriter(std::string_view path, Writer writer) {
  HooksOf(path).writer = std::move(writer);
}

void MemoryTree::AddDirectory(std::string_view path) { MakeDirectories(path); }

void MemoryTree::Remove(std::string_view path) {
  const auto [parent, name] = SplitLast(path);
  Directory* const directory = FindDirectory(parent);
  if (directory == nullptr || directory->Find(name) == nullptr) return;
  directory->nodes.erase(directory->LowerBound(name));
}

StatusOr<std::string> MemoryTree::Read(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  const Node* const node = FindFile(path);
  if (node == nullptr) return Missing(path);
  return node->hooks != nullptr && node->hooks->reader ? node->hooks->reader() : node->text;
}

StatusOr<std::unique_ptr<OpenFile>> MemoryTree::Open(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (FindFile(path) == nullptr) return Missing(path);
  return std::make_unique<MemoryFile>(*this, path);
}

const MemoryTree::Writer* MemoryTree::WriterOf(const Node& node) const {
  if (node.hooks != nullptr && node.hooks->writer) return &node.hooks->writer;
  return writer_ ? &writer_ : nullptr;
}

Status MemoryTree::Write(std::string_view path, std::string_view text, bool append) {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (gate_) RETURN_IF_ERROR(gate_());
  Node* const node = FindFile(path);
  if (node == nullptr) return Missing(path);
  if (const Writer* const writer = WriterOf(*node)) return (*writer)(path, text);
  if (!append) node->text.clear();
  node->text += text;
  return absl::OkStatus();
}

Status MemoryTree::Write(std::string_view path, std::string_view text) {
  return Write(path, text, false);
}

Status MemoryTree::Append(std::string_view path, std::string_view text) {
  return Write(path, text, true);
}

bool MemoryTree::Exists(std::string_view path) const {
  return CheckTreePath(path).ok() && (path.empty() || Find(path) != nullptr);
}

StatusOr<std::vector<FileTree::Entry>> MemoryTree::List(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  const Directory* const directory = FindDirectory(path);
  if (directory == nullptr) return Missing(path);
  std::vector<Entry> entries;
  entries.reserve(directory->nodes.size());
  for (const Node& node : directory->nodes) {
    entries.push_back({*node.name, node.directory != nullptr});
  }
  return entries;
}

StatusOr<std::string> MemoryTree::ReadLink(std::string_view path) const { return Read(path); }

Status MemoryTree::MakeDirectory(std::string_view path) {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (FindFile(path) != nullptr) return FailedPrecondition("{}: is a file", path);
  if (Exists(path)) return absl::OkStatus();
  if (FindDirectory(SplitLast(path).first) == nullptr) return Missing(path);
  if (gate_) RETURN_IF_ERROR(gate_());
  MakeDirectories(path);
  if (fill_) fill_(path);
  return absl::OkStatus();
}

Status MemoryTree::RemoveDirectory(std::string_view path) {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (gate_) RETURN_IF_ERROR(gate_());
  const Node* const node = Find(path);
  if (node == nullptr) return Missing(path);
  if (node->directory == nullptr) return FailedPrecondition("{}: is no directory", path);
  Remove(path);
  return absl::OkStatus();
}

}  // namespace koord::koordlet
