#include "scheduler/plugins/image_locality/image_locality.h"

#include <algorithm>
#include <span>
#include <vector>

namespace koord::scheduler {
namespace {

constexpr int64_t kMi = 1024 * 1024;
constexpr int64_t kLeastBytes = 23 * kMi;
constexpr int64_t kMostBytesOfContainer = 1000 * kMi;

struct ImageState final : PluginState {
  std::vector<ImageIndex::ImagePtr> images;  // one a container
};

std::span<const ImageIndex::Holder> HoldersIn(const ImageIndex::Image& image, RowRange rows) {
  constexpr auto kRow = &ImageIndex::Holder::row;
  const auto begin = std::ranges::lower_bound(image.holders, rows.begin, {}, kRow);
  return {begin, std::ranges::lower_bound(begin, image.holders.end(), rows.end, {}, kRow)};
}

void ScaleToScores(int64_t most_bytes, std::span<int64_t> sums) {
  const auto range = static_cast<double>(most_bytes - kLeastBytes);
  for (int64_t& sum : sums) {
    const int64_t counted = std::clamp(sum, kLeastBytes, most_bytes) - kLeastBytes;
    // Exact: the quotient is at most 100, and both numbers are small for doubles.
    sum = static_cast<int64_t>(static_cast<double>(counted * kMaxScore) / range);
  }
}

}  // namespace

ImageLocality::ImageLocality(const PluginContext& context) : nodes_(context.nodes()) {
  for (NodeRow row{0}; row < nodes_.rows(); ++row) {
    if (nodes_.IsLive(row)) OnNodeAdded(row);
  }
  context.ledger.AddListener(*this);
}

std::unique_ptr<PluginState> ImageLocality::Compile(const PodShape& shape) {
  auto state = std::make_unique<ImageState>();
  for (const auto* containers : {&shape.spec().containers, &shape.spec().init_containers}) {
    for (const kube::Container& container : *containers) {
      state->images.push_back(images_.Find(NormalizedImageName(container.image)));
    }
  }
  return state;
}

std::optional<int64_t> ImageLocality::SameForAll(const PodQuery& query) {
  const auto& images = query.state<ImageState>(slot()).images;
  const auto is_nowhere = [](const ImageIndex::ImagePtr& image) { return image->holders.empty(); };
  if (!std::ranges::all_of(images, is_nowhere)) return {};
  return 0;
}

void ImageLocality::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  std::fill_n(scores, rows.size(), 0);
  const auto& images = query.state<ImageState>(slot()).images;
  bool any = false;
  for (const ImageIndex::ImagePtr& image : images) {
    const double spread =
        static_cast<double>(image->holders.size()) / static_cast<double>(nodes_.live_rows());
    for (const ImageIndex::Holder& holder : HoldersIn(*image, rows)) {
      scores[holder.row - rows.begin] +=
          static_cast<int64_t>(static_cast<double>(holder.size) * spread);
      any = true;
    }
  }
  if (!any) return;
  ScaleToScores(kMostBytesOfContainer * static_cast<int64_t>(images.size()), {scores, rows.size()});
}

void ImageLocality::OnNodeAdded(NodeRow row) {
  images_.SetImages(row, nodes_.node(row).status.images);
  if (images_.has_images()) ++node_count_version_;
}

void ImageLocality::OnNodeChanged(NodeRow row, const NodeChanges& changes) {
  if (changes.images) images_.SetImages(row, nodes_.node(row).status.images);
}

void ImageLocality::OnNodeRemoved(NodeRow row) {
  images_.SetImages(row, {});
  if (images_.has_images()) ++node_count_version_;
}

}  // namespace koord::scheduler
