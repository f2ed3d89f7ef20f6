// Turns Ctrl-C and SIGTERM into a flag that can be polled.
#ifndef PACELINE_COMMON_PROCESS_INTERRUPT_H_
#define PACELINE_COMMON_PROCESS_INTERRUPT_H_

#include <memory>

#include "absl/status/statusor.h"

namespace paceline {

// Blocks SIGINT and SIGTERM for this process, and makes it possible to wait for
// children. Create it first in main: threads inherit the signal mask, and
// signals then stay pending until Taken. Once it is destroyed by the same
// thread, signals end the process again.
class Interrupt {
 public:
  static absl::StatusOr<std::unique_ptr<Interrupt>> Watch();
  ~Interrupt();

  // Whether a signal has arrived since the last call. Does not block.
  bool Taken();

 private:
  explicit Interrupt(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_INTERRUPT_H_
