// A link between two machines, on one machine: carries TCP connections to an
// address, no faster than a rate and later by a latency.
//
// Each direction of a link is one wire, which all its connections share. What
// arrives while the wire is busy waits in the sockets of the sender, as it
// would in a switch.
#ifndef PACELINE_TESTS_RELAY_RELAY_H_
#define PACELINE_TESTS_RELAY_RELAY_H_

#include <cstddef>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "common/base/file_descriptor.h"
#include "common/base/mutex.h"
#include "common/net/listener.h"

namespace paceline {

struct LinkSpeed {
  // Of each direction; infinite: as fast as it goes.
  double bytes_per_second = std::numeric_limits<double>::infinity();
  absl::Duration latency = absl::ZeroDuration();
};

// One direction. Thread-safe.
class Wire {
 public:
  // Any time, also while bytes are on their way.
  void set_speed(const LinkSpeed& speed);

  // Occupies the wire with so many bytes. Waits until the last one has left,
  // and returns when it arrives.
  absl::Time Send(size_t bytes);

 private:
  Mutex mutex_;
  LinkSpeed speed_ ABSL_GUARDED_BY(mutex_);
  absl::Time free_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

// Listens from its construction on. Checks that the system lets it. Addresses
// are "host:port" with a numeric IPv4 host.
class Relay {
 public:
  // Listens in the network namespace of the thread that makes it, where port 0
  // is a free one. The callee is in the namespace of the file `callee_netns`;
  // "": in the same.
  Relay(const std::string& listens_on, const std::string& callee,
        const LinkSpeed& speed, const std::string& callee_netns = "");
  // Breaks all connections.
  ~Relay();

  // Where it listens.
  const std::string& address() const { return address_; }
  void set_speed(const LinkSpeed& speed);

 private:
  void Accept(const std::string& callee_netns);

  const std::string callee_;
  const Listener listener_;
  const std::string address_;
  Wire there_;
  Wire back_;
  Mutex mutex_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Both ends of each connection.
  std::vector<FileDescriptor> ends_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_RELAY_RELAY_H_
