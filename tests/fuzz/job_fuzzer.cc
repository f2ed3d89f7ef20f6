// A job file.
#include "common/job/job_reader.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  JobReaderOptions options;
  options.check_files = false;
  ReadJob(input.rest(), "/jobs/job.yaml", {}, options).IgnoreError();
}

}  // namespace paceline
