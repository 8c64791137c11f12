#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace koord::koordlet {

// The directory in which models survive a restart: one file for each, named by its key, that only
// its owner may read. An empty path: nothing is kept.
class CheckpointFiles {
 public:
  explicit CheckpointFiles(std::string directory) : directory_(std::move(directory)) {}

  bool enabled() const { return !directory_.empty(); }
  std::vector<std::string> List() const;  // by name
  StatusOr<std::string> Read(const std::string& key) const;
  // Readers see the old text or the new one, never a part.
  Status Write(const std::string& key, std::string_view text);
  void Remove(const std::string& key);

 private:
  const std::string directory_;
};

}  // namespace koord::koordlet
