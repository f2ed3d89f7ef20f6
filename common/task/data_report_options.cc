#include "common/task/data_report_options.h"

#include <limits>

#include "CLI/CLI.hpp"

namespace paceline {

void DataReportOptions::AddTo(CLI::App& verb) {
  verb.add_option("JOB", job_path, "The job, YAML or JSON.")->required();
  verb.add_option("--set", overrides,
                  "path.to.field=value: changes a field of the job.");
  verb.add_option("--examples", examples,
                  "Examples of each data set, from the start of its first "
                  "epoch, whose values and labels are counted; default as many "
                  "as have 64 Mi values, at most 100000.")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()));
  verb.add_option("--png", png,
                  "A file, which ends in .png, for the images of the first "
                  "training step as the model gets them: after all steps, in "
                  "the order of the first epoch. It is replaced if it is "
                  "there.");
  verb.add_option("-o", format, "What is printed: text or json.")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  data_access.AddTo(verb);
}

}  // namespace paceline
