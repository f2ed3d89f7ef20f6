// Reports of how far workers are with their leases.
#include <glog/logging.h>

#include <utility>
#include <vector>

#include "common/session/machine/lease_report.h"
#include "common/session/machine/lease_table.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_session.h"

namespace paceline {
namespace {

constexpr int64_t kExamples = 1000;

void Check(const LeaseTable& table) {
  const absl::Status status = table.CheckInvariants();
  CHECK(status.ok()) << status;
  const PassTotals totals = table.Totals();
  CHECK(0 <= totals.examples && totals.examples <= kExamples)
      << totals.examples;
  CHECK(0 <= totals.skipped_examples &&
        totals.skipped_examples <= totals.examples)
      << totals.skipped_examples;
  CHECK(0 <= totals.steps && 0 <= table.OpenSteps()) << totals.steps;
  CHECK_LE(table.CommonTotals().steps, totals.steps);
}

}  // namespace

void Fuzz(FuzzInput input) {
  LeaseTable::Options options;
  options.batch_size = 1 + input.Below(20);
  options.batches_at_once = 1 + input.Below(4);
  options.workers_per_lease = input.Below(2) == 0 ? 1 : 2;
  options.finds_common_steps = true;
  const std::vector<LoggedMetric> metrics = FuzzMetrics();
  options.state_size = StateSize(metrics);
  options.reported_size = ReportedSize(metrics);
  const ExampleRange all = {0, kExamples};
  LeaseTable table(options, {&all, 1}, PassTotals());
  while (!input.is_empty()) {
    const TaskId worker = {TaskType::kWorker, static_cast<int>(input.Below(2))};
    switch (input.Below(5)) {
      case 0:
        table.Grant(worker, 2, 1 + static_cast<int64_t>(input.Byte()),
                    /*learning_rate=*/0.5);
        break;
      case 1:
        table.ReturnWhole(worker);
        break;
      case 2: {
        std::vector<LeaseReport> records;
        for (uint32_t i = input.Below(3); i > 0; --i) {
          auto record = ReadLeaseReport(FuzzReport(input), metrics);
          if (record.ok()) records.push_back(*std::move(record));
        }
        table.ReturnRest(worker, records).IgnoreError();
        break;
      }
      default: {
        const auto report = ReadLeaseReport(FuzzReport(input), metrics);
        if (report.ok()) table.Report(worker, *report).IgnoreError();
      }
    }
    Check(table);
  }
}

}  // namespace paceline
