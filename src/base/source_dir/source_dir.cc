#include "base/source_dir/source_dir.h"

namespace koord {

std::filesystem::path SourcePath(std::string_view relative) {
  return std::filesystem::path(KOORD_SOURCE_DIR) / relative;
}

}  // namespace koord
