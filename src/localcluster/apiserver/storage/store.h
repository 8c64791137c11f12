#pragma once
#include <absl/functional/any_invocable.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/status.h"

// The cluster's state: a multi-version map with one revision counter, kept in memory and, unless
// switched off, in SQLite.
//
// Writes take effect in memory at once, in revision order, so that the next request already builds
// on them. What anyone outside is told, however, waits for the disk: callers hold an answer back
// with WhenDurable(revision), and watchers see an event only once it would survive a power cut. In
// memory that moment is now. One writer thread commits everything that has gathered while the
// previous commit was under way (group commit).
namespace koord::apiserver {

using Revision = uint64_t;

// One immutable version of an object.
struct Entry {
  std::string key;        // "<namespace>/<name>", or "<name>" for cluster-scoped resources
  std::string value;      // JSON as served, metadata.resourceVersion included
  Revision revision = 0;  // of this version
  // What selectors look at, taken out once at write time.
  std::vector<std::pair<std::string, std::string>> labels = {};  // sorted by key
  std::vector<std::pair<std::string, std::string>> fields =
      {};  // selectable fields, sorted by name
};
using EntryPtr = std::shared_ptr<const Entry>;

// A change as watchers see it: before is null for a creation, after for a deletion. A deletion's
// `before` is the last state as it was given to Delete, with the revision of the deletion.
struct Change {
  Revision revision = 0;
  std::string key;
  EntryPtr before;
  EntryPtr after;
};
using ChangePtr = std::shared_ptr<const Change>;

class Store {
 public:
  struct Options {
    std::string path = {};  // of the SQLite database; empty keeps everything in memory only
    // Fills in labels and fields of an entry that comes back from disk.
    std::function<void(std::string_view resource, Entry& entry)> index = {};
    // The disk has failed: from now on nothing is acknowledged or announced any more. Whatever
    // waits is dropped; the program should say so and end.
    std::function<void(const Status&)> on_fatal = {};
    // Off, commits run on the loop itself, so that tests on a VirtualLoop stay deterministic.
    bool writer_thread = true;
    // History is kept for at least this long, or this many events, whichever is more, as long as it
    // takes no more than so many bytes: what was overwritten and deleted, in memory or on disk.
    Duration history = std::chrono::minutes(5);
    size_t history_events = 100'000;
    size_t history_bytes = size_t{16} << 20;
  };

  // Watches one resource. Destroying it ends the watch.
  class Subscription {
   public:
    virtual ~Subscription() = default;
  };
  // Changes arrive in revision order, each once it is durable, several at a time where possible.
  using OnChanges = std::function<void(std::span<const ChangePtr>)>;

  static StatusOr<std::unique_ptr<Store>> Open(EventLoop& loop, Options options);
  virtual ~Store() = default;

  // Of the last write, durable or not; 1 in an empty store. Never goes back, also over restarts.
  virtual Revision revision() const = 0;
  virtual Revision durable_revision() const = 0;
  // History up to and including this revision is gone.
  virtual Revision compacted_revision() const = 0;
  // Reads and watches of a resource reach back to here: nothing of it has changed between this
  // revision and the compacted one, so that a busy resource does not cut off a quiet one.
  virtual Revision oldest_revision(std::string_view resource) const = 0;

  // A resource is named as in errors: "pods", "devices.scheduling.koordinator.sh".
  virtual EntryPtr Get(std::string_view resource, std::string_view key) const = 0;

  // Visits entries whose key starts with `prefix` and is not before `start`, in key order, as they
  // were at revision `at` (0: now), until `visit` returns false. kOutOfRange if `at` is older than
  // oldest_revision(resource) or has not been reached. `visit` must not write.
  virtual Status Range(std::string_view resource, std::string_view prefix, std::string_view start,
                       Revision at, const std::function<bool(const EntryPtr&)>& visit) const = 0;
  virtual size_t Count(std::string_view resource, std::string_view prefix) const = 0;

  // The caller, alone on the loop, has read the current version and made the next one:
  // entry.revision must be revision() + 1. Both return what they stored. Delete takes the last
  // state of an existing object, whose revision is that of the deletion.
  virtual EntryPtr Put(std::string_view resource, Entry entry) = 0;
  virtual EntryPtr Delete(std::string_view resource, Entry last) = 0;

  // Runs `task` when everything up to `revision` is durable: at once if it already is.
  virtual void WhenDurable(Revision revision, Task task) = 0;

  // Every change after `after`, never called from inside this call. kOutOfRange if history no
  // longer reaches back that far, or `after` has not been reached.
  virtual StatusOr<std::unique_ptr<Subscription>> Watch(std::string_view resource, Revision after,
                                                        OnChanges on_changes) = 0;
};

}  // namespace koord::apiserver
