#include "koordlet/host/memory_tree.h"

#include <algorithm>
#include <mutex>
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

}  // namespace

class MemoryTree::File final : public OpenFile {
 public:
  File(const MemoryTree& tree, std::string_view path) : tree_(tree), path_(path) {}

  StatusOr<std::string_view> Read(std::string& buffer) override {
    if (places_ != tree_.places_) {
      source_ = tree_.SourceOf(path_);
      places_ = tree_.places_;
    }
    ASSIGN_OR_RETURN(buffer, tree_.ReadFrom(source_, path_));
    return buffer;
  }

 private:
  const MemoryTree& tree_;
  const std::string path_;
  Source source_;
  uint64_t places_ = 0;  // of the tree, when the source was found
};

struct MemoryTree::Directory {
  std::vector<Node> nodes;  // by name

  auto LowerBound(std::string_view wanted) const {
    return std::ranges::lower_bound(nodes, wanted, {},
                                    [](const Node& node) { return std::string_view(*node.name); });
  }
  const Node* Find(std::string_view wanted) const {
    const auto it = LowerBound(wanted);
    return it == nodes.end() || *it->name != wanted ? nullptr : &*it;
  }
  Node* Find(std::string_view wanted) {
    return const_cast<Node*>(std::as_const(*this).Find(wanted));
  }
  Node& Add(std::shared_ptr<const std::string> name) {
    const auto place = LowerBound(*name);
    return *nodes.insert(place, Node{.name = std::move(name), .text = nullptr, .directory = {}});
  }
};

MemoryTree::MemoryTree() : root_(std::make_shared<Directory>()) {}
MemoryTree::MemoryTree(const MemoryTree& other) : root_(other.root_) {}
MemoryTree::~MemoryTree() = default;

// What others still look at stays as it is.
MemoryTree::Directory& MemoryTree::Own(DirectoryPtr& directory) {
  if (directory == nullptr) {
    directory = std::make_shared<Directory>();
    ++places_;
  } else if (directory.use_count() > 1) {
    directory = std::make_shared<Directory>(*directory);
    ++places_;
  }
  return *directory;
}

// The kernel has few names for files, which all trees have in common.
std::shared_ptr<const std::string> MemoryTree::FileName(std::string_view name) {
  static std::mutex mutex;
  static auto& names = *new StringMap<std::shared_ptr<const std::string>>();
  const std::lock_guard lock(mutex);
  const auto known = names.find(name);
  if (known != names.end()) return known->second;
  return names.emplace(name, std::make_shared<const std::string>(name)).first->second;
}

MemoryTree::Directory& MemoryTree::MakeDirectories(std::string_view path) {
  Directory* directory = &Own(root_);
  while (!path.empty()) {
    const std::string_view name = TakeUntil(path, '/');
    Node* node = directory->Find(name);
    if (node == nullptr) {
      node = &directory->Add(std::make_shared<const std::string>(name));
      ++places_;
    }
    // Whoever plays the kernel may put a directory where a file was.
    directory = &Own(node->directory);
  }
  return *directory;
}

MemoryTree::Node& MemoryTree::MakeFile(std::string_view path) {
  const auto [parent, name] = SplitLast(path);
  Directory& directory = MakeDirectories(parent);
  if (Node* const node = directory.Find(name)) return *node;
  ++places_;
  return directory.Add(FileName(name));
}

const MemoryTree::Directory* MemoryTree::FindDirectory(std::string_view path) const {
  if (path.empty()) return root_.get();
  const Node* const node = Find(path);
  return node == nullptr ? nullptr : node->directory.get();
}

const MemoryTree::Node* MemoryTree::Find(std::string_view path) const {
  const Directory* directory = root_.get();
  const Node* node = nullptr;
  while (!path.empty()) {
    if (directory == nullptr) return nullptr;
    node = directory->Find(TakeUntil(path, '/'));
    if (node == nullptr) return nullptr;
    directory = node->directory.get();
  }
  return node;
}

const MemoryTree::Node* MemoryTree::FindFile(std::string_view path) const {
  const auto [parent, name] = SplitLast(path);
  if (last_places_ != places_ || last_path_ != parent) {
    last_directory_ = FindDirectory(parent);
    last_path_ = parent;
    last_places_ = places_;
  }
  const Node* const node = last_directory_ == nullptr ? nullptr : last_directory_->Find(name);
  return node == nullptr || node->directory != nullptr ? nullptr : node;
}

void MemoryTree::Set(std::string_view path, std::string_view text) {
  ++changes_;
  MakeFile(path).text = std::make_shared<const std::string>(text);
}

void MemoryTree::SetReader(std::string_view path, Reader reader) {
  if (FindFile(path) == nullptr) MakeFile(path);
  readers_.insert_or_assign(path, std::move(reader));
  ++places_;
}

void MemoryTree::SetWriter(std::string_view path, Writer writer) {
  if (FindFile(path) == nullptr) MakeFile(path);
  writers_.insert_or_assign(path, std::move(writer));
}

void MemoryTree::AddDirectory(std::string_view path) { MakeDirectories(path); }

void MemoryTree::Remove(std::string_view path) {
  const auto [parent, name] = SplitLast(path);
  if (Find(path) == nullptr) return;
  Directory& directory = MakeDirectories(parent);
  directory.nodes.erase(directory.LowerBound(name));
  ++changes_;
  ++places_;
  const auto is_gone = [path = path](const auto& hook) {
    const std::string_view of = hook.first;
    return of.starts_with(path) && (of.size() == path.size() || of[path.size()] == '/');
  };
  absl::erase_if(readers_, is_gone);
  absl::erase_if(writers_, is_gone);
}

StatusOr<std::string> MemoryTree::Read(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  return ReadChecked(path);
}

MemoryTree::Source MemoryTree::SourceOf(std::string_view path) const {
  if (const auto reader = readers_.find(path); reader != readers_.end() && reader->second) {
    return {.reader = &reader->second};
  }
  return {.node = FindFile(path)};
}

StatusOr<std::string> MemoryTree::ReadFrom(const Source& source, std::string_view path) const {
  if (source.reader != nullptr) return (*source.reader)();
  if (source.node == nullptr) return Missing(path);
  return source.node->text == nullptr ? std::string() : *source.node->text;
}

StatusOr<std::string> MemoryTree::ReadChecked(std::string_view path) const {
  return ReadFrom(SourceOf(path), path);
}

StatusOr<std::unique_ptr<OpenFile>> MemoryTree::Open(std::string_view path) const {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (FindFile(path) == nullptr) return Missing(path);
  return std::make_unique<File>(*this, path);
}

const MemoryTree::Writer* MemoryTree::WriterOf(std::string_view path) const {
  const auto own = writers_.find(path);
  if (own != writers_.end() && own->second) return &own->second;
  return writer_ ? &writer_ : nullptr;
}

Status MemoryTree::Write(std::string_view path, std::string_view text, bool append) {
  RETURN_IF_ERROR(CheckTreePath(path));
  if (gate_) RETURN_IF_ERROR(gate_());
  const Node* const node = FindFile(path);
  if (node == nullptr) return Missing(path);
  if (const Writer* const writer = WriterOf(path)) return (*writer)(path, text);
  std::string whole = append && node->text != nullptr ? *node->text : std::string();
  Set(path, whole += text);
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

std::vector<std::string> MemoryTree::Directories(std::string_view path) const {
  std::vector<std::string> names;
  const Directory* const directory = FindDirectory(path);
  if (directory == nullptr) return names;
  for (const Node& node : directory->nodes) {
    if (node.directory != nullptr) names.push_back(*node.name);
  }
  return names;
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
