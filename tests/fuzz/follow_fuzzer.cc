// What somebody who follows a job on a terminal gets from its coordinator: its
// progress, and the text of its log.
#include <glog/logging.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "coordinator/cli/service/job_screen.h"
#include "paceline/v1/service.pb.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  std::ostringstream out;
  {
    JobScreen screen(out);
    for (int i = 0; i < 4 && !input.is_empty(); ++i) {
      v1::JobProgress progress;
      if (progress.ParseFromString(input.Text())) screen.SetProgress(progress);
      screen.Show(input.Text());
      if (input.Below(8) == 0) screen.ForgetProgress();
    }
    screen.Show(input.rest());
  }
  // Only what moves a bar, tabs, and colours.
  const std::string written = out.str();
  absl::string_view rest = written;
  while (!rest.empty()) {
    const char first = rest[0];
    rest.remove_prefix(1);
    if (first == '\x1b') {
      CHECK(absl::ConsumePrefix(&rest, "["));
      rest.remove_prefix(std::min(rest.find('m'), rest.size()));
      CHECK(absl::ConsumePrefix(&rest, "m"));
    } else {
      CHECK(!absl::ascii_iscntrl(first) || first == '\n' || first == '\r' ||
            first == '\b' || first == '\t')
          << static_cast<int>(first);
    }
  }
}

}  // namespace paceline
