// What a job's data sets have, as its workers read them.
//
// Batches come from the same sources, steps and pipeline as in training, so
// what is counted is what the model gets, in the order of the first epoch. Data
// sets are opened one after the other, and their batches are read in parts:
// memory is that of one source and its readers, of four buffers of at most 64
// MiB (or one example) each, and of the sheet. Nothing is cached.
#ifndef PACELINE_WORKER_INSPECTION_DATA_REPORT_H_
#define PACELINE_WORKER_INSPECTION_DATA_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_source/element.h"
#include "common/remote_file/remote_files.h"
#include "common/tensor/shape.h"
#include "paceline/v1/job.pb.h"
#include "worker/inspection/contact_sheet.h"
#include "worker/inspection/value_histogram.h"

namespace paceline {

// By default as many examples of a data set are counted as have this many
// values of inputs, and at most this many.
inline constexpr int64_t kReportedValues = int64_t{1} << 26;
inline constexpr int64_t kReportedExamples = 100'000;

struct ClassReport {
  // Empty: the source knows none.
  std::string name;
  int64_t examples = 0;
};

// An input or an output of the model, and the array that is for it.
struct ArrayReport {
  std::string name;
  // See ArraySpec.
  std::string origin;
  ElementType stored_type = ElementType::kUint8;
  Shape stored_shape;
  // After the steps, as the model gets it; () of int32 for class ids.
  DataType type = DataType::kFloat32;
  Shape shape;
  // Of labels, by id; empty if they are of no classes.
  std::vector<ClassReport> classes;
  // The examples that `classes` counts: all, if the source knows them.
  int64_t class_examples = 0;
  // Empty if there are classes.
  ValueHistogram values;
};

struct SetReport {
  // "data.train".
  std::string name;
  int64_t examples = 0;
  // Examples in a step, over all replicas that take it together.
  int64_t step_size = 0;
  int64_t steps_per_epoch = 0;
  // Of training: an epoch may be a part of a pass, or several passes.
  int64_t examples_per_epoch = 0;
  int64_t examples_per_pass = 0;
  // The examples from the start of the first epoch whose values are counted.
  int64_t counted = 0;
  // Of `on_error: skip`: examples that could not be read.
  int64_t skipped = 0;
  std::vector<ArrayReport> inputs;
  std::vector<ArrayReport> labels;
  // By the outputs whose examples have weights.
  std::vector<ArrayReport> weights;
};

struct DataReport {
  std::string job;
  std::vector<SetReport> sets;
  // The images of the first training step, if they were wanted, and the input
  // that they are for.
  std::optional<ContactSheet> sheet;
  std::string sheet_input;
};

struct DataReportRequest {
  // See DataReportOptions.
  int64_t examples = 0;
  bool wants_sheet = false;
  // The most threads that read at once.
  int readers = 1;
};

// InvalidArgument if the data does not fit the model, or a sheet is wanted and
// no input is an image; other errors name the data set, and the file. Blocks.
absl::StatusOr<DataReport> MakeDataReport(const v1::Job& job,
                                          const DataReportRequest& request,
                                          const RemoteFiles& files);

}  // namespace paceline

#endif  // PACELINE_WORKER_INSPECTION_DATA_REPORT_H_
