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
#include "common/session/leader/command_runner.h"
#include "common/session/leader/event_files.h"
#include "common/session/leader/http_posts.h"
#include "common/session/leader/trace_files.h"

namespace paceline {

// Not thread-safe. Blocks on the disk.
class CallbackWriter {
 public:
  // Files lie below `output_dir`. `progress` is the stream of the progress bar,
  // which must outlive the writer; null: messages are not shown. `model_json`:
  // the job's model, as Keras' to_json gives it. `event_files`, `commands` and
  // `posts` get the points of curves, the programs and the requests.
  CallbackWriter(std::string output_dir, std::ostream* progress,
                 std::function<absl::StatusOr<std::string>()> model_json,
                 EventFiles& event_files, CommandRunner& commands,
                 HttpPosts& posts)
      : output_dir_(std::move(output_dir)),
        progress_(progress),
        model_json_(std::move(model_json)),
        event_files_(event_files),
        commands_(commands),
        posts_(posts) {}

  // Errors name the file.
  absl::Status Serve(const CallbackOutput& output);

 private:
  absl::Status CarryOut(const ShowMessage& message);
  absl::Status CarryOut(const ShowWarning& warning);
  absl::Status CarryOut(const WriteToFile& write);
  absl::Status CarryOut(const WriteScalars& write);
  absl::Status CarryOut(const WriteModelGraph& write);
  absl::Status CarryOut(const WriteImages& write);
  absl::Status CarryOut(const WriteTrace& write);
  absl::Status CarryOut(const RunCommand& run);
  absl::Status CarryOut(const PostLogs& post);
  std::string PathOf(const std::string& path) const;

  const std::string output_dir_;
  std::ostream* const progress_;
  const std::function<absl::StatusOr<std::string>()> model_json_;
  EventFiles& event_files_;
  TraceFiles trace_files_;
  CommandRunner& commands_;
  HttpPosts& posts_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_SESSION_LEADER_CALLBACK_WRITER_H_
