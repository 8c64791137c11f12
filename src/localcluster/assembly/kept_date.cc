#include "localcluster/assembly/kept_date.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/strings.h"
#include "kube/time.h"

namespace koord::localcluster {
namespace {

constexpr Duration kSaveEvery = std::chrono::seconds(5);

}  // namespace

WallTime KeptDate::Start() const {
  const WallTime today = real_.clock().Now();
  std::ifstream in(file_);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto kept = kube::ParseTime(Trim(text));
  return kept ? std::max(*kept, today) : today;
}

void KeptDate::Follow(const Clock& clock, double speed) {
  clock_ = &clock;
  // What passes until the next time is counted already, in case that does not come.
  const Duration ahead(static_cast<int64_t>(speed * static_cast<double>(kSaveEvery.count())));
  Save(clock.Now() + ahead);
  timer_.Set(kSaveEvery, [this, &clock, speed] { Follow(clock, speed); });
}

void KeptDate::Stop() {
  timer_.Cancel();
  if (clock_ != nullptr) Save(clock_->Now());
}

void KeptDate::Save(WallTime date) const {
  const std::string fresh = file_ + ".new";
  std::ofstream(fresh) << kube::FormatTime(date) << "\n";
  std::error_code ignored;  // the date is worth no more than a try
  std::filesystem::rename(fresh, file_, ignored);
}

}  // namespace koord::localcluster
