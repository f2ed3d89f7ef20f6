// A link between two machines, on one machine: carries TCP connections to an
// address, no faster than a rate and later by a latency.
//
// Each direction of a link is one wire, which all its connections share. What
// arrives while the wire is busy waits in the sockets of the sender, as it
// would in a switch.
#ifndef PACELINE_TESTS_RELAY_RELAY_H_
#define PACELINE_TESTS_RELAY_RELAY_H_

#include <atomic>
#include <cstddef>
#include <limits>
#include <list>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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

// Of the relay's command line. InvalidArgument names the argument, its value
// and what is expected.
absl::StatusOr<LinkSpeed> ReadLinkSpeed(absl::string_view megabits_per_second,
                                        absl::string_view latency_ms);

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
// are "host:port" with a numeric IPv4 host. A caller whose callee does not
// answer within 2 s sees its connection end. A connection that has ended leaves
// nothing behind.
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
  struct Connection {
    FileDescriptor caller;
    FileDescriptor callee;
    std::thread there;
    std::thread back;
    // Directions that have not ended.
    std::atomic<int> open = 2;
  };

  void Accept(const std::string& callee_netns);
  void Start(FileDescriptor caller, FileDescriptor callee)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveThoseEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string callee_;
  const Listener listener_;
  const std::string address_;
  Wire there_;
  Wire back_;
  Mutex mutex_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::list<Connection> connections_ ABSL_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_RELAY_RELAY_H_
