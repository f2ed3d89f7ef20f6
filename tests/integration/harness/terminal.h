// A pseudo-terminal, on which programs under test write.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_TERMINAL_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_TERMINAL_H_

#include <atomic>
#include <string>
#include <thread>

#include "common/base/file_descriptor.h"
#include "common/base/mutex.h"

namespace paceline {

// Reads all that is written, as a terminal does. Thread-safe.
class Terminal {
 public:
  Terminal();
  // All programs on it must have ended.
  ~Terminal();

  // For ProcessOptions::terminal.
  const std::string& path() const { return path_; }
  // What was written so far.
  std::string written() const;

 private:
  void Read();

  FileDescriptor ours_;
  std::string path_;
  // Keeps the terminal open between programs.
  FileDescriptor theirs_;
  mutable Mutex mutex_;
  std::string written_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> is_closed_ = false;
  std::thread reader_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_TERMINAL_H_
