// How fast a worker's thread reads the examples of a data source.
//
//   source_benchmark '{csv: {file: /d.csv, labels: y}}'
//
// Prints seconds and examples as JSON. Of three passes over all examples, as
// float32, the fastest counts, in their order and in one that changes by
// chance.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "common/config/path.h"
#include "common/config/yaml_reader.h"
#include "common/data_source/convert.h"
#include "common/data_source/sources.h"
#include "common/job/job_fields.h"
#include "common/limits.h"
#include "common/tensor/shape.h"
#include "glog/logging.h"
#include "worker/data/epoch_order.h"

namespace paceline {
namespace {

// Of CPU, since the process began.
double Seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double SecondsOfPass(const DataSource& source, bool shuffle, int64_t epoch) {
  OrderOptions options;
  options.count = source.example_count();
  options.shuffle = shuffle;
  EpochOrder order(options);
  const auto reader = source.MakeReader();
  CHECK(reader.ok()) << reader.status();
  std::vector<float> row(NumElements(source.spec().features[0].shape));
  const double start = Seconds();
  for (int64_t i = 0; i < options.count; ++i) {
    const auto example = (*reader)->Read(order.ExampleAt(epoch, i));
    CHECK(example.ok()) << example.status();
    ConvertScaled<float>((*example)->features[0], 1, row.data());
  }
  return Seconds() - start;
}

double FastestPass(const DataSource& source, bool shuffle) {
  double fastest = SecondsOfPass(source, shuffle, 0);
  for (const int64_t epoch : {1, 2}) {
    fastest = std::min(fastest, SecondsOfPass(source, shuffle, epoch));
  }
  return fastest;
}

void Run(const std::string& text) {
  const auto value = ReadYaml(text, "DATASET", limits::kMaxJobBytes);
  CHECK(value.ok()) << value.status();
  const auto dataset =
      FieldsOf(static_cast<const v1::Dataset*>(nullptr)).Read(*value, Path());
  CHECK(dataset.ok()) << dataset.status();
  const double start = Seconds();
  const auto source = OpenDataSource(*dataset);
  const double open_seconds = Seconds() - start;
  CHECK(source.ok()) << source.status();
  std::cout << absl::StreamFormat(
      "{\"examples\": %d, \"open_seconds\": %g, \"pass_seconds\": %g, "
      "\"shuffled_seconds\": %g}\n",
      (*source)->example_count(), open_seconds, FastestPass(**source, false),
      FastestPass(**source, true));
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  google::InitGoogleLogging(argv[0]);
  CHECK_EQ(argc, 2) << "source_benchmark DATASET";
  paceline::Run(argv[1]);
}
