// The checks of absl::Mutex.
#ifndef PACELINE_COMMON_PROCESS_LOCK_CHECKS_H_
#define PACELINE_COMMON_PROCESS_LOCK_CHECKS_H_

namespace paceline {

// Turns off the deadlock detection of absl::Mutex in this process. It is meant
// for debugging, but Debian builds Abseil with it, and gRPC locks such mutexes
// many times for each call: it keeps a graph of all locks, which grows with
// the connections.
void TurnOffDeadlockDetection();

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_LOCK_CHECKS_H_
