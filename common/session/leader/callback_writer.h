// Carries out what callbacks ask of the leader.
#ifndef PACELINE_COMMON_SESSION_LEADER_CALLBACK_WRITER_H_
#define PACELINE_COMMON_SESSION_LEADER_CALLBACK_WRITER_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/callback/callback.h"

namespace paceline {

// Not thread-safe. Blocks on the disk.
class CallbackWriter {
 public:
  // Files lie below `output_dir`. `progress` is the stream of the progress bar,
  // which must outlive the writer; null: messages are not shown.
  CallbackWriter(std::string output_dir, std::ostream* progress)
      : output_dir_(std::move(output_dir)), progress_(progress) {}

  // Errors name the file.
  absl::Status Serve(const CallbackOutput& output);

  // See CallbackContext.
  int64_t SizeOf(const std::string& path) const;

 private:
  absl::Status CarryOut(const ShowMessage& message);
  absl::Status CarryOut(const ShowWarning& warning);
  absl::Status CarryOut(const WriteToFile& write);

  const std::string output_dir_;
  std::ostream* const progress_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_CALLBACK_WRITER_H_
