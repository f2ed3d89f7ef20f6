// Carries out what callbacks ask of the leader.
#ifndef PACELINE_COMMON_SESSION_LEADER_CALLBACK_WRITER_H_
#define PACELINE_COMMON_SESSION_LEADER_CALLBACK_WRITER_H_

#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/callback/callback.h"
#include "common/session/leader/event_files.h"

namespace paceline {

// Not thread-safe. Blocks on the disk.
class CallbackWriter {
 public:
  // Files lie below `output_dir`. `progress` is the stream of the progress bar,
  // which must outlive the writer; null: messages are not shown. `model_json`:
  // the job's model, as Keras' to_json gives it.
  CallbackWriter(std::string output_dir, std::ostream* progress,
                 std::function<absl::StatusOr<std::string>()> model_json)
      : output_dir_(std::move(output_dir)),
        progress_(progress),
        model_json_(std::move(model_json)) {}

  // Errors name the file.
  absl::Status Serve(const CallbackOutput& output);

 private:
  absl::Status CarryOut(const ShowMessage& message);
  absl::Status CarryOut(const ShowWarning& warning);
  absl::Status CarryOut(const WriteToFile& write);
  absl::Status CarryOut(const WriteScalars& write);
  absl::Status CarryOut(const WriteModelGraph& write);
  std::string PathOf(const std::string& path) const;

  const std::string output_dir_;
  std::ostream* const progress_;
  const std::function<absl::StatusOr<std::string>()> model_json_;
  EventFiles event_files_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_CALLBACK_WRITER_H_
