// A source whose examples are tf.train.Examples in files of TFRecords.
#ifndef PACELINE_COMMON_DATA_SOURCE_EXAMPLE_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_EXAMPLE_SOURCE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/data_source/data_source.h"
#include "common/data_source/example_array.h"
#include "common/tfrecord/tfrecord_file.h"

namespace paceline {

// Reads the Examples of the files, one file after the other, in any order, as
// they are needed. The files have at least one record together.
std::unique_ptr<const DataSource> MakeExampleSource(
    std::vector<TfrecordFile> files, const ByArray<ExampleArray>& arrays);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_EXAMPLE_SOURCE_H_
