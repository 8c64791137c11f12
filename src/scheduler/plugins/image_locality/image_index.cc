#include "scheduler/plugins/image_locality/image_index.h"

#include <algorithm>
#include <utility>

namespace koord::scheduler {
namespace {

// A petabyte: what a node reports beyond that, or below nothing, is nonsense.
constexpr int64_t kMostBytes = int64_t{1} << 50;

}  // namespace

std::string NormalizedImageName(std::string_view image) {
  std::string name(image);
  const size_t tag = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool has_tag = tag != std::string::npos && (slash == std::string::npos || tag > slash);
  if (!has_tag) name += ":latest";
  return name;
}

const std::shared_ptr<ImageIndex::Image>& ImageIndex::At(std::string_view name) {
  if (const auto found = images_.find(name); found != images_.end()) return found->second;
  if (images_.size() >= drop_at_) DropUnused();
  return images_.emplace(name, std::make_shared<Image>()).first->second;
}

ImageIndex::ImagePtr ImageIndex::Find(std::string_view name) { return At(name); }

// Names that no node has and nobody asks for.
void ImageIndex::DropUnused() {
  absl::erase_if(images_, [](const auto& entry) {
    return entry.second->holders.empty() && entry.second.use_count() == 1;
  });
  drop_at_ = std::max<size_t>(1024, 2 * images_.size());
}

std::vector<ImageIndex::Held> ImageIndex::HeldOf(const std::vector<kube::ContainerImage>& images) {
  std::vector<std::shared_ptr<Image>> kept;  // while names that are new have no holder yet
  std::vector<Held> held;
  for (const kube::ContainerImage& image : images) {
    for (const std::string& name : image.names) {
      const int64_t size = std::clamp<int64_t>(image.size_bytes, 0, kMostBytes);
      held.push_back({kept.emplace_back(At(name)).get(), size});
    }
  }
  // A name that is listed twice counts as it is listed first.
  std::ranges::stable_sort(held, {}, &Held::image);
  const auto same = [](const Held& a, const Held& b) { return a.image == b.image; };
  held.erase(std::unique(held.begin(), held.end(), same), held.end());
  return held;
}

void ImageIndex::SetImages(NodeRow row, const std::vector<kube::ContainerImage>& images) {
  if (row >= by_row_.size()) by_row_.resize(row + 1);
  const std::vector<Held> before = std::exchange(by_row_[row], HeldOf(images));
  const std::vector<Held>& after = by_row_[row];
  auto old = before.begin();
  for (const Held& held : after) {
    for (; old != before.end() && old->image < held.image; ++old) Remove(row, *old);
    if (old != before.end() && old->image == held.image) {
      std::ranges::lower_bound(held.image->holders, row, {}, &Holder::row)->size = held.size;
      ++old;
    } else {
      Add(row, held);
    }
  }
  for (; old != before.end(); ++old) Remove(row, *old);
}

void ImageIndex::Add(NodeRow row, const Held& held) {
  auto& holders = held.image->holders;
  holders.insert(std::ranges::lower_bound(holders, row, {}, &Holder::row), {row, held.size});
  ++held_;
  CountChanged(*held.image);
}

void ImageIndex::Remove(NodeRow row, const Held& held) {
  auto& holders = held.image->holders;
  holders.erase(std::ranges::lower_bound(holders, row, {}, &Holder::row));
  --held_;
  CountChanged(*held.image);
}

void ImageIndex::CountChanged(const Image& image) {
  const bool is_kept = image.weak_from_this().use_count() > 1;
  if (is_kept) ++version_;
}

}  // namespace koord::scheduler
