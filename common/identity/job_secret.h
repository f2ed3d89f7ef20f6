// The secret that only the tasks of a job know.
//
// The leader of a local cluster draws one and gives it to its tasks through
// pipes; with TF_CONFIG the user gives the same secret to each task. It never
// travels over the network: tasks prove that they know it by message
// authentication codes over challenges. A service's secret is of the same kind.
#ifndef PACELINE_COMMON_IDENTITY_JOB_SECRET_H_
#define PACELINE_COMMON_IDENTITY_JOB_SECRET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// A value; immutable.
class JobSecret {
 public:
  // From a text that a user gives; ignores white space around it.
  // InvalidArgument, without the text, if it is too short or too long. `owner`
  // is for errors.
  static absl::StatusOr<JobSecret> FromText(absl::string_view text,
                                            absl::string_view owner = "job");
  // From a file with such a text. InvalidArgument names the file.
  static absl::StatusOr<JobSecret> FromFile(const std::string& path,
                                            absl::string_view owner = "job");
  // A new secret of 256 random bits.
  static JobSecret Draw();

  // A text for FromText.
  const std::string& text() const { return text_; }

  // The proof of a call (proto/paceline/v1/call.proto).
  std::string ProveCall(absl::string_view challenge,
                        absl::string_view header) const;
  // The proof that `side` of a connection between workers sent what
  // `transcript` has (worker/collective/handshake.h).
  std::string ProveRing(absl::string_view side,
                        absl::string_view transcript) const;

 private:
  explicit JobSecret(std::string text);

  std::string text_;
  // A separate key for each purpose, so that a code for one proves nothing for
  // the other.
  std::string call_key_;
  std::string ring_key_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_JOB_SECRET_H_
