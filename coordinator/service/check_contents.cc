#include "coordinator/service/check_contents.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"

namespace paceline {

absl::Status CheckContents(FileStore& store, const JobFiles& files) {
  for (const v1::JobFile& file : files) {
    ASSIGN_OR_RETURN(const v1::FileProgress found, store.Find(file.sha256()));
    if (!found.is_complete()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the coordinator does not have the content of \"",
                       PeerText(file.path()), "\""));
    }
    if (found.received_bytes() != file.size_bytes()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "\"", PeerText(file.path()), "\": ", file.size_bytes(),
          " bytes; the content with its SHA-256 has ", found.received_bytes()));
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
