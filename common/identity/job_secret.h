// What the tasks of a job know and nobody else does.
//
// The leader of a local cluster draws one and hands it to its tasks through
// pipes; under TF_CONFIG the user gives each task the same. It never travels:
// tasks prove to each other that they know it, by codes over challenges.
#ifndef PACELINE_COMMON_IDENTITY_JOB_SECRET_H_
#define PACELINE_COMMON_IDENTITY_JOB_SECRET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// A value; immutable.
class JobSecret {
 public:
  // Of a text that a user gives; white space around it does not count.
  // InvalidArgument, without the text, if it is too short or too long.
  static absl::StatusOr<JobSecret> FromText(absl::string_view text);
  // Of a file with such a text. InvalidArgument names the file.
  static absl::StatusOr<JobSecret> FromFile(const std::string& path);
  // A new one, of 256 random bits.
  static JobSecret Draw();

  // What FromText takes.
  const std::string& text() const { return text_; }

  // Proves a call (proto/paceline/v1/call.proto).
  std::string ProveCall(absl::string_view challenge,
                        absl::string_view header) const;
  // Proves that `side` of a connection between workers said what `transcript`
  // has (worker/collective/handshake.h).
  std::string ProveRing(absl::string_view side,
                        absl::string_view transcript) const;

 private:
  explicit JobSecret(std::string text);

  std::string text_;
  // Each for one purpose, so that no code of one proves anything for the other.
  std::string call_key_;
  std::string ring_key_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_JOB_SECRET_H_
