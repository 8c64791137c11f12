#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/objects/node.h"
#include "scheduler/cluster/node_table.h"

namespace koord::scheduler {

// "nginx" -> "nginx:latest": how nodes report what a container asks for.
std::string NormalizedImageName(std::string_view image);

// Which nodes have which container images.
class ImageIndex {
 public:
  struct Holder {
    NodeRow row;
    int64_t size;  // bytes
  };
  // One name of an image. Whoever keeps it learns by version() of its changes.
  struct Image : std::enable_shared_from_this<Image> {
    std::vector<Holder> holders;  // by row, ascending
  };
  using ImagePtr = std::shared_ptr<const Image>;

  // Also of images that no node has yet.
  ImagePtr Find(std::string_view name);

  void SetImages(NodeRow row, const std::vector<kube::ContainerImage>& images);

  size_t size() const { return images_.size(); }
  // Some node has some image.
  bool has_images() const { return held_ != 0; }
  // Moves when another number of nodes than before has an image that somebody keeps.
  uint64_t version() const { return version_; }

 private:
  struct Held {
    Image* image;
    int64_t size;
  };

  const std::shared_ptr<Image>& At(std::string_view name);
  std::vector<Held> HeldOf(const std::vector<kube::ContainerImage>& images);
  void Add(NodeRow row, const Held& held);
  void Remove(NodeRow row, const Held& held);
  void CountChanged(const Image& image);
  void DropUnused();

  StringMap<std::shared_ptr<Image>> images_;  // by name
  std::vector<std::vector<Held>> by_row_;     // each by address, for comparing
  size_t held_ = 0;
  size_t drop_at_ = 1024;
  uint64_t version_ = 1;
};

}  // namespace koord::scheduler
