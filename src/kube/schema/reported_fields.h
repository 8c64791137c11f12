#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/shorten.h"

namespace koord::kube {

// Paths of members that their writer is told about: the first hundred, as many as Kubernetes'
// decoder remembers, and of the others how many there are. What a hostile document can make us say
// is thereby bounded, and so is the time that it takes.
class ReportedFields {
 public:
  static constexpr size_t kMost = 100;
  static constexpr size_t kLongest = 1024;  // bytes of a path

  using value_type = std::string;
  using const_iterator = std::vector<std::string>::const_iterator;

  void Add(std::string_view path) {
    if (full()) {
      ++more_;
    } else {
      paths_.push_back(Shorten(path, kLongest));
    }
  }
  // A path that is spelled out only if it is to be reported.
  template <class Path>
  void AddPath(const Path& path) {
    Add(full() ? std::string() : path.ToString());
  }

  void Sort() { std::sort(paths_.begin(), paths_.end()); }

  const_iterator begin() const { return paths_.begin(); }
  const_iterator end() const { return paths_.end(); }
  size_t size() const { return paths_.size(); }
  bool empty() const { return paths_.empty(); }
  bool full() const { return paths_.size() == kMost; }
  size_t more() const { return more_; }

 private:
  std::vector<std::string> paths_;
  size_t more_ = 0;
};

}  // namespace koord::kube
