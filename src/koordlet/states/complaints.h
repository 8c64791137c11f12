#pragma once
#include <string>
#include <string_view>

#include "base/string_map.h"

namespace koord::koordlet {

// What was complained about already. A pod with a bad annotation is looked at every few seconds;
// its owner wants to read of it once, and again only when it is bad in another way.
class Complaints {
 public:
  // True: this is new for the object and kind, and is to be logged.
  bool IsNew(std::string_view object, std::string_view kind, std::string_view text) {
    std::string key = std::string(object) + '\0' + std::string(kind);
    if (said_.size() >= kLimit && !said_.contains(key)) said_.clear();
    std::string& last = said_[std::move(key)];
    if (last == text) return false;
    last = text;
    return true;
  }
  // It is fine again, or gone.
  void Forget(std::string_view object, std::string_view kind) {
    const auto it = said_.find(std::string(object) + '\0' + std::string(kind));
    if (it != said_.end()) said_.erase(it);
  }

 private:
  static constexpr size_t kLimit = 1000;  // whatever users do, it takes little memory

  StringMap<std::string> said_;
};

}  // namespace koord::koordlet
