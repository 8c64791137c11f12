#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "localcluster/apiserver/storage/revision_file.h"

namespace koord::apiserver {

// Feeds a file: one thread writes, and each commit takes everything that gathered during the one
// before, so that many writers share the wait for the disk. Rows that are no longer needed are
// removed between commits, a few at a time.
class GroupCommit final : public Journal {
 public:
  // Without a thread, commits are tasks of the loop.
  GroupCommit(EventLoop& loop, std::unique_ptr<RevisionFile> file, Events events, bool own_thread);
  ~GroupCommit() override;

  void Append(Record record) override;
  void Compact(Revision compacted, std::vector<Revision> dropped) override;

 private:
  bool has_work() const;  // mutex_ held
  // Likewise. Writes that are asked for in one turn of the loop reach the disk together, and one
  // awakening of the thread does for all of them.
  void Wake();
  void WriteUntilStopped();
  // Both unlock while they are at the disk.
  void WriteSome(std::unique_lock<std::mutex>& lock);
  void CompactSome(std::unique_lock<std::mutex>& lock);
  void ReportDurable(Revision revision);
  void ReportFailure(const Status& status);

  EventLoop& loop_;
  const std::unique_ptr<RevisionFile> file_;
  const std::shared_ptr<const Events> events_;
  const bool own_thread_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Record> queue_;
  Revision compacted_ = 0;
  std::vector<Revision> dropped_;
  bool retry_compaction_later_ = false;
  bool stopping_ = false;
  bool failed_ = false;
  bool writing_ = false;  // the thread is at work, and looks for more before it rests
  bool task_posted_ = false;

  std::thread thread_;
  Scope scope_;
};

}  // namespace koord::apiserver
