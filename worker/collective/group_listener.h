// Where the other ranks of a group reach this one.
#ifndef PACELINE_WORKER_COLLECTIVE_GROUP_LISTENER_H_
#define PACELINE_WORKER_COLLECTIVE_GROUP_LISTENER_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/base/file_descriptor.h"

namespace paceline {

// A TCP socket that listens. Connections wait in its queue until ConnectGroup
// takes them.
class GroupListener {
 public:
  // `address` is "host:port" with a numeric host; port 0 takes a free one.
  static absl::StatusOr<GroupListener> Open(const std::string& address);

  int port() const { return port_; }
  int socket() const { return socket_.get(); }

 private:
  GroupListener(FileDescriptor socket, int port)
      : socket_(std::move(socket)), port_(port) {}

  FileDescriptor socket_;
  int port_;
};

}  // namespace paceline

#endif  // PACELINE_WORKER_COLLECTIVE_GROUP_LISTENER_H_
