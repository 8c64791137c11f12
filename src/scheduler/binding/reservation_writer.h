#pragma once
#include <memory>
#include <string>

#include "base/scope.h"
#include "scheduler/binding/object_writer.h"

namespace koord::scheduler {

// Reservations, by the reserve pods that stand for them.
//
// What becomes of one is in its condition Scheduled; its phase is not touched. The conditions of a
// custom resource can only be written as a whole, so that they are read before, and written only if
// nobody else has meanwhile. Promised nodes have no place in a Reservation and are not written.
class ReservationWriter final : public ObjectWriter {
 public:
  explicit ReservationWriter(kube::Client& client) : client_(client) {}

  kube::ObjectReference ReferenceTo(const kube::Pod& pod) const override;
  std::string NameOf(const kube::Pod& pod) const override;
  void PatchMetadata(const kube::Pod& pod, kube::json::object metadata,
                     kube::Client::Done done) override;
  void ShowFailure(const kube::Pod& pod, const Failure& failure) override;
  void ShowPromise(const kube::Pod&, const std::string&) override {}

 private:
  struct Showing;
  void Read(const std::shared_ptr<Showing>& showing);
  void Write(const std::shared_ptr<Showing>& showing, const kube::Json& reservation);

  kube::Client& client_;
  Scope scope_;
};

}  // namespace koord::scheduler
