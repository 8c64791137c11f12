#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace koord::koordlet::hooks {

// The directory that koordlet and Terway share.
class TerwayFiles {
 public:
  virtual ~TerwayFiles() = default;
  // Readers see the old text or the new one.
  virtual Status Write(std::string_view name, std::string_view text) = 0;
  virtual Status Remove(std::string_view name) = 0;  // fine where there is none
};

std::unique_ptr<TerwayFiles> MakeTerwayFiles(std::string directory);

}  // namespace koord::koordlet::hooks
