// Ctrl-C and SIGTERM as something to ask for.
#ifndef PACELINE_COMMON_PROCESS_INTERRUPT_H_
#define PACELINE_COMMON_PROCESS_INTERRUPT_H_

#include <memory>

#include "absl/status/statusor.h"

namespace paceline {

// Takes SIGINT and SIGTERM over for this process, and lets it wait for
// children. Make it first thing in main: threads inherit the mask, and later
// signals wait to be asked for.
class Interrupt {
 public:
  static absl::StatusOr<std::unique_ptr<Interrupt>> Watch();
  ~Interrupt();

  // Whether a signal has come since the last call. Does not block.
  bool Taken();

 private:
  explicit Interrupt(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_PROCESS_INTERRUPT_H_
