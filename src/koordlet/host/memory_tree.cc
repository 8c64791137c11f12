#include "koordlet/host/memory_tree.h"

#include <algorithm>
#include <utility>

namespace koord::koordlet {
namespace {

Status Missing(std::string_view path) { return NotFound("{}: no such file or directory", path); }

std::string_view Parent(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
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

MemoryTree::Node& MemoryTree::MakeFile(std::string_view path) {
  if (const auto parent = Parent(path); !parent.empty()) AddDirectory(parent);
  auto& node = nodes_[std::string(path)];
  if (node == nullptr) node = std::make_unique<Node>();
  return *node;
}

const MemoryTree::Node* MemoryTree::FindFile(std::string_view path) const {
  const auto it = nodes_.find(path);
  return it == nodes_.end() || it->second->is_directory ? nullptr : it->second.get();
}

void MemoryTree::Set(std::string_view path, std::string_view text) { MakeFile(path).text = text; }

void MemoryTree::SetReader(std::string_view path, Reader reader) {
  MakeFile(path).reader = std::move(reader);
}

void MemoryTree::SetWriter(std::string_view path, Writer writer) {
  MakeFile(path).writer = std::move(writer);
}

void MemoryTree::AddDirectory(std::string_view path) {
  for (auto dir = path; !dir.empty() && !nodes_.contains(dir); dir = Parent(dir)) {
    auto node = std::make_unique<Node>();
    node->is_directory = true;
    nodes_.emplace(dir, std::move(node));
  }
}

void MemoryTree::Remove(std::string_view path) {
  const std::string below = std::string(path) + '/';
  auto it = nodes_.lower_bound(below);
  while (it != nodes_.end() && it->first.starts_with(below)) it = nodes_.erase(it);
  if (const auto self = nodes_.find(path); self != nodes_.end()) nodes_.erase(self);
}

StatusOr<std::string> MemoryTree::Read(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  const Node* node = FindFile(path);
  if (node == nullptr) return Missing(path);
  return node->reader ? node->reader() : node->text;
}

StatusOr<std::unique_ptr<OpenFile>> MemoryTree::Open(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (FindFile(path) == nullptr) return Missing(path);
  return std::make_unique<MemoryFile>(*this, path);
}

const MemoryTree::Writer* MemoryTree::WriterOf(const Node& node) const {
  return node.writer ? &node.writer : writer_ ? &writer_ : nullptr;
}

Status MemoryTree::Write(std::string_view path, std::string_view text) {
  RETURN_IF_ERROR(CheckTreePath(path));
  const auto it = nodes_.find(path);
  if (it == nodes_.end() || it->second->is_directory) return Missing(path);
  if (const Writer* writer = WriterOf(*it->second)) return (*writer)(path, text);
  it->second->text = text;
  return absl::OkStatus();
}

Status MemoryTree::Append(std::string_view path, std::string_view text) {
  RETURN_IF_ERROR(CheckTreePath(path));
  const auto it = nodes_.find(path);
  if (it == nodes_.end() || it->second->is_directory) return Missing(path);
  if (const Writer* writer = WriterOf(*it->second)) return (*writer)(path, text);
  it->second->text += text;
  return absl::OkStatus();
}

bool MemoryTree::Exists(std::string_view path) const {
  return path.empty() || nodes_.contains(path);
}

StatusOr<std::vector<FileTree::Entry>> MemoryTree::List(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (!path.empty()) {
    const auto it = nodes_.find(path);
    if (it == nodes_.end() || !it->second->is_directory) return Missing(path);
  }
  const std::string below = path.empty() ? "" : std::string(path) + '/';
  std::vector<Entry> entries;
  auto it = nodes_.lower_bound(below);
  while (it != nodes_.end() && it->first.starts_with(below)) {
    const std::string_view name = std::string_view(it->first).substr(below.size());
    if (const size_t slash = name.find('/'); slash != name.npos) {
      // Inside a directory that was listed: on behind it.
      const size_t end = below.size() + slash;
      it = nodes_.lower_bound(it->first.substr(0, end) + static_cast<char>('/' + 1));
      continue;
    }
    entries.push_back({std::string(name), it->second->is_directory});
    ++it;
  }
  // A directory's files come behind names that only begin like it.
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

StatusOr<std::string> MemoryTree::ReadLink(std::string_view path) const { return Read(path); }

Status MemoryTree::MakeDirectory(std::string_view path) {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (FindFile(path) != nullptr) return FailedPrecondition("{}: is a file", path);
  if (Exists(path)) return absl::OkStatus();
  if (!Exists(Parent(path))) return Missing(path);
  AddDirectory(path);
  if (fill_) fill_(path);
  return absl::OkStatus();
}

Status MemoryTree::RemoveDirectory(std::string_view path) {
  RETURN_IF_ERROR(CheckTreePath(path));
  const auto it = nodes_.find(path);
  if (it == nodes_.end()) return Missing(path);
  if (!it->second->is_directory) return FailedPrecondition("{}: is no directory", path);
  Remove(path);
  return absl::OkStatus();
}

}  // namespace koord::koordlet
